// Builds the `lm` module of any decoder the config can describe: parameters,
// one function per kind of layer, and the step. The one builder for all
// families; it reads as the diagram of a transformer.

#ifndef QUIRE_MODELS_DECODERBUILDER_H
#define QUIRE_MODELS_DECODERBUILDER_H

#include "models/ParamTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace quire {

/// `context` is the most positions the engine may reach (it decides the
/// LongRoPE table). Reports errors at `loc` and returns null.
mlir::OwningOpRef<mlir::ModuleOp>
buildDecoder(mlir::Location loc, const DecoderSource &source, int64_t context);

} // namespace quire

#endif
