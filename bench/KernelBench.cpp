// How close linear kernels come to what the machine can do: for each weight
// format and row count the share of the streamed read (few rows) and of the
// instruction peak (many rows), measured against ceilings taken in the same
// run, right before each sample. Medians over samples; --threads T threads
// each work on their own tiles at the same time.
//
//   kernel-bench [--threads T] [--level L] [--samples S] [format...]

#include "bench/Ceilings.h"
#include "codegen/cpu/kernels/Args.h"
#include "codegen/cpu/kernels/NativeKernels.h"
#include "frontends/formats/NumberFormat.h"
#include "ir/rt/Layout.h"

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace quire::bench {
namespace {

struct Options {
  int threads = 1;
  int samples = 7;
  std::string level = "avx512";
  std::vector<std::string> formats;
};

struct Buffer {
  explicit Buffer(int64_t bytes)
      : size(static_cast<size_t>(layout::alignUp(bytes, 4096))),
        data(static_cast<std::byte *>(std::aligned_alloc(4096, size))) {
    // Small random bytes: no NaN among scales, no denormals worth speaking of.
    std::minstd_rand random(1);
    for (size_t i = 0; i + 4 <= size; i += 4) {
      const uint32_t word = static_cast<uint32_t>(random()) & 0x3f3f3f3fu;
      std::memcpy(data + i, &word, 4);
    }
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { std::free(data); }
  size_t size;
  std::byte *data;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One kernel call over rows and shape, split over threads; seconds of the
/// slowest thread's processor time and the ceilings around it.
struct Sample {
  double seconds;
  double stream, dot, fma; // sums over threads
};

class Case {
public:
  Case(const Options &options, NumberFormat format, int64_t rows)
      : options(options), format(format), rows(rows),
        // Weights of few rows must come from memory, those of many may not.
        outputs(rows <= 16 ? (int64_t(96) << 20) /
                                 layout::supertileBytes(format, kInputs) * 64
                           : 1536),
        weight(layout::packedWeightBytes(format, outputs, kInputs)),
        activation(layout::activationBytes(layout::activationFormatFor(format),
                                           rows, kInputs)),
        out(rows * outputs * 4),
        kernel(cpu::findNativeKernel(
            options.level, "linear_" + std::string(numberFormatName(format)))) {
  }

  void run() const {
    std::vector<double> seconds, streamShare, peakShare, nanoseconds;
    for (int s = 0; s < options.samples; ++s) {
      const Sample sample = measure();
      const bool floats =
          layout::activationFormatFor(format) == layout::ActivationFormat::F32;
      const double operations = static_cast<double>(rows) *
                                static_cast<double>(outputs) / 16 * kInputs /
                                (floats ? 1 : 4);
      seconds.push_back(sample.seconds);
      streamShare.push_back(static_cast<double>(packedBytes()) /
                            sample.seconds / sample.stream);
      peakShare.push_back(operations / sample.seconds /
                          (floats ? sample.fma : sample.dot));
    }
    std::printf("%-6s %d thread%s %4ld rows  %8.3f ms  %6.1f MB  stream %.2f  "
                "peak %.2f\n",
                std::string(numberFormatName(format)).c_str(), options.threads,
                options.threads > 1 ? "s" : " ", static_cast<long>(rows),
                median(seconds) * 1e3, static_cast<double>(packedBytes()) / 1e6,
                median(streamShare), median(peakShare));
    std::fflush(stdout);
  }

private:
  static constexpr int64_t kInputs = 1536;

  int64_t packedBytes() const {
    return layout::packedWeightBytes(format, outputs, kInputs);
  }

  Sample measure() const {
    QuireBatch batch = {};
    batch.rows = static_cast<int32_t>(rows);
    QuireStep step = {};
    step.batch = &batch;
    const cpu::LinearArgs args = {&step,
                                  activation.data,
                                  weight.data,
                                  nullptr,
                                  reinterpret_cast<float *>(out.data),
                                  kInputs,
                                  outputs,
                                  outputs,
                                  cpu::kBatchRows};
    const int64_t tiles = kernel->tiles(&args);
    std::vector<Sample> samples(static_cast<size_t>(options.threads));
    std::barrier barrier(options.threads);
    std::vector<std::thread> threads;
    for (int t = 0; t < options.threads; ++t) {
      threads.emplace_back([&, t] {
        Buffer scratch(layout::kLinearScratchBytes);
        Sample &sample = samples[static_cast<size_t>(t)];
        barrier.arrive_and_wait();
        sample.stream = readStream({weight.data, weight.size});
        barrier.arrive_and_wait();
        sample.dot = dotPeak();
        sample.fma = fmaPeak();
        const int64_t begin = tiles * t / options.threads;
        const int64_t end = tiles * (t + 1) / options.threads;
        const int repeats = rows <= 16 ? 1 : 2;
        barrier.arrive_and_wait();
        const double start = threadSeconds();
        for (int i = 0; i < repeats; ++i) {
          for (int64_t tile = begin; tile < end; ++tile) {
            kernel->tile(&args, tile, scratch.data);
          }
        }
        sample.seconds = (threadSeconds() - start) / repeats;
        barrier.arrive_and_wait();
      });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
    Sample all = {};
    for (const Sample &sample : samples) {
      all.seconds = std::max(all.seconds, sample.seconds);
      all.stream += sample.stream;
      all.dot += sample.dot;
      all.fma += sample.fma;
    }
    return all;
  }

  Options options;
  NumberFormat format;
  int64_t rows;
  int64_t outputs;
  Buffer weight;
  Buffer activation;
  Buffer out;
  const cpu::NativeKernel *kernel;
};

int runAll(const Options &options) {
  for (const std::string &name : options.formats) {
    const std::optional<NumberFormat> format = parseNumberFormat(name);
    if (!format) {
      std::fprintf(stderr, "kernel-bench: unknown format %s\n", name.c_str());
      return 2;
    }
    for (int64_t rows : {1, 2, 4, 8, 16, 32, 512}) {
      Case(options, *format, rows).run();
    }
  }
  return 0;
}

} // namespace
} // namespace quire::bench

int main(int argc, char **argv) {
  quire::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--threads" && i + 1 < argc) {
      options.threads = std::max(1, std::atoi(argv[++i]));
    } else if (flag == "--samples" && i + 1 < argc) {
      options.samples = std::max(1, std::atoi(argv[++i]));
    } else if (flag == "--level" && i + 1 < argc) {
      options.level = argv[++i];
    } else {
      options.formats.push_back(flag);
    }
  }
  if (options.formats.empty()) {
    options.formats = {"q4_1", "q4_k", "q6_k", "q8_0", "q5_0", "bf16", "f32"};
  }
  const double stream = [] {
    std::vector<std::byte> bytes(size_t(128) << 20);
    std::fill(bytes.begin(), bytes.end(), std::byte(1));
    return quire::bench::readStream(bytes);
  }();
  std::printf("one thread: read %.1f GB/s, dot %.2f G/s, fma %.2f G/s\n",
              stream / 1e9, quire::bench::dotPeak() / 1e9,
              quire::bench::fmaPeak() / 1e9);
  return quire::bench::runAll(options);
}
