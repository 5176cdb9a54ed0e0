// What GGUF metadata says of multi-head latent attention (`deepseek2`).

#ifndef QUIRE_FRONTENDS_GGUF_LATENTFIELDS_H
#define QUIRE_FRONTENDS_GGUF_LATENTFIELDS_H

#include "frontends/formats/Checkpoint.h"
#include "frontends/gguf/Reader.h"
#include "models/ModelConfig.h"

namespace quire::gguf {

bool isLatentField(std::string_view name);

/// Fills `model.latent`, the head size and the key/value heads; `model.heads`
/// is known.
void readLatent(Reader &reader, const Checkpoint &checkpoint,
                ModelConfig &model);

/// Fills YaRN's magnitudes in `rope` and the factor on scores.
void readLatentScales(Reader &reader, RopeConfig &rope, ModelConfig &model);

} // namespace quire::gguf

#endif
