// A model's text side alone, from whatever MODEL is: its tokenizer and chat
// template from an engine, a Hugging Face directory (weights need not be
// there) or a GGUF file (nor there). Nothing is compiled.

#ifndef QUIRE_TOOLS_CLI_TEXTOFMODEL_H
#define QUIRE_TOOLS_CLI_TEXTOFMODEL_H

#include "runtime/engine/EngineDirectory.h"
#include "tools/compile/ModelText.h"

namespace quire::cli {

absl::StatusOr<ModelText> textOfModel(const std::string &model);
absl::StatusOr<ModelText> textOfEngine(const EngineDirectory &engine);

/// The tokenizer, or an error that says what can be done without one.
absl::StatusOr<const Tokenizer *> needTokenizer(const ModelText &text);

} // namespace quire::cli

#endif
