// Streams all weights into one file, in the order of their places: threads
// evaluate and pack chunks of rows, each into one small buffer of its own, and
// write them where they belong; the checksum is taken in file order while the
// bytes are warm. Memory beyond the buffers is the mapped checkpoint's, whose
// pages are given back as soon as they have been read.

#ifndef QUIRE_CODEGEN_WEIGHTS_WRITEWEIGHTS_H
#define QUIRE_CODEGEN_WEIGHTS_WRITEWEIGHTS_H

#include "absl/status/statusor.h"
#include "codegen/weights/Evaluate.h"
#include "codegen/weights/Placement.h"

#include <functional>
#include <string>

namespace quire {

/// A place in the weight file and what belongs there.
struct WeightJob {
  std::string name; // for messages
  WeightExpression expression;
  int64_t offset;
  int64_t bytes;
};

/// Reads every slot's expressions: one job for each matrix of a stack, one for
/// any other slot. Diagnostics name the slot.
mlir::FailureOr<std::vector<WeightJob>>
planWeights(mlir::ModuleOp module, const WeightPlacement &placement,
            const Checkpoint &checkpoint);

struct WeightWriting {
  int threads = 2;
  std::function<void(int64_t done, int64_t all)> progress; // may be empty
  std::function<bool()> cancelled;                         // may be empty
};

struct WrittenWeights {
  int64_t bytes;
  uint64_t xxh3;
};

/// Writes the file at `path`, `fileBytes` long. Jobs are in ascending order;
/// what lies between them is zeros. A failure leaves a partial file.
absl::StatusOr<WrittenWeights> writeWeights(const std::string &path,
                                            std::vector<WeightJob> jobs,
                                            int64_t fileBytes,
                                            const WeightWriting &options);

} // namespace quire

#endif
