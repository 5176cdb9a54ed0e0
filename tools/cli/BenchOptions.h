// The command line of `quire bench`.

#ifndef QUIRE_TOOLS_CLI_BENCHOPTIONS_H
#define QUIRE_TOOLS_CLI_BENCHOPTIONS_H

#include "tools/cli/BenchRuns.h"
#include "tools/cli/ModelOptions.h"

#include <string>
#include <vector>

namespace quire::cli {

struct BenchOptions {
  ModelOptions model;
  int64_t prompt = 512;
  int64_t generate = 128;
  int64_t repeat = 5;
  std::string batchText = "1,2,4,8,16,32";
  std::string depthText = "0,4096";
  std::vector<int64_t> batches;
  std::vector<int64_t> depths;
  bool depthsGiven = false;
  bool json = false;
  bool profile = false;
  std::string trace; // a file
};

absl::StatusOr<BenchOptions> parseBenchOptions(int argc, char **argv);

/// Enough cache for the largest group of sequences that will be asked for.
int64_t cacheTokensFor(const BenchOptions &options);

} // namespace quire::cli

#endif
