#include "tools/cli/Serving.h"

#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Interrupt.h"
#include "tools/cli/Report.h"

#include <algorithm>

namespace quire::cli {

using Clock = std::chrono::steady_clock;

absl::Status Serving::submit(RequestNumber number, Request request,
                             const std::vector<std::string> &stops) {
  int64_t promptTokens = static_cast<int64_t>(request.prompt.size());
  int64_t choices = request.choices;
  QUIRE_ASSIGN_OR_RETURN(RequestId id, engine.submit(std::move(request)));
  clock.promptTokens += promptTokens;
  Record &record = requests[id];
  record.number = number;
  for (int64_t i = 0; i < choices; ++i) {
    record.choices.emplace_back(tokenizer, stops);
  }
  return absl::OkStatus();
}

absl::Status Serving::take(const Event &event) {
  Record &record = requests.at(event.request);
  Answer &answer = record.choices[event.choice];
  if (event.token && !answer.sawStop()) {
    ++clock.newTokens;
    std::string text = answer.push(*event.token, event.isStopToken);
    if (callbacks.token) {
      QUIRE_RETURN_IF_ERROR(
          callbacks.token(record.number, event.choice, *event.token));
    }
    if (callbacks.text && !text.empty()) {
      QUIRE_RETURN_IF_ERROR(callbacks.text(record.number, event.choice, text));
    }
    if (answer.sawStop()) {
      // NotFound: the choice ended with this very token.
      engine.stop(event.request, event.choice).IgnoreError();
    }
  }
  if (!event.finish) {
    return absl::OkStatus();
  }
  std::string text = answer.finish(*event.finish);
  if (callbacks.text && !text.empty()) {
    QUIRE_RETURN_IF_ERROR(callbacks.text(record.number, event.choice, text));
  }
  if (callbacks.finish) {
    QUIRE_RETURN_IF_ERROR(
        callbacks.finish(record.number, event.choice, answer));
  }
  if (std::all_of(record.choices.begin(), record.choices.end(),
                  [](const Answer &choice) { return choice.isFinished(); })) {
    requests.erase(event.request);
  }
  return absl::OkStatus();
}

void Serving::cancelAll() {
  for (const auto &[id, record] : requests) {
    // NotFound: finished in the engine, its last events not yet taken.
    engine.cancel(id).IgnoreError();
  }
  requests.clear();
}

absl::Status Serving::run() {
  Clock::time_point start = Clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  absl::Status status;
  while (status.ok() && engine.hasWork()) {
    if (interrupted()) {
      status = interruptedError();
      break;
    }
    absl::StatusOr<std::vector<Event>> events = engine.step();
    status = events.status();
    for (size_t i = 0; status.ok() && i < events->size(); ++i) {
      if (clock.newTokens == 0) {
        clock.firstToken = elapsed();
      }
      status = take((*events)[i]);
    }
  }
  clock.total = elapsed();
  cancelAll();
  return status;
}

} // namespace quire::cli
