// From a checkpoint to a verified `lm` module: reads the configuration, picks
// the weight-name table, runs the shared builder.

#ifndef QUIRE_FRONTENDS_IMPORT_H
#define QUIRE_FRONTENDS_IMPORT_H

#include "frontends/formats/Checkpoint.h"
#include "models/ModelConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace quire {

struct ImportedModel {
  ModelConfig config;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// `maxContext` 0 takes the model's own; more than that is refused unless the
/// rope scaling reaches on. Errors are reported at the checkpoint's path.
mlir::FailureOr<ImportedModel> importCheckpoint(mlir::MLIRContext &context,
                                                const Checkpoint &checkpoint,
                                                int64_t maxContext);

/// The model that a config.json describes, its weights taken to be bf16.
mlir::FailureOr<ImportedModel> importConfig(mlir::MLIRContext &context,
                                            const std::string &path,
                                            int64_t maxContext);

} // namespace quire

#endif
