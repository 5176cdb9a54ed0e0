// Engine::load and create: from a directory to pools, buffers and workers,
// and the memory that they take.

#include "absl/strings/str_cat.h"
#include "runtime/Engine.h"
#include "runtime/engine/StatusMacros.h"

#include <algorithm>
#include <unistd.h>

namespace quire {

namespace {

int64_t physicalMemoryBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

/// A window counts in full: an upper bound is all that is needed.
double cacheBytesPerToken(const EngineModel &model) {
  double bytes = 0;
  for (const CacheGroup &group : model.cacheGroups) {
    bytes += static_cast<double>(group.pageBytes) /
             static_cast<double>(std::max<int64_t>(1, group.pageSize));
  }
  return bytes;
}

/// Before anything is allocated or its size computed in integers. The ledger
/// is checked to the byte later.
absl::Status checkCacheFits(const EngineModel &model, int64_t cacheTokens) {
  double bytes = cacheBytesPerToken(model) * static_cast<double>(cacheTokens);
  if (bytes <= static_cast<double>(physicalMemoryBytes())) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "a cache of ", cacheTokens, " tokens takes ", bytes / (1 << 20),
      " MiB, this machine has ", physicalMemoryBytes() >> 20,
      " MiB; ask for fewer cache tokens"));
}

/// Without a wish: a few whole contexts, at most a quarter of the memory. The
/// pages are touched only when used.
int64_t defaultCacheTokens(const EngineModel &model, int64_t maxContext,
                           int64_t maxSequences) {
  constexpr int64_t kContexts = 4;
  int64_t wanted = maxContext * std::min(maxSequences, kContexts);
  double affordable =
      physicalMemoryBytes() / 4 / std::max(1.0, cacheBytesPerToken(model));
  return std::max<int64_t>(
      1, std::min<int64_t>(wanted, static_cast<int64_t>(affordable)));
}

absl::Status checkOptions(const EngineOptions &options) {
  struct Field {
    const char *name;
    int64_t value;
    int64_t low;
  };
  for (const Field &field :
       {Field{"threads", options.threads, 0},
        Field{"cache tokens", options.cacheTokens, 0},
        Field{"max batch", options.maxSequences, 1},
        Field{"max batch tokens", options.maxBatchTokens, 0},
        Field{"max context", options.maxContext, 0}}) {
    if (field.value < field.low) {
      return absl::InvalidArgumentError(absl::StrCat(
          field.name, " must be at least ", field.low, ", got ", field.value));
    }
  }
  return absl::OkStatus();
}

int64_t limited(int64_t wish, int64_t limit) {
  return wish == 0 ? limit : std::min(wish, limit);
}

} // namespace

EngineModel engineModelOf(const EngineDirectory &directory) {
  const manifest::Manifest &manifest = directory.manifest();
  EngineModel model;
  model.executor = {.step = directory.step(),
                    .weights = directory.weights(),
                    .arenaBytes = manifest.arena_bytes(),
                    .scratchBytes = manifest.scratch_bytes(),
                    .maxRows = manifest.model().max_batch_tokens(),
                    .maxLogitRows = manifest.model().max_logit_rows(),
                    .vocabulary = manifest.model().vocabulary()};
  model.maxContext = manifest.model().max_context();
  model.materialisedBlock = manifest.model().materialised_block();
  for (const manifest::CacheGroup &group : manifest.cache_groups()) {
    model.cacheGroups.push_back({.name = group.name(),
                                 .layers = group.layers(),
                                 .kvHeads = group.kv_heads(),
                                 .keyDim = group.key_dim(),
                                 .valueDim = group.value_dim(),
                                 .format = group.format(),
                                 .pageSize = group.page_size(),
                                 .window = group.window(),
                                 .pageBytes = group.page_bytes()});
  }
  return model;
}

absl::StatusOr<std::unique_ptr<Engine>>
Engine::load(const std::string &path, const EngineOptions &options) {
  EngineOpenOptions open;
  open.isa = options.isa;
  QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<EngineDirectory> directory,
                         EngineDirectory::open(path, open));
  QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                         create(engineModelOf(*directory), options));
  engine->directory = std::move(directory);
  return engine;
}

absl::StatusOr<std::unique_ptr<Engine>>
Engine::create(const EngineModel &model, const EngineOptions &options) {
  QUIRE_RETURN_IF_ERROR(checkOptions(options));
  std::unique_ptr<Engine> engine(new Engine);
  engine->maxContext = limited(options.maxContext, model.maxContext);
  engine->materialisedBlock = model.materialisedBlock;
  engine->maxBatchTokens =
      limited(options.maxBatchTokens, model.executor.maxRows);
  // Each running sequence may want logits in the same step.
  int64_t maxSequences =
      std::min({options.maxSequences, model.executor.maxLogitRows,
                engine->maxBatchTokens});
  int64_t cacheTokens =
      options.cacheTokens > 0
          ? options.cacheTokens
          : defaultCacheTokens(model, engine->maxContext, maxSequences);
  QUIRE_RETURN_IF_ERROR(checkCacheFits(model, cacheTokens));
  QUIRE_ASSIGN_OR_RETURN(engine->pool,
                         BlockPool::create(model.cacheGroups, cacheTokens));
  engine->poolTokens = engine->pool->capacityTokens(engine->maxContext);
  WorkerPoolOptions workers;
  workers.workers = options.threads;
  workers.pin = options.pinThreads;
  QUIRE_ASSIGN_OR_RETURN(
      engine->executor,
      Executor::create(model.executor, *engine->pool, workers));
  engine->sampler = std::make_unique<Sampler>(model.executor.vocabulary);
  engine->scheduler = std::make_unique<Scheduler>(
      *engine->pool, SchedulerOptions{.maxBatchTokens = engine->maxBatchTokens,
                                      .maxSequences = maxSequences});
  engine->batch = std::make_unique<Batch>(engine->pool->groups());
  Ledger ledger = engine->ledger();
  if (ledger.totalBytes() > physicalMemoryBytes()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the engine needs ", ledger.totalBytes(), " bytes, this machine has ",
        physicalMemoryBytes(), "; ask for fewer cache tokens"));
  }
  return engine;
}

Engine::~Engine() = default;

Ledger Engine::ledger() const {
  Ledger result;
  if (directory) {
    directory->addTo(result);
  }
  pool->addTo(result);
  executor->addTo(result);
  sampler->addTo(result);
  return result;
}

} // namespace quire
