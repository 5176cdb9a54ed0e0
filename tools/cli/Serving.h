// Runs requests on an engine until all are finished: tokens become text, stop
// strings end choices, Ctrl-C ends everything. One thread.

#ifndef QUIRE_TOOLS_CLI_SERVING_H
#define QUIRE_TOOLS_CLI_SERVING_H

#include "tools/cli/Answer.h"

#include <chrono>
#include <functional>
#include <map>

namespace quire::cli {

/// Where a run's time went, for --stats. Seconds since the serving began.
struct ServingTimes {
  double firstToken = 0; // until the first token of all
  double total = 0;
  int64_t promptTokens = 0;
  int64_t newTokens = 0;
};

class Serving {
public:
  using RequestNumber = size_t;
  /// Called with every piece of text as it becomes safe to show. An error
  /// ends the serving.
  using OnText = std::function<absl::Status(RequestNumber, uint32_t choice,
                                            std::string_view text)>;
  using OnToken = std::function<absl::Status(RequestNumber, uint32_t choice,
                                             const SampledToken &token)>;
  using OnFinish = std::function<absl::Status(RequestNumber, uint32_t choice,
                                              const Answer &answer)>;

  struct Callbacks {
    OnText text = {};
    OnToken token = {};
    OnFinish finish = {};
  };

  Serving(Engine &engine, const Tokenizer *tokenizer, Callbacks callbacks)
      : engine(engine), tokenizer(tokenizer), callbacks(std::move(callbacks)) {}

  /// `number` names the request in the callbacks. An error concerns this
  /// request alone; nothing was queued.
  absl::Status submit(RequestNumber number, Request request,
                      const std::vector<std::string> &stops);

  /// Until nothing is left. Cancelled after Ctrl-C; all that was handed out
  /// by then stays, and the engine is empty again.
  absl::Status run();

  ServingTimes times() const { return clock; }

private:
  struct Record {
    RequestNumber number;
    std::vector<Answer> choices;
  };

  absl::Status take(const Event &event);
  void cancelAll();

  Engine &engine;
  const Tokenizer *tokenizer;
  Callbacks callbacks;
  std::map<RequestId, Record> requests;
  ServingTimes clock;
};

} // namespace quire::cli

#endif
