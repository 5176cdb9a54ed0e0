// quire bench: prefill and decode speed, each beside the roof that binds it.

#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"
#include "runtime/engine/StatusMacros.h"
#include "tools/cli/BenchOptions.h"
#include "tools/cli/Commands.h"
#include "tools/cli/Files.h"
#include "tools/cli/JsonOutput.h"
#include "tools/cli/ProfileReport.h"
#include "tools/cli/Report.h"
#include "tools/cli/StepCost.h"
#include "tools/cli/TraceFile.h"

#include "nlohmann/json.hpp"

#include <algorithm>

namespace quire::cli {

using nlohmann::ordered_json;

namespace {

/// One line of the result.
struct Row {
  const char *kind;
  int64_t prompt;
  int64_t depth;
  int64_t batch;
  std::vector<double> rates;
  StepShape shape;       // of the step the roof is for
  int64_t tokensPerStep; // that the rate counts in such a step
};

class Bench {
public:
  Bench(BenchOptions options, Engine &engine, MachineRoof machine,
        TraceFile *trace)
      : options(std::move(options)), engine(engine), machine(machine),
        trace(trace) {}

  absl::Status run() {
    QUIRE_RETURN_IF_ERROR(printHeader());
    // Maps the weights in and wakes the workers; not timed.
    QUIRE_RETURN_IF_ERROR(

        decodeRates(engine, {.generate = clipped(8, 16)}, 1, [](bool) {
        }).status());
    for (int64_t depth : options.depths) {
      if (options.prompt > 0) {
        QUIRE_RETURN_IF_ERROR(prefill(depth));
      }
      for (int64_t batch : options.batches) {
        // By default large batches stay shallow: their prefill alone would
        // take many minutes.
        bool wanted = batch == 1 || depth == 0 || options.depthsGiven;
        if (options.generate > 0 && wanted) {
          QUIRE_RETURN_IF_ERROR(decode(batch, depth));
        }
      }
    }
    return absl::OkStatus();
  }

private:
  /// `wish`, or what is left of the context after `taken` tokens.
  int64_t clipped(int64_t wish, int64_t taken) const {
    return std::min(wish, engine.contextLimit() - taken);
  }

  int64_t mostSequences() const {
    const manifest::Model &model = engine.engineDirectory()->manifest().model();
    return std::min(model.max_logit_rows(), model.max_batch_tokens());
  }

  absl::Status prefill(int64_t depth) {
    int64_t prompt = clipped(options.prompt, depth + 1);
    if (prompt < std::min<int64_t>(options.prompt, 32)) {
      note(strCat("no prefill at depth ", depth, ": the context limit is ",
                  engine.contextLimit()));
      return absl::OkStatus();
    }
    QUIRE_ASSIGN_OR_RETURN(
        std::vector<double> rates,
        prefillRates(engine, prompt, depth, options.repeat, watcher()));
    return print({.kind = "prefill",
                  .prompt = prompt,
                  .depth = depth,
                  .batch = 1,
                  .rates = std::move(rates),
                  .shape = {.rows = prompt, .depth = depth},
                  .tokensPerStep = prompt});
  }

  absl::Status decode(int64_t batch, int64_t depth) {
    if (batch > mostSequences()) {
      note(strCat("no decode of ", batch, " together: the engine runs at most ",
                  mostSequences()));
      return absl::OkStatus();
    }
    DecodeShape shape{batch, depth, options.generate};
    int64_t over =
        decodePositions(shape, options.repeat) - engine.contextLimit();
    if (over > 0) {
      int64_t segments = depth > kRollingDepth ? options.repeat : 1;
      shape.generate -= (over + segments - 1) / segments;
    }
    if (shape.generate < 1) {
      note(strCat("no decode at depth ", depth, ": the context limit is ",
                  engine.contextLimit()));
      return absl::OkStatus();
    }
    QUIRE_ASSIGN_OR_RETURN(
        std::vector<double> rates,
        decodeRates(engine, shape, options.repeat, watcher()));
    // On average half of what is generated stands in the cache, too.
    return print({.kind = batch == 1 ? "decode" : "batch-decode",
                  .prompt = 0,
                  .depth = depth,
                  .batch = batch,
                  .rates = std::move(rates),
                  .shape = {.rows = batch,
                            .logitRows = batch,
                            .sequences = batch,
                            .depth = depth + shape.generate / 2},
                  .tokensPerStep = batch});
  }

  /// Records the timed stretches where a profile is wanted.
  StretchWatcher watcher() {
    if (!options.profile) {
      return [](bool) {};
    }
    return [this](bool begins) {
      if (begins) {
        engine.workers().startRecording();
      } else {
        stretches.push_back(engine.workers().stopRecording());
      }
    };
  }

  /// The profile of the row whose stretches were recorded last.
  StepProfile takeProfile(const Row &row) {
    constexpr int64_t kTracedSteps = 16; // of a row: enough to look at
    int64_t left = kTracedSteps;
    for (const StepRecord &record : stretches) {
      if (trace) {
        trace->add(record, titleOf(row), left);
      }
      left -= static_cast<int64_t>(record.steps.size());
    }
    return profileOf(std::exchange(stretches, {}));
  }

  static std::string titleOf(const Row &row) {
    return strCat(row.kind, " at depth ", row.depth,
                  row.batch > 1 ? strCat(", ", row.batch, " sequences") : "");
  }

  ordered_json ceilings() const {
    return {{"threads", machine.threads},
            {"read_bytes_per_second", machine.readBytesPerSecond},
            {"int8_ops_per_second", machine.int8OpsPerSecond},
            {"f32_ops_per_second", machine.f32OpsPerSecond},
            {"int8_kernel", machine.int8Kernel},
            {"f32_kernel", machine.f32Kernel}};
  }

  absl::Status printHeader() {
    if (options.json) {
      return absl::OkStatus();
    }
    return writeOutput(absl::StrFormat(
        "ceilings with %d threads: read %.1f GB/s, int8 %.2f TOPS (%s), f32 "
        "%.2f TFLOPS (%s)\n%-13s %6s %6s %6s %12s %12s %12s %14s  %s\n",
        machine.threads, machine.readBytesPerSecond / 1e9,
        machine.int8OpsPerSecond / 1e12, machine.int8Kernel,
        machine.f32OpsPerSecond / 1e12, machine.f32Kernel, "kind", "prompt",
        "depth", "batch", "tokens/s", "min", "max", "bytes/step",
        "of the roof"));
  }

  absl::Status print(Row row) {
    std::sort(row.rates.begin(), row.rates.end());
    size_t half = row.rates.size() / 2;
    double median = row.rates.size() % 2 == 1
                        ? row.rates[half]
                        : (row.rates[half - 1] + row.rates[half]) / 2;
    StepCost cost = stepCost(engine.engineDirectory()->manifest(), row.shape);
    Roof roof = roofOf(cost, machine);
    double share =
        roof.seconds * median / static_cast<double>(row.tokensPerStep);
    const manifest::Manifest &manifest = engine.engineDirectory()->manifest();
    if (options.json) {
      ordered_json json = {{"kind", row.kind},
                           {"prompt", row.prompt},
                           {"depth", row.depth},
                           {"batch", row.batch},
                           {"tokens_per_second",
                            {{"median", median},
                             {"min", row.rates.front()},
                             {"max", row.rates.back()}}},
                           {"bytes_per_step", cost.bytes},
                           {"share_of_roof", share},
                           {"roof", roof.name},
                           {"ceilings", ceilings()}};
      if (options.profile) {
        json["profile"] = profileJson(takeProfile(row), manifest);
      }
      return writeJsonLine(json);
    }
    QUIRE_RETURN_IF_ERROR(writeOutput(absl::StrFormat(
        "%-13s %6d %6d %6d %12.2f %12.2f %12.2f %14d  %.1f %% (%s)\n", row.kind,
        row.prompt, row.depth, row.batch, median, row.rates.front(),
        row.rates.back(), cost.bytes, share * 100, roof.name)));
    return options.profile ? printProfile(row) : absl::OkStatus();
  }

  absl::Status printProfile(const Row &row) {
    return writeOutput(profileText(takeProfile(row), titleOf(row),
                                   engine.engineDirectory()->manifest()));
  }

  BenchOptions options;
  Engine &engine;
  MachineRoof machine;
  TraceFile *trace; // null: none is wanted
  std::vector<StepRecord> stretches;
};

} // namespace

absl::Status benchCommand(int argc, char **argv) {
  QUIRE_ASSIGN_OR_RETURN(BenchOptions options, parseBenchOptions(argc, argv));
  if (options.model.cacheTokens == 0) {
    options.model.cacheTokens = cacheTokensFor(options);
  }
  int64_t largest =
      *std::max_element(options.batches.begin(), options.batches.end());
  options.model.maxBatch = std::max(options.model.maxBatch, largest);
  QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                         openEngine(options.model));
  std::unique_ptr<TraceFile> trace;
  if (!options.trace.empty()) {
    QUIRE_ASSIGN_OR_RETURN(
        trace, TraceFile::create(options.trace,
                                 engine->engineDirectory()->manifest()));
  }
  MachineRoof machine = measureRoof(engine->workers().workers(), kCarefulRoof);
  Bench bench(std::move(options), *engine, machine, trace.get());
  QUIRE_RETURN_IF_ERROR(bench.run());
  return trace ? trace->close() : absl::OkStatus();
}

} // namespace quire::cli
