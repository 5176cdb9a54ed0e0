// The fields of config.json that speak of mixtures of experts: which layers
// have them and how they are chosen, per family. Contradictions are refused by
// the names of the fields.

#ifndef QUIRE_FRONTENDS_HUGGINGFACE_EXPERTFIELDS_H
#define QUIRE_FRONTENDS_HUGGINGFACE_EXPERTFIELDS_H

#include "frontends/huggingface/Families.h"
#include "frontends/huggingface/Reader.h"

namespace quire::huggingface {

/// Whether a family with this rule reads the field, or knows it as one that
/// does not change the numbers.
bool isExpertField(ExpertRule rule, std::string_view name);

/// Fills model.experts and which of model.layers have them, and takes
/// model.intermediate for the layers without.
void readExperts(Reader &reader, ExpertRule rule, ModelConfig &model);

} // namespace quire::huggingface

#endif
