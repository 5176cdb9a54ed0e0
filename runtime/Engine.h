// A model that serves requests on token ids: load, submit, step, take events,
// cancel. Text (tokenizer, stop strings) is glued on top by its users.
//
// Each step() schedules rows, runs them, samples, and commits. One thread at
// a time may call an engine; its workers are its own.

#ifndef QUIRE_RUNTIME_ENGINE_H
#define QUIRE_RUNTIME_ENGINE_H

#include "absl/status/statusor.h"
#include "runtime/engine/EngineDirectory.h"
#include "runtime/exec/Executor.h"
#include "runtime/sample/Sampler.h"
#include "runtime/sched/Scheduler.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quire {

struct EngineOptions {
  int threads = 0; // 0: one per physical core
  bool pinThreads = false;
  int64_t cacheTokens = 0;    // 0: chosen from the model and the memory
  int64_t maxSequences = 32;  // running at once
  int64_t maxBatchTokens = 0; // 0: what the engine was compiled for
  int64_t maxContext = 0;     // 0: what the engine was compiled for
  std::string isa = "";       // "": the best the CPU has
};

/// What an engine is built from: an opened directory's contents, or a test's.
struct EngineModel {
  ExecutorConfig executor;
  std::vector<CacheGroup> cacheGroups;
  int64_t maxContext = 0;
  // Prompt tokens that attend on materialised keys come in whole blocks of
  // this size; 0: none do.
  int64_t materialisedBlock = 0;
};
EngineModel engineModelOf(const EngineDirectory &directory);

struct Request {
  std::vector<int64_t> prompt; // token ids
  SamplingParams params;
  int64_t choices = 1; // samples that share the prompt's pages
};

enum class FinishReason { Stop, Length, Error };
const char *finishReasonName(FinishReason reason);

struct Usage {
  int64_t promptTokens = 0;
  int64_t completionTokens = 0; // a stop token included
  int64_t cachedTokens = 0;
};

struct Finish {
  FinishReason reason;
  absl::Status error; // for FinishReason::Error
  Usage usage;
};

/// A token, or the end of a choice. A stop token is an event of its own
/// (isStopToken), followed by the finish.
struct Event {
  RequestId request = 0;
  uint32_t choice = 0;
  std::optional<SampledToken> token = std::nullopt;
  bool isStopToken = false;
  std::optional<Finish> finish = std::nullopt;
};

struct EngineStats {
  int64_t steps = 0;
  int64_t promptRows = 0;    // recomputed rows included
  int64_t generatedRows = 0; // recomputed rows included
  int64_t sampledTokens = 0;
  int64_t preemptions = 0;
  int64_t finishedRequests = 0;
  int64_t cancelledRequests = 0;
  int64_t runningSequences = 0;
  int64_t waitingSequences = 0;
  PoolBalance cache;
};

struct ScoreOptions {
  int64_t chunk = 0; // rows a step; 0: as many as fit
  // The prompt ends here, rows from here on count as generated; -1: all is
  // prompt.
  int64_t generatedFrom = -1;
};
/// Receives the logits that follow `position`, valid during the call. An
/// error ends the scoring and is returned from it.
using LogitsCallback = std::function<absl::Status(
    int64_t position, std::span<const float> logits)>;

class Engine {
public:
  static absl::StatusOr<std::unique_ptr<Engine>>
  load(const std::string &path, const EngineOptions &options = {});
  static absl::StatusOr<std::unique_ptr<Engine>>
  create(const EngineModel &model, const EngineOptions &options);
  ~Engine();

  /// Queues a request. InvalidArgument names the field that is wrong; a prompt
  /// that can never fit is refused with the numbers. A request whose
  /// max_tokens reach past the limit ends there with "length".
  absl::StatusOr<RequestId> submit(Request request);

  /// Drops a request wherever it stands; nothing more is emitted for it.
  absl::Status cancel(RequestId request);

  /// Ends one choice with reason "stop" (a stop string was seen); the finish
  /// event comes with the next step().
  absl::Status stop(RequestId request, uint32_t choice);

  bool hasWork() const { return !requests.empty() || !events.empty(); }

  /// Runs one step and returns what came of it, in order.
  absl::StatusOr<std::vector<Event>> step();

  /// Runs given tokens and hands out every row's logits. FailedPrecondition
  /// while requests are running.
  absl::Status score(std::span<const int64_t> tokens,
                     const ScoreOptions &options,
                     const LogitsCallback &callback);

  EngineStats stats() const;
  Ledger ledger() const;
  absl::Status checkBalance() const { return pool->checkBalance(); }
  /// Longest sequence, prompt and output together.
  int64_t contextLimit() const;
  int64_t vocabulary() const { return executor->limits().vocabulary; }
  const EngineDirectory *engineDirectory() const { return directory.get(); }
  WorkerPool &workers() { return executor->workers(); }

private:
  /// The choices of one request; finished ones are null.
  struct RequestRecord {
    std::vector<std::unique_ptr<Sequence>> choices;
    int64_t unforked = 0; // choices still to be forked from the first
  };

  Engine() = default;
  absl::Status checkTokens(std::span<const int64_t> tokens) const;
  absl::Status checkFits(int64_t promptTokens) const;
  absl::Status runPlan(const SchedulePlan &plan);
  void commit(const ScheduledRows &rows, int64_t logitRow);
  void sampleChoices(Sequence &first, int64_t logitRow);
  void sampleOne(Sequence &sequence, int64_t logitRow);
  void finish(Sequence &sequence, FinishReason reason, absl::Status error = {});

  // In the order of dependence: destroyed from the last to the first.
  std::unique_ptr<EngineDirectory> directory; // null in tests
  std::unique_ptr<BlockPool> pool;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Batch> batch;
  std::map<RequestId, RequestRecord> requests;
  std::vector<Event> events;
  RequestId lastRequest = 0;
  int64_t maxContext = 0;
  int64_t maxBatchTokens = 0;
  int64_t materialisedBlock = 0;
  int64_t poolTokens = 0; // positions one sequence can have in the cache
  EngineStats counters;
};

} // namespace quire

#endif
