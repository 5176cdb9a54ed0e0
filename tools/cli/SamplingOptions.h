// How tokens are drawn, as `run` and `chat` take it, and from a line of
// --prompts: one table of names for both.

#ifndef QUIRE_TOOLS_CLI_SAMPLINGOPTIONS_H
#define QUIRE_TOOLS_CLI_SAMPLINGOPTIONS_H

#include "runtime/sample/SamplingParams.h"
#include "tools/cli/Arguments.h"
#include "tools/compile/ModelText.h"

#include "nlohmann/json_fwd.hpp"

#include <string>
#include <vector>

namespace quire::cli {

struct SamplingOptions {
  SamplingParams params;
  std::vector<std::string> stops;
  bool ignoreEos = false;

  explicit SamplingOptions(int64_t newTokens) { params.maxTokens = newTokens; }

  void addTo(Arguments &arguments);
  /// A usageError naming the option that is out of range.
  absl::Status check() const;

  /// Overrides from one request's JSON. False: `field` is none of them.
  absl::StatusOr<bool> set(const std::string &field,
                           const nlohmann::json &value);

  /// With the tokens that end a text, unless those are to be ignored.
  SamplingParams paramsFor(const ModelText &model) const;
};

/// A request's integer; one that does not fit 64 bits is an error, not another
/// number.
absl::StatusOr<int64_t> readInteger(const std::string &field,
                                    const nlohmann::json &value);

} // namespace quire::cli

#endif
