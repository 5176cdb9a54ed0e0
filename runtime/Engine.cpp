#include "runtime/Engine.h"

#include "absl/strings/str_cat.h"
#include "runtime/engine/StatusMacros.h"

#include <algorithm>

namespace quire {

namespace {
constexpr int64_t kMaxChoices = 128;
} // namespace

const char *finishReasonName(FinishReason reason) {
  switch (reason) {
  case FinishReason::Stop:
    return "stop";
  case FinishReason::Length:
    return "length";
  case FinishReason::Error:
    return "error";
  }
  return "error";
}

int64_t Engine::contextLimit() const {
  // The last token is emitted without ever entering the cache.
  return std::min(maxContext, poolTokens + 1);
}

absl::Status Engine::checkTokens(std::span<const int64_t> tokens) const {
  if (tokens.empty()) {
    return absl::InvalidArgumentError(
        "the prompt is empty; give at least one token");
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocabulary()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the prompt's token ", i, " is ", tokens[i],
                       ", outside the vocabulary of ", vocabulary()));
    }
  }
  return absl::OkStatus();
}

absl::Status Engine::checkFits(int64_t promptTokens) const {
  if (promptTokens >= maxContext) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the prompt has ", promptTokens, " tokens, the context limit is ",
        maxContext, " with at least one for the answer; shorten the prompt"));
  }
  if (promptTokens > poolTokens) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the prompt has ", promptTokens, " tokens, the key/value cache holds ",
        poolTokens, "; shorten the prompt or raise --cache-tokens"));
  }
  return absl::OkStatus();
}

absl::StatusOr<RequestId> Engine::submit(Request request) {
  QUIRE_RETURN_IF_ERROR(checkTokens(request.prompt));
  QUIRE_RETURN_IF_ERROR(validate(request.params, vocabulary()));
  if (request.choices < 1 || request.choices > kMaxChoices) {
    return absl::InvalidArgumentError(
        absl::StrCat("choices must be between 1 and ", kMaxChoices, ", got ",
                     request.choices));
  }
  int64_t promptTokens = static_cast<int64_t>(request.prompt.size());
  QUIRE_RETURN_IF_ERROR(checkFits(promptTokens));
  int64_t limit = contextLimit();
  if (request.params.maxTokens >= 0) {
    limit =
        std::min(limit - promptTokens, request.params.maxTokens) + promptTokens;
  }
  RequestId id = ++lastRequest;
  RequestRecord &record = requests[id];
  record.unforked = request.choices - 1;
  record.choices.resize(request.choices);
  record.choices[0] = std::make_unique<Sequence>(
      *pool, id,
      std::vector<int32_t>(request.prompt.begin(), request.prompt.end()),
      std::move(request.params), limit, materialisedBlock);
  scheduler->add(*record.choices[0]);
  return id;
}

absl::Status Engine::cancel(RequestId request) {
  auto found = requests.find(request);
  if (found == requests.end()) {
    return absl::NotFoundError(
        absl::StrCat("there is no request ", request, " to cancel"));
  }
  for (std::unique_ptr<Sequence> &sequence : found->second.choices) {
    if (sequence) {
      scheduler->remove(*sequence);
    }
  }
  requests.erase(found);
  std::erase_if(events,
                [&](const Event &event) { return event.request == request; });
  ++counters.cancelledRequests;
  return absl::OkStatus();
}

absl::Status Engine::stop(RequestId request, uint32_t choice) {
  auto found = requests.find(request);
  if (found == requests.end() || choice >= found->second.choices.size() ||
      !found->second.choices[choice]) {
    return absl::NotFoundError(absl::StrCat("choice ", choice, " of request ",
                                            request, " is not running"));
  }
  finish(*found->second.choices[choice], FinishReason::Stop);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Event>> Engine::step() {
  if (!requests.empty()) {
    SchedulePlan plan = scheduler->schedule();
    counters.preemptions += plan.preempted;
    if (plan.rows.empty()) {
      return absl::InternalError(absl::StrCat(
          "nothing can run: ", scheduler->running(), " sequences running, ",
          scheduler->waiting(), " waiting"));
    }
    QUIRE_RETURN_IF_ERROR(runPlan(plan));
  }
  return std::exchange(events, {});
}

absl::Status Engine::runPlan(const SchedulePlan &plan) {
  batch->clear();
  for (const ScheduledRows &rows : plan.rows) {
    const Sequence &sequence = *rows.sequence;
    int32_t index = batch->addSequence(sequence.pages);
    for (int64_t position = rows.begin; position < rows.end; ++position) {
      QuireRole role = sequence.roleOf(position);
      ++(role == kQuirePrompt ? counters.promptRows : counters.generatedRows);
      batch->addRow(index, {.token = sequence.tokens[position],
                            .position = static_cast<int32_t>(position),
                            .context = static_cast<int32_t>(position),
                            .role = role,
                            .form = sequence.formOf(position),
                            .wantsLogits = position + 1 == sequence.length()});
    }
  }
  QUIRE_RETURN_IF_ERROR(executor->run(*batch));
  ++counters.steps;
  int64_t logitRow = 0;
  for (const ScheduledRows &rows : plan.rows) {
    bool sampled = rows.end == rows.sequence->length();
    commit(rows, sampled ? logitRow : -1);
    logitRow += sampled;
  }
  return absl::OkStatus();
}

/// The rows are in the cache now; a sequence that reached its end gets its
/// next token.
void Engine::commit(const ScheduledRows &rows, int64_t logitRow) {
  Sequence &sequence = *rows.sequence;
  sequence.computed = rows.end;
  sequence.pages.releaseBefore(rows.end);
  if (logitRow >= 0) {
    sampleChoices(sequence, logitRow);
  }
}

/// The first token of a request with several choices is drawn for each of
/// them from the same logits; they go on as sequences that share pages.
void Engine::sampleChoices(Sequence &first, int64_t logitRow) {
  RequestRecord &record = requests.at(first.request);
  std::vector<Sequence *> siblings;
  if (first.choice == 0) {
    for (; record.unforked > 0; --record.unforked) {
      uint32_t choice =
          static_cast<uint32_t>(record.choices.size() - record.unforked);
      record.choices[choice] = first.fork(choice);
      siblings.push_back(record.choices[choice].get());
    }
  }
  for (Sequence *sibling : siblings) {
    scheduler->addFork(*sibling);
  }
  sampleOne(first, logitRow);
  for (Sequence *sibling : siblings) {
    sampleOne(*sibling, logitRow);
  }
}

void Engine::sampleOne(Sequence &sequence, int64_t logitRow) {
  absl::StatusOr<SampledToken> sampled =
      sampler->sample({.logits = executor->logits(logitRow),
                       .tokens = sequence.tokens,
                       .promptLength = sequence.promptLength,
                       .choice = sequence.choice},
                      sequence.params);
  if (!sampled.ok()) {
    finish(sequence, FinishReason::Error, sampled.status());
    return;
  }
  ++counters.sampledTokens;
  int32_t token = sampled->token;
  sequence.tokens.push_back(token);
  bool isStop = sequence.params.isStopToken(token);
  events.push_back({.request = sequence.request,
                    .choice = sequence.choice,
                    .token = *std::move(sampled),
                    .isStopToken = isStop});
  if (isStop) {
    finish(sequence, FinishReason::Stop);
  } else if (sequence.length() >= sequence.lengthLimit) {
    finish(sequence, FinishReason::Length);
  }
}

/// Emits the finish and forgets the sequence, which must not be used after.
void Engine::finish(Sequence &sequence, FinishReason reason,
                    absl::Status error) {
  auto found = requests.find(sequence.request);
  auto emit = [&](uint32_t choice) {
    events.push_back({.request = sequence.request,
                      .choice = choice,
                      .finish = Finish{reason, error,
                                       Usage{sequence.promptLength,
                                             sequence.generated(), 0}}});
  };
  emit(sequence.choice);
  // Ended before its first token: choices not forked yet end with it.
  for (int64_t &unforked = found->second.unforked;
       sequence.choice == 0 && unforked > 0; --unforked) {
    emit(static_cast<uint32_t>(found->second.choices.size() - unforked));
  }
  scheduler->remove(sequence);
  std::vector<std::unique_ptr<Sequence>> &choices = found->second.choices;
  choices[sequence.choice].reset();
  bool over = std::all_of(choices.begin(), choices.end(),
                          [](const auto &choice) { return !choice; });
  if (over) {
    requests.erase(found);
    ++counters.finishedRequests;
  }
}

EngineStats Engine::stats() const {
  EngineStats result = counters;
  result.runningSequences = scheduler->running();
  result.waitingSequences = scheduler->waiting();
  result.cache = pool->balance();
  return result;
}

} // namespace quire
