#include "models/LayerKinds.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace quire {

static bool mixesWindows(const ModelConfig &config) {
  return std::ranges::any_of(config.layers, [&](const LayerConfig &layer) {
    return layer.window != config.layers.front().window;
  });
}

std::vector<LayerKind> groupLayers(const ModelConfig &config,
                                   const std::vector<std::string> &formatKeys) {
  std::vector<LayerKind> kinds;
  std::map<std::tuple<int64_t, int64_t, std::string>, size_t> known;
  for (size_t i = 0; i < config.layers.size(); ++i) {
    const LayerConfig &layer = config.layers[i];
    auto [at, isNew] = known.try_emplace(
        {layer.window, layer.rope, formatKeys[i]}, kinds.size());
    if (isNew) {
      kinds.push_back({.name = {}, .config = layer, .layers = {}});
    }
    kinds[at->second].layers.push_back(static_cast<int64_t>(i));
  }
  // Names: by structure, with a letter where only formats tell kinds apart.
  bool mixed = mixesWindows(config);
  bool mixedMlps = config.hasDenseLayers() && config.hasExpertLayers();
  std::map<std::string, std::vector<LayerKind *>> byName;
  for (LayerKind &kind : kinds) {
    std::string mlp = kind.config.experts ? "experts" : "dense";
    std::string window = kind.config.window != 0 ? "sliding" : "global";
    kind.name = !mixed ? mlp : mixedMlps ? window + "_" + mlp : window;
    byName[kind.name].push_back(&kind);
  }
  for (auto &[name, sameName] : byName) {
    for (size_t i = 0; sameName.size() > 1 && i < sameName.size(); ++i) {
      sameName[i]->name =
          name + "_" +
          (i < 26 ? std::string(1, char('a' + i)) : std::to_string(i));
    }
  }
  return kinds;
}

} // namespace quire
