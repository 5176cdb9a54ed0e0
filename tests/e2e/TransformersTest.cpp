// Engines of random checkpoints of every architecture against what
// transformers computes from the same files (tests/models/
// make_tiny_random.py): logits in f32 and bf16, and 64 greedy tokens. Needs
// QUIRE_TINY_RANDOM, a directory of such checkpoints, or QUIRE_PYTHON, a
// Python with transformers that makes them.

#include "ir/reference/LogitError.h"
#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/Program.h"
#include "tests/e2e/ScoreCuts.h"
#include "tests/runtime/EngineHarness.h"
#include "tests/support/Npz.h"
#include "tests/support/TemporaryDirectory.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <filesystem>

namespace quire::e2e {
namespace {

using reference::logitError;
using reference::meanDivergence;

/// Where the checkpoints are; made at the first call where only QUIRE_PYTHON
/// is there. "" without either.
std::string checkpoints() {
  static test::TemporaryDirectory made;
  static const std::string where = [] {
    std::string ready = fromEnvironment("QUIRE_TINY_RANDOM");
    std::string python = fromEnvironment("QUIRE_PYTHON");
    if (!ready.empty() || python.empty()) {
      return ready;
    }
    // Where this fails, too few checkpoints are there: HasCheckpoints says so.
    runProgram({python, QUIRE_MAKE_TINY_RANDOM, made.path()}, {.seconds = 600});
    return made.path();
  }();
  return where;
}

std::vector<std::string> variants() {
  std::vector<std::string> names;
  std::error_code error;
  for (auto &entry :
       std::filesystem::directory_iterator(checkpoints(), error)) {
    if (std::filesystem::exists(entry.path() / "reference.npz")) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

/// What transformers said of one checkpoint.
struct Reference {
  std::vector<int64_t> tokens, greedy;
  std::vector<float> logits, logitsBf16, gaps;
  std::string maxContext;
};

Reference readReference(const std::string &directory) {
  auto arrays = test::readNpz(directory + "/reference.npz");
  if (!arrays.ok()) {
    ADD_FAILURE() << arrays.status();
    return {};
  }
  auto &all = *arrays;
  return {all["input_ids"].integers(),
          all["greedy"].integers(),
          all["logits"].floats(),
          all["logits_bf16"].floats(),
          all["greedy_gap"].floats(),
          std::to_string(all["max_context"].integers().front())};
}

/// Equal up to the first place where two tokens are about as likely; what
/// follows differs by right.
void expectGreedy(Engine &engine, const Reference &reference) {
  auto id = engine.submit(
      toy::makeRequest(reference.tokens, int64_t(reference.greedy.size())));
  ASSERT_TRUE(id.ok()) << id.status();
  std::vector<int32_t> got = toy::runDry(engine)[{*id, 0}].tokens;
  ASSERT_EQ(got.size(), reference.greedy.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] != reference.greedy[i]) {
      EXPECT_LT(reference.gaps[i], 1e-3)
          << "greedy token " << i << " is " << got[i] << " instead of "
          << reference.greedy[i];
      return;
    }
  }
}

class Transformers : public testing::TestWithParam<std::string> {
protected:
  std::string bf16Engine() {
    return engineFor(directory, {"--quantize", "bf16", "--kv", "bf16", "--isa",
                                 std::string(bestIsaOfCpu()), "--max-context",
                                 reference.maxContext});
  }

  std::string directory = checkpoints() + "/" + GetParam();
  Reference reference = readReference(directory);
};

TEST_P(Transformers, SameLogitsAndTokensInF32) {
  std::string path =
      engineFor(directory, {"--quantize", "f32", "--kv", "f32", "--max-context",
                            reference.maxContext});
  for (const char *isa : kIsaLevels) {
    SCOPED_TRACE(isa);
    if (!cpuSupportsIsa(isa)) {
      continue;
    }
    auto engine = load(path, {.threads = 2, .isa = isa});
    ASSERT_NE(engine, nullptr);
    EXPECT_LE(
        logitError(scoreOf(*engine, reference.tokens), reference.logits).worst,
        1e-4);
    expectGreedy(*engine, reference);
  }
}

TEST_P(Transformers, NoFurtherOffInBf16) {
  auto engine = load(bf16Engine());
  ASSERT_NE(engine, nullptr);
  std::vector<float> got = scoreOf(*engine, reference.tokens);
  ASSERT_EQ(got.size(), reference.logits.size());
  auto divergence = [&](const std::vector<float> &logits) {
    return meanDivergence(logits, reference.logits, engine->vocabulary());
  };
  EXPECT_LE(divergence(got),
            std::max(1e-3, 1.5 * divergence(reference.logitsBf16)));
}

TEST_P(Transformers, SameBitsHoweverCut) {
  expectSameHoweverCut(bf16Engine(), reference.tokens, {});
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Transformers);
INSTANTIATE_TEST_SUITE_P(TinyRandom, Transformers,
                         testing::ValuesIn(variants()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(TransformersData, HasCheckpoints) {
  if (checkpoints().empty()) {
    GTEST_SKIP() << "no random checkpoints: set QUIRE_TINY_RANDOM to a "
                    "directory made by tests/models/make_tiny_random.py, or "
                    "QUIRE_PYTHON to a Python with transformers";
  }
  EXPECT_GE(variants().size(), 20u);
}

} // namespace
} // namespace quire::e2e
