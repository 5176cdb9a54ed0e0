// Which layers share one body: layers agree in kind when their structure
// (window, rope, experts) and the number formats of all their weights agree.

#ifndef QUIRE_MODELS_LAYERKINDS_H
#define QUIRE_MODELS_LAYERKINDS_H

#include "models/ModelConfig.h"

#include <cstdint>
#include <string>
#include <vector>

namespace quire {

struct LayerKind {
  // "dense", "experts"; where windows are mixed "sliding", "global", and
  // "global_experts" where MLPs are, too; "_a", "_b" by formats
  std::string name;
  LayerConfig config;
  std::vector<int64_t> layers; // ascending
};

/// `formatKeys[i]` names the number formats of layer i's weights; equal keys
/// mean equal formats. Kinds come in order of their first layer.
std::vector<LayerKind> groupLayers(const ModelConfig &config,
                                   const std::vector<std::string> &formatKeys);

} // namespace quire

#endif
