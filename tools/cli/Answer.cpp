#include "tools/cli/Answer.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include "nlohmann/json.hpp"

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

ordered_json logprobJson(const Tokenizer *tokenizer, int32_t id,
                         float logprob) {
  return {
      {"token", pieceText(tokenizer, id)}, {"id", id}, {"logprob", logprob}};
}

} // namespace

std::string pieceText(const Tokenizer *tokenizer, int64_t id) {
  if (!tokenizer) {
    return "";
  }
  return toValidUtf8(
      tokenizer->pieceBytes(static_cast<TokenId>(id), /*first=*/false));
}

Answer::Answer(const Tokenizer *tokenizer,
               const std::vector<std::string> &stopStrings)
    : tokenizer(tokenizer), stops(stopStrings) {
  if (tokenizer) {
    // The text goes on after the prompt: its first space is a real one.
    decoder.emplace(*tokenizer,
                    DecodeOptions{.skipSpecial = true, .continues = true});
  }
}

std::string Answer::push(const SampledToken &token, bool isStopToken) {
  if (sawStop()) {
    return "";
  }
  drawn.push_back(token);
  if (!decoder || isStopToken) {
    return "";
  }
  std::string text = stops.push(decoder->push(token.token));
  shown += text;
  return text;
}

std::string Answer::finish(const Finish &finish) {
  std::string text;
  if (decoder && !sawStop()) {
    text = stops.push(decoder->finish());
    text += stops.finish();
    shown += text;
  }
  end = finish;
  return text;
}

const char *Answer::finishReason() const {
  return sawStop() ? finishReasonName(FinishReason::Stop)
                   : finishReasonName(end->reason);
}

ordered_json Answer::toJson(bool logprobs) const {
  ordered_json ids = ordered_json::array();
  for (const SampledToken &token : drawn) {
    ids.push_back(token.token);
  }
  ordered_json json = {{"text", shown},
                       {"tokens", std::move(ids)},
                       {"finish_reason", finishReason()}};
  if (!end->error.ok()) {
    json["error"] = strCat(end->error.message());
  }
  json["usage"] = {{"prompt_tokens", end->usage.promptTokens},
                   {"completion_tokens", drawn.size()},
                   {"cached_tokens", end->usage.cachedTokens}};
  if (logprobs) {
    ordered_json rows = ordered_json::array();
    for (const SampledToken &token : drawn) {
      ordered_json row = logprobJson(tokenizer, token.token, token.logprob);
      row["top"] = ordered_json::array();
      for (const TokenLogprob &other : token.top) {
        row["top"].push_back(
            logprobJson(tokenizer, other.token, other.logprob));
      }
      rows.push_back(std::move(row));
    }
    json["logprobs"] = std::move(rows);
  }
  return json;
}

} // namespace quire::cli
