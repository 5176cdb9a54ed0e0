// Time of one sampled row, by setting. A program to run by hand, not a test.

#include "runtime/sample/Sampler.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

using namespace quire;

static void measure(const char *what, int64_t vocabulary,
                    SamplingParams params) {
  constexpr int kRows = 32;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 2.5);
  std::vector<std::vector<float>> rows(kRows, std::vector<float>(vocabulary));
  for (std::vector<float> &row : rows) {
    for (float &logit : row) {
      logit = normal(random);
    }
  }
  std::vector<int32_t> history(500);
  for (size_t i = 0; i < history.size(); ++i) {
    history[i] = static_cast<int32_t>(i * 31 % vocabulary);
  }
  Sampler sampler(vocabulary);
  std::vector<double> times;
  for (int repeat = 0; repeat < 15; ++repeat) {
    auto start = std::chrono::steady_clock::now();
    for (const std::vector<float> &row : rows) {
      (void)sampler.sample({row, history, 100}, params);
    }
    times.push_back(std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - start)
                        .count() /
                    kRows);
    ++params.seed;
  }
  std::sort(times.begin(), times.end());
  std::printf("%7ld %-34s min %7.1f  median %7.1f us a row\n",
              static_cast<long>(vocabulary), what, times[0], times[7]);
}

int main() {
  for (int64_t vocabulary : {49152, 151936}) {
    measure("greedy", vocabulary, {});
    measure("greedy, logprobs 5", vocabulary, {.logprobs = 5});
    measure("greedy, penalties", vocabulary, {.repetitionPenalty = 1.1});
    measure("temperature 1", vocabulary, {.temperature = 1});
    measure("temperature .8, top-k 40, top-p .95", vocabulary,
            {.temperature = .8, .topK = 40, .topP = .95});
    measure("temperature 1, top-p .9", vocabulary,
            {.temperature = 1, .topP = .9});
    measure("temperature 1, min-p .05", vocabulary,
            {.temperature = 1, .minP = .05});
  }
}
