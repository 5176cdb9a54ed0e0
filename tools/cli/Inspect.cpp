// quire inspect: what an engine holds and what it needs.

#include "absl/strings/str_format.h"
#include "frontends/formats/Counted.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/Commands.h"
#include "tools/cli/EngineFiles.h"
#include "tools/cli/Files.h"
#include "tools/cli/InspectBisect.h"
#include "tools/cli/InspectHtml.h"
#include "tools/cli/JsonOutput.h"
#include "tools/cli/ManifestJson.h"
#include "tools/cli/MemoryReport.h"
#include "tools/cli/ModelOptions.h"
#include "tools/cli/Report.h"

#include <fstream>

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

struct InspectOptions {
  ModelOptions model;
  bool manifest = false;
  bool memory = false;
  bool kernels = false;
  bool verify = false;
  BisectRequest bisect;
  bool json = false;
  std::string ir;
  std::string html;
};

absl::StatusOr<InspectOptions> parse(int argc, char **argv) {
  InspectOptions options;
  Arguments arguments("quire inspect", "Looks into an engine.");
  options.model.addTo(arguments);
  arguments.flag("--manifest", options.manifest, "all of the manifest");
  arguments.name("--ir", options.ir, "the IR kept of this phase");
  arguments.flag("--memory", options.memory,
                 "the memory ledger, with the given cache and threads");
  arguments.flag("--kernels", options.kernels, "every launch of a step");
  arguments.flag("--verify", options.verify, "check every file's checksum");
  options.bisect.addTo(arguments);
  arguments.flag("--json", options.json, "print JSON");
  arguments.name("--html", options.html, "write a page to this file");
  QUIRE_RETURN_IF_ERROR(arguments.parse(argc, argv));
  QUIRE_RETURN_IF_ERROR(options.bisect.check(arguments));
  int views = options.manifest + options.memory + options.kernels +
              options.verify + options.bisect.wanted + !options.ir.empty() +
              !options.html.empty();
  if (views > 1) {
    return usageError("give one of --manifest, --ir, --memory, --kernels, "
                      "--verify, --bisect and --html");
  }
  return options;
}

std::string summaryText(const std::string &path, const ordered_json &summary) {
  const ordered_json &model = summary.at("model");
  auto number = [&](const char *key) { return model.at(key).get<int64_t>(); };
  auto name = model.at("name").get<std::string>();
  auto architecture = model.at("architecture").get<std::string>();
  std::string text = strCat(printable(path), ": ", name);
  strAppend(text, name == architecture ? "" : strCat(" (", architecture, ")"),
            "\n");
  strAppend(text, "  parameters   ", number("parameters"), "\n");
  strAppend(text, "  shape        ", number("layers"), " layers, hidden ",
            number("hidden"), ", ", number("heads"), " heads, ",
            number("kv_heads"), " key/value heads, vocabulary ",
            number("vocabulary"), "\n");
  strAppend(text, "  context      ", number("max_context"), " tokens, ",
            number("max_batch_tokens"), " rows a step\n");
  int64_t bytes = summary.at("weight_bytes").get<int64_t>();
  strAppend(text, "  weights      ", bytes, " bytes (", readableBytes(bytes),
            ") in ", summary.at("tensors").get<int64_t>(), " tensors\n");
  std::string code;
  for (const ordered_json &isa : summary.at("code")) {
    strAppend(code, code.empty() ? "" : ", ", isa.get<std::string>());
  }
  strAppend(text, "  code         ", code, "\n");
  strAppend(
      text, "  text         ",
      summary.at("tokenizer") ? "tokenizer" : "no tokenizer",
      summary.at("chat_template") ? ", chat template" : ", no chat template",
      "\n  compiled by  ", summary.at("compiler_version").get<std::string>());
  for (const auto &[name, value] : summary.at("options").items()) {
    strAppend(text, " --", name, " ", value.get<std::string>());
  }
  return text + "\n";
}

std::string kernelsText(const ordered_json &kernels) {
  std::string text =
      absl::StrFormat("%-4s %-28s %15s %12s  %s\n", "#", "launch", "bytes",
                      "predicted us", "kernel");
  int64_t number = 0;
  for (const ordered_json &row : kernels) {
    strAppend(text,
              absl::StrFormat("%-4d %-28s %15d %12.2f  %s\n", number++,
                              row.at("name").get<std::string>(),
                              row.at("bytes").get<int64_t>(),
                              row.at("predicted_microseconds").get<double>(),
                              row.at("kernel").get<std::string>()));
  }
  return text;
}

absl::Status verify(const EngineDirectory &engine, bool json) {
  ordered_json files = ordered_json::array();
  std::string text;
  int64_t broken = 0;
  for (const FileCheck &check : checkFiles(engine)) {
    std::string verdict =
        check.status.ok() ? "ok" : strCat(check.status.message());
    broken += !check.status.ok();
    files.push_back({{"path", check.path},
                     {"bytes", check.bytes},
                     {"ok", check.status.ok()},
                     {"message", verdict}});
    strAppend(text, printable(check.path), ": ", verdict, "\n");
  }
  QUIRE_RETURN_IF_ERROR(
      json ? writeJsonLine({{"ok", broken == 0}, {"files", std::move(files)}})
           : writeOutput(text));
  if (broken > 0) {
    return absl::DataLossError(strCat(
        printable(engine.path()), ": ", counted(broken, "file"),
        broken == 1 ? " is" : " are", " broken; compile the model again"));
  }
  return absl::OkStatus();
}

absl::Status writePage(const EngineDirectory &engine,
                       const InspectOptions &options) {
  QUIRE_ASSIGN_OR_RETURN(ordered_json memory,
                         memoryReport(engine, engineOptionsOf(options.model)));
  ordered_json summary = summaryJson(engine.manifest());
  ordered_json kernels = kernelsJson(engine.manifest());
  std::ofstream file(options.html, std::ios::binary);
  file << inspectHtml(
      {.title = strCat("Engine ", engine.manifest().model().name()),
       .summary = summary,
       .memory = memory,
       .kernels = kernels});
  file.close();
  if (!file) {
    return absl::UnavailableError(
        strCat("cannot write ", printable(options.html)));
  }
  note(strCat("wrote ", printable(options.html)));
  return absl::OkStatus();
}

/// JSON or text, whichever was asked for.
absl::Status print(const ordered_json &json, const std::string &text,
                   bool wantsJson) {
  return writeOutput(wantsJson ? jsonDocument(json) : text);
}

} // namespace

absl::Status inspectCommand(int argc, char **argv) {
  QUIRE_ASSIGN_OR_RETURN(InspectOptions options, parse(argc, argv));
  if (options.bisect.wanted) {
    return bisect(options.bisect, options.model, options.json);
  }
  QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<EngineDirectory> engine,
                         openDirectory(options.model));
  const manifest::Manifest &manifest = engine->manifest();
  if (options.verify) {
    return verify(*engine, options.json);
  }
  if (!options.ir.empty()) {
    QUIRE_ASSIGN_OR_RETURN(std::string ir, phaseIr(*engine, options.ir));
    return options.json ? writeJsonLine({{"phase", options.ir}, {"ir", ir}})
                        : writeOutput(ir);
  }
  if (!options.html.empty()) {
    return writePage(*engine, options);
  }
  if (options.manifest) {
    return writeOutput(jsonDocument(manifestJson(manifest)));
  }
  if (options.memory) {
    QUIRE_ASSIGN_OR_RETURN(
        ordered_json memory,
        memoryReport(*engine, engineOptionsOf(options.model)));
    return print(memory, memoryText(memory), options.json);
  }
  if (options.kernels) {
    ordered_json kernels = kernelsJson(manifest);
    return print(kernels, kernelsText(kernels), options.json);
  }
  ordered_json summary = summaryJson(manifest);
  return print(summary, summaryText(engine->path(), summary), options.json);
}

} // namespace quire::cli
