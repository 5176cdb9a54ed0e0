#include "tools/cli/BenchRuns.h"

#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Interrupt.h"
#include "tools/cli/Report.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace quire::cli {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

absl::StatusOr<std::vector<Event>> stepOnce(Engine &engine) {
  if (interrupted()) {
    return interruptedError();
  }
  QUIRE_ASSIGN_OR_RETURN(std::vector<Event> events, engine.step());
  for (const Event &event : events) {
    if (event.finish && !event.finish->error.ok()) {
      return event.finish->error;
    }
  }
  return events;
}

/// Sequences that run side by side, all past their prompts.
class DecodeGroup {
public:
  explicit DecodeGroup(Engine &engine) : engine(engine) {}
  DecodeGroup(const DecodeGroup &) = delete;
  ~DecodeGroup() {
    for (RequestId id : ids) {
      engine.cancel(id).IgnoreError(); // NotFound: came to its end
    }
  }

  absl::Status start(const DecodeShape &shape) {
    for (int64_t i = 0; i < shape.batch; ++i) {
      Request request;
      request.prompt = benchTokens(std::max<int64_t>(1, shape.depth),
                                   engine.vocabulary(), i + 1);
      QUIRE_ASSIGN_OR_RETURN(RequestId id, engine.submit(std::move(request)));
      ids.push_back(id);
    }
    std::set<RequestId> started;
    while (started.size() < ids.size()) {
      QUIRE_ASSIGN_OR_RETURN(std::vector<Event> events, stepOnce(engine));
      for (const Event &event : events) {
        started.insert(event.request);
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<double> rate(int64_t steps, const StretchWatcher &watch) {
    int64_t tokens = 0;
    watch(true);
    Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < steps; ++i) {
      QUIRE_ASSIGN_OR_RETURN(std::vector<Event> events, stepOnce(engine));
      for (const Event &event : events) {
        tokens += event.token.has_value();
      }
    }
    double seconds = secondsSince(start);
    watch(false);
    return static_cast<double>(tokens) / seconds;
  }

private:
  Engine &engine;
  std::vector<RequestId> ids;
};

absl::StatusOr<double> prefillRate(Engine &engine, int64_t prompt,
                                   int64_t depth, uint64_t seed,
                                   const StretchWatcher &watch) {
  Request request;
  request.prompt = benchTokens(depth + prompt, engine.vocabulary(), seed);
  request.params.maxTokens = 1;
  int64_t before = engine.stats().promptRows;
  QUIRE_RETURN_IF_ERROR(engine.submit(std::move(request)).status());
  // Steps need not end at `depth`: the clock starts at the first that reaches
  // it, and only rows after that count.
  int64_t counted = depth + prompt;
  bool started = depth == 0;
  if (started) {
    watch(true);
  }
  Clock::time_point start = Clock::now();
  while (engine.hasWork()) {
    QUIRE_RETURN_IF_ERROR(stepOnce(engine).status());
    int64_t rows = engine.stats().promptRows - before;
    if (!started && rows >= depth && rows < depth + prompt) {
      started = true;
      counted = depth + prompt - rows;
      watch(true);
      start = Clock::now();
    }
  }
  double seconds = secondsSince(start);
  watch(false);
  return static_cast<double>(counted) / seconds;
}

} // namespace

std::vector<int64_t> benchTokens(int64_t count, int64_t vocabulary,
                                 uint64_t seed) {
  std::vector<int64_t> tokens(count);
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t &token : tokens) {
    // Knuth's MMIX generator; the high bits are the good ones.
    state = state * 6364136223846793005u + 1442695040888963407u;
    token =
        static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(vocabulary));
  }
  return tokens;
}

absl::StatusOr<std::vector<double>> prefillRates(Engine &engine, int64_t prompt,
                                                 int64_t depth, int64_t repeats,
                                                 const StretchWatcher &watch) {
  std::vector<double> rates;
  for (int64_t i = 0; i < repeats; ++i) {
    QUIRE_ASSIGN_OR_RETURN(double rate,
                           prefillRate(engine, prompt, depth, i, watch));
    rates.push_back(rate);
  }
  return rates;
}

int64_t decodePositions(const DecodeShape &shape, int64_t repeats) {
  // A batch starts over several steps, in which the early ones go on.
  int64_t ahead = 2 + shape.batch;
  int64_t segments = shape.depth > kRollingDepth ? repeats : 1;
  return std::max<int64_t>(1, shape.depth) + ahead + segments * shape.generate;
}

absl::StatusOr<std::vector<double>> decodeRates(Engine &engine,
                                                const DecodeShape &shape,
                                                int64_t repeats,
                                                const StretchWatcher &watch) {
  std::vector<double> rates;
  bool rolling = shape.depth > kRollingDepth;
  int64_t groups = rolling ? 1 : repeats;
  for (int64_t i = 0; i < groups; ++i) {
    DecodeGroup group(engine);
    QUIRE_RETURN_IF_ERROR(group.start(shape));
    for (int64_t j = 0; j < (rolling ? repeats : 1); ++j) {
      QUIRE_ASSIGN_OR_RETURN(double rate, group.rate(shape.generate, watch));
      rates.push_back(rate);
    }
  }
  return rates;
}

} // namespace quire::cli
