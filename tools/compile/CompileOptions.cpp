#include "tools/compile/CompileOptions.h"

#include "frontends/formats/Utf8.h"

#include "CLI/CLI.hpp"

#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <sstream>

namespace quire {

namespace {

/// Options of the command line contract of which this build takes one value.
struct FixedOptions {
  std::string target = "cpu";
  bool draft = false;
  int64_t ranks = 1;
  std::string isa;
};

void describe(CLI::App &app, CompileOptions &options, FixedOptions &fixed,
              std::vector<std::string> &disabled) {
  app.add_option("MODEL", options.model,
                 "Hugging Face directory, .gguf file, or config.json")
      ->required();
  app.add_option("-o,--output", options.output, "engine directory to write");
  app.add_option("--target", fixed.target, "cpu, all that this build has");
  app.add_option("--quantize", options.pipeline.quantize,
                 "keep, f32, bf16, int8, int4 or int4a");
  app.add_option("--kv", options.pipeline.kvFormat, "bf16, f16 or f32");
  app.add_option("--page-size", options.pipeline.pageSize, "tokens per page")
      ->check(CLI::Range(int64_t(1), int64_t(1024)));
  app.add_option("--max-context", options.maxContext,
                 "most positions of a sequence (default: the model's)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24));
  app.add_option("--max-batch-tokens", options.pipeline.maxRows,
                 "most rows of one step")
      ->check(CLI::Range(int64_t(1), int64_t(16384)));
  // An empty group keeps out of --help what this build has no choice of.
  app.add_option("--tp", fixed.ranks)->group("");
  app.add_option("--isa", fixed.isa, "portable, avx2 or avx512");
  app.add_option("--machine-profile", options.machineProfile,
                 "JSON file of rates to predict times with, or \"default\" "
                 "(default: this machine's, measured once)");
  app.add_flag("--no-weights", options.noWeights,
               "from a config.json alone: IR, plan and memory");
  // Both spellings of the first are English.
  auto takeForm = [&options](const std::string &form) {
    options.pipeline.mla = form == "materialized" ? "materialised" : form;
  };
  app.add_option_function<std::string>(
         "--mla", takeForm,
         "form of latent attention: materialized, factored, folded or auto, "
         "the cheapest")
      ->default_str("auto");
  // Always refused, and so not in the help.
  auto noteDraft = [&fixed](const std::string &) { fixed.draft = true; };
  app.add_option_function<std::string>("--draft", noteDraft)
      ->expected(0, 1)
      ->group("");
  app.add_option("--dump-ir", options.dumpDirectory,
                 "directory for one .mlir file per phase");
  app.add_option("--dump-ir-after", options.dumpAfterPass,
                 "print the IR to stdout after this pass");
  app.add_option("--stop-after", options.pipeline.stopAfter,
                 "stop after this phase; no engine is written");
  app.add_option("--disable-pass", disabled, "switch an optional pass off");
  app.add_flag("--explain", options.explain, "print what passes decided");
  app.add_flag("--force", options.force, "replace an existing engine");
  app.add_flag("--quiet", options.quiet, "no progress on stderr");
}

bool isOneOf(const std::string &value,
             std::initializer_list<std::string_view> known) {
  return std::find(known.begin(), known.end(), value) != known.end();
}

bool isPass(const std::string &name) {
  for (const Phase &phase : pipelinePhases()) {
    for (const PipelinePass &pass : phase.passes) {
      if (pass.name == name) {
        return true;
      }
    }
  }
  return false;
}

/// The same for what the pipeline takes. The passes check their options
/// themselves; here a wrong one is known before any work.
std::string complaint(const PipelineOptions &options) {
  if (!isOneOf(options.quantize,
               {"keep", "f32", "bf16", "int8", "int4", "int4a"})) {
    return "--quantize '" + options.quantize +
           "' is not supported; use keep, f32, bf16, int8, int4 or int4a";
  }
  if (!isOneOf(options.kvFormat, {"bf16", "f16", "f32"})) {
    return "--kv '" + options.kvFormat +
           "' is not supported; use bf16, f16 or f32";
  }
  if (!isOneOf(options.mla, {"auto", "materialised", "factored", "folded"})) {
    return "--mla '" + options.mla +
           "' is not known; use materialized, factored, folded or auto";
  }
  return optionsComplaint(options);
}

/// Says what is wrong with the values, or nothing.
std::string complaint(const CompileOptions &options,
                      const FixedOptions &fixed) {
  if (fixed.target != "cpu") {
    return "--target '" + fixed.target +
           "' is not supported by this build; use cpu";
  }
  if (fixed.ranks != 1) {
    return "--tp " + std::to_string(fixed.ranks) +
           " is not supported by this build; use 1";
  }
  if (fixed.draft) {
    return "--draft is not supported by this build";
  }
  if (!fixed.isa.empty() && fixed.isa != "portable" && fixed.isa != "avx2" &&
      fixed.isa != "avx512") {
    return "--isa '" + fixed.isa +
           "' is not known; use portable, avx2 or avx512";
  }
  if (!options.dumpAfterPass.empty() && !isPass(options.dumpAfterPass)) {
    return "--dump-ir-after '" + options.dumpAfterPass +
           "' names no pass; `quire-opt --help` lists them";
  }
  if (std::string text = complaint(options.pipeline); !text.empty()) {
    return text;
  }
  bool writes = !options.noWeights && options.pipeline.stopAfter.empty();
  if (writes && options.output.empty()) {
    return "say where the engine goes with -o DIRECTORY";
  }
  return "";
}

/// No option means anything with an empty value.
std::string emptyComplaint(const CLI::App &app) {
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &value : option->results()) {
      if (value.empty()) {
        return option->get_name() + " is empty; give it a value";
      }
    }
  }
  return "";
}

int usageError(const std::string &text) {
  std::cerr << "quire: error: " << oneLine(text) << "\n";
  return 2;
}

} // namespace

ParsedCommand parseCompileCommand(int argc, char **argv) {
  CLI::App app("Compiles a model to an engine.", "quire compile");
  CompileOptions options;
  FixedOptions fixed;
  std::vector<std::string> disabled;
  describe(app, options, fixed, disabled);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      return {std::nullopt, app.exit(error)};
    }
    return {std::nullopt, usageError(std::string(error.what()) +
                                     "; see quire compile --help")};
  }
  if (std::string text = emptyComplaint(app); !text.empty()) {
    return {std::nullopt, usageError(text)};
  }
  options.pipeline.disabled.insert(disabled.begin(), disabled.end());
  if (std::string text = complaint(options, fixed); !text.empty()) {
    return {std::nullopt, usageError(text)};
  }
  if (!fixed.isa.empty()) {
    options.isas = {fixed.isa};
  }
  return {std::move(options), 0};
}

} // namespace quire
