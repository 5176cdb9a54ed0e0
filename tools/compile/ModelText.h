// What an engine keeps of a checkpoint beside its weights: the tokenizer, the
// chat template and the defaults for generation.

#ifndef QUIRE_TOOLS_COMPILE_MODELTEXT_H
#define QUIRE_TOOLS_COMPILE_MODELTEXT_H

#include "frontends/formats/Checkpoint.h"
#include "runtime/engine/manifest.pb.h"
#include "runtime/text/Tokenizer.h"

#include "absl/status/statusor.h"

#include <memory>
#include <string>

namespace quire {

struct ModelText {
  std::unique_ptr<Tokenizer> tokenizer; // null: the checkpoint has none
  std::string chatTemplate;
  manifest::GenerationDefaults generation;
};

absl::StatusOr<ModelText> readModelText(const Checkpoint &checkpoint);

} // namespace quire

#endif
