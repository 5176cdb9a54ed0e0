#include "tools/bisect/BisectOptions.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include "CLI/CLI.hpp"

#include <iostream>

namespace quire::bisect {

ParsedBisect parseBisectCommand(int argc, char **argv) {
  CLI::App app("Finds the pass and the launch that break a model's numbers.",
               "quire-compile --bisect");
  BisectOptions options;
  app.add_option("CHECKPOINT", options.checkpoint)->required();
  app.add_option("ENGINE", options.engine)->required();
  app.add_option("--tokens", options.tokens, "the prompt as ids: 1,2,3")
      ->delimiter(',')
      ->required();
  app.add_option("--isa", options.isa, "code level of the engine");
  app.add_flag("--json", options.json, "print JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      return {std::nullopt, app.exit(error)};
    }
    std::cerr << "quire: error: " << oneLine(error.what())
              << "; quire inspect --bisect calls this program\n";
    return {std::nullopt, 2};
  }
  return {std::move(options), 0};
}

absl::StatusOr<PipelineOptions>
pipelineOptionsOf(const manifest::Manifest &manifest) {
  PipelineOptions options;
  const auto &kept = manifest.options();
  for (const char *name : {"quantize", "kv", "page-size"}) {
    if (!kept.contains(name)) {
      return absl::DataLossError(
          strCat("the engine does not say with which --", name,
                 " it was compiled; compile the model again"));
    }
  }
  options.quantize = kept.at("quantize");
  options.kvFormat = kept.at("kv");
  if (!absl::SimpleAtoi(kept.at("page-size"), &options.pageSize)) {
    return absl::DataLossError(
        strCat("the engine's page size '", printable(kept.at("page-size")),
               "' is no number; compile the model again"));
  }
  if (auto disabled = kept.find("disable-pass"); disabled != kept.end()) {
    options.disabled = absl::StrSplit(disabled->second, ',');
  }
  options.maxRows = manifest.model().max_batch_tokens();
  options.maxLogitRows = manifest.model().max_logit_rows();
  return options;
}

} // namespace quire::bisect
