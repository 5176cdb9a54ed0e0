// The interpreter gives transformers' logits after every phase of the
// pipeline, for random checkpoints of every architecture
// (tests/models/make_tiny_random.py writes them), and in every form of latent
// attention.

#include "tests/passes/PhaseLogits.h"

namespace quire {
namespace {

class PhaseLogits : public testing::TestWithParam<std::string> {};

TEST_P(PhaseLogits, EqualReferenceAfterEveryPhase) {
  test::RandomCheckpoint random(GetParam());
  ASSERT_TRUE(random.ok());
  for (const std::string &form : random.forms()) {
    SCOPED_TRACE(form);
    PipelineOptions options;
    options.quantize = "f32";
    options.kvFormat = "f32";
    options.mla = form;
    test::afterEveryPhase(
        random, options, [&](mlir::ModuleOp module, const Phase &) {
          std::vector<float> logits = test::logitsOf(
              module, random, random.tokens, int32_t(random.tokens.size()), 0);
          EXPECT_LE(reference::logitError(logits, random.logits).worst, 1e-4);
        });
  }
}

std::vector<std::string> variants() {
  std::vector<std::string> names;
  std::error_code error;
  for (auto &entry :
       std::filesystem::directory_iterator(test::randomCheckpoints(), error)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(TinyRandom, PhaseLogits, testing::ValuesIn(variants()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(PhaseLogitsData, HasCheckpoints) {
  if (variants().empty()) {
    GTEST_SKIP() << "no random checkpoints: run tests/models/"
                    "make_tiny_random.py DIR with a Python that has "
                    "transformers, and set QUIRE_TINY_RANDOM=DIR";
  }
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PhaseLogits);

} // namespace
} // namespace quire
