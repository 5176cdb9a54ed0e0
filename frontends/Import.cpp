#include "frontends/Import.h"

#include "frontends/formats/Json.h"
#include "frontends/gguf/Config.h"
#include "frontends/huggingface/Config.h"
#include "models/DecoderBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nlohmann/json.hpp"

#include <algorithm>

using namespace mlir;

namespace quire {

/// The most positions the rope scaling can reach: some extend what
/// max_position_embeddings says by their factor.
static int64_t reachOf(const ModelConfig &config) {
  int64_t reach = config.maxContext;
  for (const RopeConfig &rope : config.ropes) {
    double scaled = 0;
    if (rope.kind == RopeKind::Dynamic) {
      scaled = 1 << 24; // defined at every position
    } else if (rope.kind == RopeKind::Linear || rope.kind == RopeKind::Yarn) {
      scaled = double(rope.originalContext) * rope.factor;
    }
    reach = std::max(reach, int64_t(std::min(scaled, 1e9)));
  }
  return reach;
}

/// Experts may be stored one by one or stacked; the first layer that has them
/// tells.
static void chooseExpertSpelling(const Checkpoint &checkpoint,
                                 const ModelConfig &config,
                                 WeightNames &names) {
  WeightNames other = names;
  if (checkpoint.kind() == CheckpointKind::Gguf) {
    useSeparateGgufExperts(other);
  } else {
    useStackedExperts(config, other);
  }
  auto first = std::ranges::find(config.layers, true, &LayerConfig::experts);
  if (checkpoint.find(
          other.expertDown.inLayer(first - config.layers.begin()))) {
    names = std::move(other);
  }
}

static FailureOr<ImportedModel> import(Location loc,
                                       absl::StatusOr<ModelConfig> config,
                                       const Checkpoint *checkpoint,
                                       int64_t maxContext) {
  if (!config.ok()) {
    return emitError(loc) << std::string(config.status().message());
  }
  if (!(config->normEpsilon >= 0) || config->normEpsilon > 1) {
    return emitError(loc) << "the norms' epsilon is " << config->normEpsilon
                          << "; it must lie between 0 and 1";
  }
  if (config->blockFp8 && checkpoint != nullptr) {
    return emitError(loc)
           << "the weights are FP8 in blocks ('quantization_config' of "
              "config.json), whose scales are not read yet; convert the "
              "checkpoint to bf16, or compile its config.json with "
              "--no-weights";
  }
  MLIRContext *context = loc.getContext();
  context->loadDialect<lm::LmDialect, func::FuncDialect>();
  if (maxContext == 0) {
    maxContext = config->maxContext;
  }
  int64_t reach = reachOf(*config);
  if (maxContext > reach) {
    return emitError(loc) << "--max-context " << maxContext
                          << " is more than the " << reach
                          << " positions the model was made for";
  }
  bool gguf =
      checkpoint != nullptr && checkpoint->kind() == CheckpointKind::Gguf;
  WeightNames names =
      gguf ? ggufWeightNames(*config) : huggingFaceWeightNames(*config);
  if (checkpoint != nullptr && config->hasExpertLayers()) {
    chooseExpertSpelling(*checkpoint, *config, names);
  }
  DecoderSource source{
      .config = *config, .names = std::move(names), .checkpoint = checkpoint};
  OwningOpRef<ModuleOp> module = buildDecoder(loc, source, maxContext);
  if (!module) {
    return failure();
  }
  config->maxContext = maxContext;
  return ImportedModel{*std::move(config), std::move(module)};
}

static Location locationOf(MLIRContext &context, const std::string &path) {
  return NameLoc::get(StringAttr::get(&context, path));
}

FailureOr<ImportedModel> importCheckpoint(MLIRContext &context,
                                          const Checkpoint &checkpoint,
                                          int64_t maxContext) {
  auto config = checkpoint.kind() == CheckpointKind::Gguf
                    ? readGgufConfig(checkpoint)
                    : readHuggingFaceConfig(checkpoint.config());
  return import(locationOf(context, checkpoint.path()), std::move(config),
                &checkpoint, maxContext);
}

FailureOr<ImportedModel> importConfig(MLIRContext &context,
                                      const std::string &path,
                                      int64_t maxContext) {
  Location loc = locationOf(context, path);
  auto json = readJson(path);
  if (!json.ok()) {
    return emitError(loc) << std::string(json.status().message());
  }
  return import(loc, readHuggingFaceConfig(*json), nullptr, maxContext);
}

} // namespace quire
