#include "tools/cli/ModelOptions.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/EngineCache.h"
#include "tools/cli/Report.h"

namespace quire::cli {

namespace {

/// The compile options that were given, as the compiler takes them. The order
/// is fixed: it is part of the cache key.
std::vector<std::string> compileOptionsOf(const ModelOptions &options,
                                          bool runtimeToo) {
  std::vector<std::string> words;
  auto add = [&](const char *name, const std::string &value) {
    if (!value.empty()) {
      words.insert(words.end(), {name, value});
    }
  };
  auto addNumber = [&](const char *name, int64_t value) {
    add(name, value == 0 ? "" : std::to_string(value));
  };
  add("--quantize", options.quantize);
  add("--kv", options.kv);
  addNumber("--page-size", options.pageSize);
  addNumber("--max-context", options.maxContext);
  for (const std::string &pass : options.disabledPasses) {
    add("--disable-pass", pass);
  }
  if (runtimeToo) {
    addNumber("--max-batch-tokens", options.maxBatchTokens);
    add("--isa", options.isa);
  }
  return words;
}

/// Opens with `open`; when that fails on a cached engine, once more with a
/// fresh one.
template <typename Open>
auto withFreshCache(const ModelOptions &options, const Open &open)
    -> decltype(open(std::string())) {
  QUIRE_ASSIGN_OR_RETURN(std::string path, engineDirectoryFor(options));
  auto result = open(path);
  bool broken = result.status().code() == absl::StatusCode::kDataLoss ||
                result.status().code() == absl::StatusCode::kNotFound;
  if (!broken || path == options.model) {
    return result;
  }
  warn(strCat("the cached engine is broken (", result.status().message(),
              "); compiling it again"));
  QUIRE_ASSIGN_OR_RETURN(path, engineDirectoryFor(options, /*replace=*/true));
  return open(path);
}

} // namespace

void ModelOptions::addTo(Arguments &arguments) {
  arguments.positional("MODEL", model,
                       "engine directory, Hugging Face directory or .gguf");
  arguments.option("--threads", threads,
                   "worker threads (default: one per physical core)");
  arguments.option("--cache-tokens", cacheTokens,
                   "size of the key/value cache in tokens (default: four whole "
                   "contexts, at most a quarter of the memory)");
  arguments.option("--max-batch", maxBatch,
                   "sequences that run at the same time (default 32)");
  arguments.option("--max-batch-tokens", maxBatchTokens,
                   "most rows of one step");
  arguments.name("--isa", isa, "code level: portable, avx2 or avx512");
  arguments.name(
      "--quantize", quantize,
      "keep, f32, bf16, int8, int4 or int4a; this and the rest: when "
      "MODEL is compiled first");
  arguments.name("--kv", kv, "bf16, f16 or f32");
  arguments.setting("--page-size", pageSize, 1, 1024,
                    "tokens per page (default: the compiler's)");
  arguments.setting("--max-context", maxContext, 1, 1 << 24,
                    "most positions of a sequence (default: the model's)");
  arguments.repeated("--disable-pass", disabledPasses,
                     "switch an optional pass off");
}

absl::Status checkModelGiven(const std::string &model) {
  return model.empty()
             ? usageError("MODEL is empty; give an engine directory, a Hugging "
                          "Face directory or a .gguf file")
             : absl::OkStatus();
}

absl::Status ModelOptions::check() const {
  QUIRE_RETURN_IF_ERROR(checkModelGiven(model));
  struct Field {
    const char *name;
    int64_t value;
    int64_t low;
    int64_t high;
  };
  for (const Field &field :
       {Field{"--threads", threads, 0, 1024},
        {"--cache-tokens", cacheTokens, 0, 1LL << 40},
        {"--max-batch", maxBatch, 1, 1 << 20},
        {"--max-batch-tokens", maxBatchTokens, 0, 1 << 20}}) {
    if (field.value < field.low || field.value > field.high) {
      return usageError(strCat(field.name, " must be between ", field.low,
                               " and ", field.high, ", got ", field.value));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> engineDirectoryFor(const ModelOptions &options,
                                               bool replace) {
  if (!EngineDirectory::looksLikeEngine(options.model)) {
    return cachedEngine({.model = options.model,
                         .options = compileOptionsOf(options, true),
                         .replace = replace});
  }
  std::vector<std::string> refused = compileOptionsOf(options, false);
  if (!refused.empty()) {
    return usageError(
        strCat(refused[0], " is decided when a model is compiled, and ",
               printable(options.model),
               " is an engine already; leave it out or give the checkpoint"));
  }
  return options.model;
}

EngineOptions engineOptionsOf(const ModelOptions &options) {
  EngineOptions engine;
  engine.threads = static_cast<int>(options.threads);
  engine.cacheTokens = options.cacheTokens;
  engine.maxSequences = options.maxBatch;
  engine.maxBatchTokens = options.maxBatchTokens;
  engine.isa = options.isa;
  return engine;
}

absl::StatusOr<std::unique_ptr<Engine>>
openEngine(const ModelOptions &options) {
  QUIRE_RETURN_IF_ERROR(options.check());
  return withFreshCache(options, [&](const std::string &path) {
    return Engine::load(path, engineOptionsOf(options));
  });
}

absl::StatusOr<std::unique_ptr<EngineDirectory>>
openDirectory(const ModelOptions &options) {
  QUIRE_RETURN_IF_ERROR(options.check());
  EngineOpenOptions open;
  open.loadCode = false;
  return withFreshCache(options, [&](const std::string &path) {
    return EngineDirectory::open(path, open);
  });
}

} // namespace quire::cli
