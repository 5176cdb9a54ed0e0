// A program of a loaded engine, ready to run: its buffers (activation arena,
// logits, scratch) and its workers. Runs one batch at a time, from one thread.
// The code and weights it points to must outlive it.

#ifndef QUIRE_RUNTIME_EXEC_EXECUTOR_H
#define QUIRE_RUNTIME_EXEC_EXECUTOR_H

#include "absl/status/statusor.h"
#include "runtime/engine/Ledger.h"
#include "runtime/engine/Memory.h"
#include "runtime/exec/Batch.h"
#include "runtime/exec/WorkerPool.h"

#include <memory>
#include <span>
#include <vector>

namespace quire {

/// What an executor needs of an engine.
struct ExecutorConfig {
  QuireStepFn step = nullptr;
  const std::byte *weights = nullptr;
  int64_t arenaBytes = 0;
  int64_t scratchBytes = 0; // per worker
  int64_t maxRows = 0;
  int64_t maxLogitRows = 0;
  int64_t vocabulary = 0;
};

class Executor {
public:
  /// `workers.scratchBytes` is taken from the config.
  static absl::StatusOr<std::unique_ptr<Executor>>
  create(const ExecutorConfig &config, const BlockPool &pool,
         WorkerPoolOptions workers);

  /// Runs one step and returns when it is finished. InvalidArgument when the
  /// batch has more rows than the engine was compiled for.
  absl::Status run(Batch &batch);

  /// Logits of the last step's i-th logit row, [vocabulary].
  std::span<const float> logits(int64_t row) const;

  const ExecutorConfig &limits() const { return config; }
  WorkerPool &workers() { return *team; }
  void addTo(Ledger &ledger) const;

private:
  Executor() = default;

  ExecutorConfig config;
  AnonymousMemory arena;
  AnonymousMemory logitBuffer;
  std::vector<std::byte *> caches; // by group
  QuireStep step{};
  std::unique_ptr<WorkerPool> team; // last: joined before buffers go
};

} // namespace quire

#endif
