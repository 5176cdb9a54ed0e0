// The metadata of a GGUF file that speaks of mixtures of experts. What an
// architecture fixes and its files do not say comes from the caller's table;
// which layers have experts, the tensors tell.

#ifndef QUIRE_FRONTENDS_GGUF_EXPERTFIELDS_H
#define QUIRE_FRONTENDS_GGUF_EXPERTFIELDS_H

#include "frontends/formats/Checkpoint.h"
#include "frontends/gguf/Reader.h"
#include "models/ModelConfig.h"

namespace quire::gguf {

/// Defaults of fields that converters leave out.
struct ExpertDefaults {
  bool normalise = false;
  bool sharedGate = false;
};

bool isExpertField(std::string_view name);

/// Fills model.experts and which of model.layers have them; nothing where the
/// file has no experts.
void readExperts(Reader &reader, const Checkpoint &checkpoint,
                 const ExpertDefaults &defaults, ModelConfig &model);

} // namespace quire::gguf

#endif
