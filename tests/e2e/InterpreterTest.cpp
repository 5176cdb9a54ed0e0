// Engines of the bundled model say what the reference interpreter says of the
// same module before it was lowered: in every weight and cache format, at
// every ISA level.

#include "ir/reference/LogitError.h"
#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/InterpretedModel.h"

#include "gtest/gtest.h"

namespace quire::e2e {
namespace {

using reference::LogitError;
using reference::logitError;

/// Bars are in deviations of the logits.
///
/// Rounding is the same function in the interpreter and in kernels, but sums
/// before it differ in their last bits. Where such a difference lies across a
/// tie, an int8 activation or a bf16 cache entry turns by a whole step; the
/// step makes other values cross ties in the next layer, and after a few
/// layers the error is as large as that of rounding itself. So most single
/// tokens agree to the last bits, and long chains only roughly.
struct Formats {
  std::string quantize;
  std::string kv;
  double typicalOfChain; // root mean square
  double agreeing = 1;   // part of the single tokens that agree closely
};

void PrintTo(const Formats &formats, std::ostream *os) {
  *os << formats.quantize << " weights, " << formats.kv << " cache";
}

class InterpreterTest : public testing::TestWithParam<Formats> {
protected:
  /// Calls `check` with the engine at each ISA level this CPU has.
  template <typename Check> void atEveryLevel(Check check) {
    std::string path = engineFor(
        kTinyModel, {"--quantize", GetParam().quantize, "--kv", GetParam().kv});
    for (const char *isa : kIsaLevels) {
      if (!cpuSupportsIsa(isa)) {
        continue;
      }
      SCOPED_TRACE(isa);
      auto engine = load(path, {.threads = 2, .isa = isa});
      ASSERT_NE(engine, nullptr);
      check(*engine);
    }
  }

  InterpretedModel interpreted{kTinyModel,
                               {GetParam().quantize, GetParam().kv}};
  std::vector<int64_t> tokens = tinyTokens(40);
};

TEST_P(InterpreterTest, SingleTokens) {
  std::vector<std::vector<float>> expected;
  for (int64_t token : tokens) {
    expected.push_back(interpreted.logits({&token, 1}));
  }
  atEveryLevel([&](Engine &engine) {
    int64_t agreeing = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      LogitError error = logitError(scoreOf(engine, {tokens[i]}), expected[i]);
      EXPECT_LE(error.typical, 3 * GetParam().typicalOfChain)
          << "token " << tokens[i];
      agreeing += error.worst <= (GetParam().kv == "f32" ? 1e-4 : 1e-3);
    }
    EXPECT_GE(double(agreeing), GetParam().agreeing * double(tokens.size()));
  });
}

TEST_P(InterpreterTest, Chain) {
  std::vector<float> expected = interpreted.logits(tokens);
  atEveryLevel([&](Engine &engine) {
    LogitError error = logitError(scoreOf(engine, tokens), expected);
    EXPECT_LE(error.typical, GetParam().typicalOfChain);
    EXPECT_LE(error.worst, 15 * GetParam().typicalOfChain);
  });
}

/// The same over several blocks of attention.
class LongChainTest : public InterpreterTest {};

TEST_P(LongChainTest, Chain) {
  tokens = tinyTokens(420);
  std::vector<float> expected = interpreted.logits(tokens);
  atEveryLevel([&](Engine &engine) {
    LogitError error = logitError(scoreOf(engine, tokens), expected);
    EXPECT_LE(error.typical, GetParam().typicalOfChain);
    EXPECT_LE(error.worst, 50 * GetParam().typicalOfChain);
  });
}

INSTANTIATE_TEST_SUITE_P(Formats, LongChainTest,
                         testing::Values(Formats{"f32", "f32", 5e-6},
                                         Formats{"keep", "bf16", 2e-3}));

INSTANTIATE_TEST_SUITE_P(Formats, InterpreterTest,
                         testing::Values(Formats{"f32", "f32", 5e-6},
                                         Formats{"f32", "f16", 2e-4},
                                         Formats{"f32", "bf16", 4e-4, 0.975},
                                         Formats{"bf16", "bf16", 4e-4, 0.975},
                                         Formats{"keep", "bf16", 4e-4, 0.975},
                                         Formats{"int8", "f32", 4e-2, 0.95},
                                         Formats{"int4", "f32", 4e-2, 0.95},
                                         Formats{"int4a", "f32", 4e-2, 0.85}),
                         [](const testing::TestParamInfo<Formats> &info) {
                           return info.param.quantize + "_" + info.param.kv;
                         });

} // namespace
} // namespace quire::e2e
