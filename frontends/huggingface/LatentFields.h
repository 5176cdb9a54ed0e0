// What config.json says of multi-head latent attention, in the spellings of
// DeepSeek's models and of MiniCPM3.

#ifndef QUIRE_FRONTENDS_HUGGINGFACE_LATENTFIELDS_H
#define QUIRE_FRONTENDS_HUGGINGFACE_LATENTFIELDS_H

#include "frontends/huggingface/Families.h"
#include "frontends/huggingface/Reader.h"
#include "models/ModelConfig.h"

namespace quire::huggingface {

/// Whether families with latent attention of this rule have the field.
bool isLatentField(LatentRule rule, std::string_view name);

/// Fills `model.latent` and the head size, which is theirs; `model.heads` and
/// `model.hidden` are known. Nothing for families without latent attention.
void readLatent(Reader &reader, LatentRule rule, ModelConfig &model);

/// Fills the factor on scores once `model.ropes` is known, and MiniCPM3's
/// factors on embeddings, residuals and logits.
void readLatentScales(Reader &reader, LatentRule rule, ModelConfig &model);

} // namespace quire::huggingface

#endif
