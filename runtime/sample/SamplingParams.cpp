#include "runtime/sample/SamplingParams.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/engine/StatusMacros.h"

#include <algorithm>
#include <cmath>

namespace quire {

namespace {

/// One row per numeric field. The comparison is false for NaN.
struct Range {
  const char *field;
  double SamplingParams::*value;
  double low;
  double high;
  bool lowIncluded;
  const char *expected;
};

constexpr double kLargest = 1e6;
constexpr Range kRanges[] = {
    {"temperature", &SamplingParams::temperature, 0, kLargest, true,
     "a finite number of at least 0"},
    {"top_p", &SamplingParams::topP, 0, 1, false, "above 0 and at most 1"},
    {"min_p", &SamplingParams::minP, 0, 1, true, "between 0 and 1"},
    {"repetition_penalty", &SamplingParams::repetitionPenalty, 0, kLargest,
     false, "a finite number above 0"},
    {"presence_penalty", &SamplingParams::presencePenalty, -kLargest, kLargest,
     true, "a finite number"},
    {"frequency_penalty", &SamplingParams::frequencyPenalty, -kLargest,
     kLargest, true, "a finite number"},
};

absl::Status bad(absl::string_view field, absl::string_view expected,
                 const absl::AlphaNum &value) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, " must be ", expected, ", got ", value));
}

absl::Status checkToken(absl::string_view field, int64_t token,
                        int64_t vocabulary) {
  if (token < 0 || token >= vocabulary) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " has token ", token,
                     ", outside the vocabulary of ", vocabulary));
  }
  return absl::OkStatus();
}

} // namespace

bool SamplingParams::isStopToken(int64_t token) const {
  return std::find(stopTokens.begin(), stopTokens.end(), token) !=
         stopTokens.end();
}

absl::Status validate(const SamplingParams &params, int64_t vocabulary) {
  for (const Range &range : kRanges) {
    double value = params.*range.value;
    bool above = range.lowIncluded ? value >= range.low : value > range.low;
    if (!(above && value <= range.high)) {
      return bad(range.field, range.expected, value);
    }
  }
  if (params.topK < -1) {
    return bad("top_k", "-1 or 0 (off) or positive", params.topK);
  }
  if (params.logprobs < -1 || params.logprobs > vocabulary) {
    return bad("logprobs", "between 0 and the vocabulary's size",
               params.logprobs);
  }
  if (params.maxTokens < 1 && params.maxTokens != -1) {
    return bad("max_tokens", "at least 1", params.maxTokens);
  }
  if (params.minTokens < 0) {
    return bad("min_tokens", "at least 0", params.minTokens);
  }
  for (const LogitBias &entry : params.logitBias) {
    QUIRE_RETURN_IF_ERROR(checkToken("logit_bias", entry.token, vocabulary));
    if (!(std::abs(entry.bias) <= kLargest)) {
      return bad("logit_bias", "finite numbers", entry.bias);
    }
  }
  for (int64_t token : params.stopTokens) {
    QUIRE_RETURN_IF_ERROR(checkToken("stop_token_ids", token, vocabulary));
  }
  return absl::OkStatus();
}

} // namespace quire
