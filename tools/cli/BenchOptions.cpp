#include "tools/cli/BenchOptions.h"

#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Report.h"

#include <algorithm>

namespace quire::cli {

absl::StatusOr<BenchOptions> parseBenchOptions(int argc, char **argv) {
  BenchOptions options;
  Arguments arguments("quire bench",
                      "Measures speed beside the machine's ceilings.");
  options.model.addTo(arguments);
  arguments.option("--prompt", options.prompt,
                   "tokens of the prefill (default 512, 0: none)");
  arguments.option("--generate", options.generate,
                   "tokens of each decode (default 128, 0: none)");
  arguments.option("--batch", options.batchText,
                   "sequences together (default 1,2,4,8,16,32)");
  arguments.option("--depth", options.depthText,
                   "tokens in the cache before (default 0,4096; batches above "
                   "1 then at 0 only)");
  arguments.option("--repeat", options.repeat, "(default 5)");
  arguments.flag("--profile", options.profile,
                 "show where the time of a step goes (then --batch 1 and "
                 "--depth 0 by default)");
  arguments.name("--trace", options.trace,
                 "with --profile: write the steps to a file that "
                 "ui.perfetto.dev opens");
  arguments.flag("--json", options.json, "print JSON, one row a line");
  QUIRE_RETURN_IF_ERROR(arguments.parse(argc, argv));
  if (!options.trace.empty() && !options.profile) {
    return usageError("--trace writes what --profile records; give both");
  }
  // A profile is read one shape at a time.
  if (options.profile && !arguments.given("--batch")) {
    options.batchText = "1";
  }
  if (options.profile && !arguments.given("--depth")) {
    options.depthText = "0";
  }
  QUIRE_RETURN_IF_ERROR(
      parseNumbers("--batch", options.batchText, options.batches));
  QUIRE_RETURN_IF_ERROR(
      parseNumbers("--depth", options.depthText, options.depths));
  options.depthsGiven = arguments.given("--depth");
  auto bad = [](const std::vector<int64_t> &values, int64_t low, int64_t high) {
    return std::any_of(values.begin(), values.end(), [&](int64_t value) {
      return value < low || value > high;
    });
  };
  if (bad(options.batches, 1, 4096) || bad(options.depths, 0, 1 << 24) ||
      bad({options.repeat}, 1, 10000) ||
      bad({options.prompt, options.generate}, 0, 1 << 24)) {
    return usageError(
        "--batch wants numbers from 1 to 4096, --repeat from 1 to "
        "10000, --depth, --prompt and --generate from 0 to "
        "16777216");
  }
  QUIRE_RETURN_IF_ERROR(options.model.check());
  return options;
}

int64_t cacheTokensFor(const BenchOptions &options) {
  constexpr int64_t kPageSlack = 256; // the last page of each may be empty
  int64_t most = 0;
  for (int64_t depth : options.depths) {
    most = std::max(most, depth + options.prompt + 1 + kPageSlack);
    for (int64_t batch : options.batches) {
      if (batch == 1 || depth == 0 || options.depthsGiven) {
        DecodeShape shape{batch, depth, options.generate};
        most = std::max(most, batch * (decodePositions(shape, options.repeat) +
                                       kPageSlack));
      }
    }
  }
  return most;
}

} // namespace quire::cli
