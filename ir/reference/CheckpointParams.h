// Parameters straight from a checkpoint's files, dequantised.

#ifndef QUIRE_IR_REFERENCE_CHECKPOINTPARAMS_H
#define QUIRE_IR_REFERENCE_CHECKPOINTPARAMS_H

#include "frontends/formats/Checkpoint.h"
#include "ir/reference/ParamSource.h"

namespace quire::reference {

class CheckpointParams : public ParamSource {
public:
  /// The checkpoint must outlive this.
  explicit CheckpointParams(const Checkpoint &checkpoint)
      : checkpoint(checkpoint) {}

  llvm::FailureOr<Weight> load(lm::ParamOp param, int64_t layer) override;

private:
  const Checkpoint &checkpoint;
};

} // namespace quire::reference

#endif
