#include "runtime/exec/Executor.h"

#include "absl/strings/str_cat.h"
#include "runtime/engine/StatusMacros.h"

namespace quire {

absl::StatusOr<std::unique_ptr<Executor>>
Executor::create(const ExecutorConfig &config, const BlockPool &pool,
                 WorkerPoolOptions workers) {
  if (!config.step || config.maxRows <= 0 || config.maxLogitRows <= 0 ||
      config.vocabulary <= 0) {
    return absl::InvalidArgumentError(
        "the engine has no code or no room for rows and logits");
  }
  std::unique_ptr<Executor> executor(new Executor);
  executor->config = config;
  QUIRE_ASSIGN_OR_RETURN(
      executor->arena,
      AnonymousMemory::allocate(config.arenaBytes, "the activation arena"));
  QUIRE_ASSIGN_OR_RETURN(
      executor->logitBuffer,
      AnonymousMemory::allocate(config.maxLogitRows * config.vocabulary *
                                    int64_t{sizeof(float)},
                                "the logits"));
  // Every group counts its pages from the arena's start.
  executor->caches.assign(pool.groups().size(), pool.base());
  workers.scratchBytes = config.scratchBytes;
  QUIRE_ASSIGN_OR_RETURN(executor->team, WorkerPool::create(workers));
  executor->step.weights = config.weights;
  executor->step.arena = executor->arena.data();
  executor->step.caches = executor->caches.data();
  executor->step.logits =
      reinterpret_cast<float *>(executor->logitBuffer.data());
  return executor;
}

absl::Status Executor::run(Batch &batch) {
  if (batch.rows() == 0 || batch.rows() > config.maxRows ||
      batch.logitRows() > config.maxLogitRows) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a step of ", batch.rows(), " rows and ", batch.logitRows(),
        " rows of logits does not fit the engine, which was compiled for 1 to ",
        config.maxRows, " rows and ", config.maxLogitRows, " of logits"));
  }
  step.batch = &batch.view();
  team->run(config.step, &step);
  return absl::OkStatus();
}

std::span<const float> Executor::logits(int64_t row) const {
  return {step.logits + row * config.vocabulary,
          static_cast<size_t>(config.vocabulary)};
}

void Executor::addTo(Ledger &ledger) const {
  ledger.add(
      {"executor", "arena", "the plan's activation arena", arena.bytes()});
  ledger.add({"executor", "logits",
              absl::StrCat(config.maxLogitRows, " rows x ", config.vocabulary,
                           " vocabulary x 4 bytes"),
              logitBuffer.bytes()});
  team->addTo(ledger);
}

} // namespace quire
