#include "tools/cli/SamplingOptions.h"

#include "frontends/formats/StrCat.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Report.h"

#include "nlohmann/json.hpp"

#include <limits>

namespace quire::cli {

using nlohmann::json;

namespace {

struct NumberField {
  const char *option; // on the command line
  const char *field;  // in JSON
  double SamplingParams::*value;
  const char *help;
};

constexpr NumberField kNumbers[] = {
    {"--temperature", "temperature", &SamplingParams::temperature,
     "0 (default): always the likeliest token"},
    {"--top-p", "top_p", &SamplingParams::topP,
     "draw from the likeliest tokens of this probability together"},
    {"--min-p", "min_p", &SamplingParams::minP,
     "drop tokens below this part of the likeliest one's probability"},
    {"--repetition-penalty", "repetition_penalty",
     &SamplingParams::repetitionPenalty, "1: none"},
    {"--presence-penalty", "presence_penalty", &SamplingParams::presencePenalty,
     "0: none"},
    {"--frequency-penalty", "frequency_penalty",
     &SamplingParams::frequencyPenalty, "0: none"},
};

struct CountField {
  const char *option;
  const char *field;
  int64_t SamplingParams::*value;
  const char *help;
};

constexpr CountField kCounts[] = {
    {"-n,--new-tokens", "n", &SamplingParams::maxTokens,
     "most new tokens (default 128)"},
    {"--top-k", "top_k", &SamplingParams::topK,
     "draw from the K likeliest tokens"},
    {"--logprobs", "logprobs", &SamplingParams::logprobs,
     "report each token's log probability and the K likeliest"},
};

absl::Status wrongType(const std::string &field, const char *wanted) {
  return absl::InvalidArgumentError(strCat("'", field, "' must be ", wanted));
}

absl::Status readStops(const json &value, std::vector<std::string> &stops) {
  stops.clear();
  for (const json &stop : value.is_array() ? value : json::array({value})) {
    if (!stop.is_string()) {
      return wrongType("stop", "a text or a list of texts");
    }
    stops.push_back(stop.get<std::string>());
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<int64_t> readInteger(const std::string &field,
                                    const json &value) {
  // Numbers beyond int64 would wrap.
  bool fits = value.is_number_integer() &&
              (!value.is_number_unsigned() ||
               value.get<uint64_t>() <= uint64_t{INT64_MAX});
  if (!fits) {
    return wrongType(field, "an integer of at most 64 bits");
  }
  return value.get<int64_t>();
}

void SamplingOptions::addTo(Arguments &arguments) {
  for (const CountField &entry : kCounts) {
    arguments.option(entry.option, params.*entry.value, entry.help);
  }
  for (const NumberField &entry : kNumbers) {
    arguments.option(entry.option, params.*entry.value, entry.help);
  }
  arguments.option("--seed", params.seed, "of the draws (default 0)");
  arguments.repeated("--stop", stops, "end before this text; repeatable");
  arguments.flag("--ignore-eos", ignoreEos,
                 "go on after the tokens that end a text");
}

absl::Status SamplingOptions::check() const {
  if (params.maxTokens < 1) {
    return usageError(strCat("-n must be at least 1, got ", params.maxTokens));
  }
  // The vocabulary is not known yet; what depends on it is checked later.
  absl::Status status = validate(params, std::numeric_limits<int64_t>::max());
  return status.ok() ? status : usageError(strCat(status.message()));
}

absl::StatusOr<bool> SamplingOptions::set(const std::string &field,
                                          const json &value) {
  for (const NumberField &entry : kNumbers) {
    if (field == entry.field) {
      if (!value.is_number()) {
        return wrongType(field, "a number");
      }
      params.*entry.value = value.get<double>();
      return true;
    }
  }
  for (const CountField &entry : kCounts) {
    if (field == std::string_view(entry.field)) {
      QUIRE_ASSIGN_OR_RETURN(params.*entry.value, readInteger(field, value));
      // Inside, -1 stands for "as many as fit"; a request says so with a
      // large number.
      if (entry.value == &SamplingParams::maxTokens && params.maxTokens < 1) {
        return absl::InvalidArgumentError(
            strCat("'n' must be at least 1, got ", params.maxTokens));
      }
      return true;
    }
  }
  if (field == "seed") {
    if (!value.is_number_unsigned()) {
      return wrongType(field, "an integer of at least 0");
    }
    params.seed = value.get<uint64_t>();
    return true;
  }
  if (field == "stop") {
    absl::Status status = readStops(value, stops);
    return status.ok() ? absl::StatusOr<bool>(true) : status;
  }
  if (field == "ignore_eos") {
    if (!value.is_boolean()) {
      return wrongType(field, "true or false");
    }
    ignoreEos = value.get<bool>();
    return true;
  }
  return false;
}

SamplingParams SamplingOptions::paramsFor(const ModelText &model) const {
  SamplingParams result = params;
  if (!ignoreEos) {
    for (int64_t token : model.generation.stop_tokens()) {
      result.stopTokens.push_back(token);
    }
  }
  return result;
}

} // namespace quire::cli
