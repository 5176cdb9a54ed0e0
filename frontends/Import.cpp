#include "frontends/Import.h"

#include "frontends/formats/Json.h"
#include "frontends/gguf/Config.h"
#include "frontends/huggingface/Config.h"
#include "models/DecoderBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nlohmann/json.hpp"

using namespace mlir;

namespace quire {

static FailureOr<ImportedModel> import(Location loc,
                                       absl::StatusOr<ModelConfig> config,
                                       const Checkpoint *checkpoint,
                                       int64_t maxContext) {
  if (!config.ok()) {
    return emitError(loc) << std::string(config.status().message());
  }
  MLIRContext *context = loc.getContext();
  context->loadDialect<lm::LmDialect, func::FuncDialect>();
  if (maxContext == 0) {
    maxContext = config->maxContext;
  }
  if (maxContext > config->maxContext) {
    return emitError(loc) << "--max-context " << maxContext
                          << " is more than the " << config->maxContext
                          << " positions the model was made for";
  }
  bool gguf =
      checkpoint != nullptr && checkpoint->kind() == CheckpointKind::Gguf;
  DecoderSource source{.config = *config,
                       .names = gguf ? ggufWeightNames(*config)
                                     : huggingFaceWeightNames(*config),
                       .checkpoint = checkpoint};
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
