// What quantising weights means, on random checkpoints of several families
// (tests/models/make_tiny_random.py): after the phase `numbers` the
// interpreter computes what it computes on dequantised weights with the same
// rounding of activations, and the engine agrees.

#include "ir/reference/LogitError.h"
#include "runtime/engine/IsaLevel.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/InterpretedModel.h"
#include "tests/support/Npz.h"

#include "gtest/gtest.h"

#include <algorithm>

namespace quire::e2e {
namespace {

using reference::LogitError;
using reference::logitError;

/// Bars are in deviations of the logits; see InterpreterTest.cpp for why int8
/// activations and 16-bit cache entries have wide ones.
struct Quantized {
  std::string quantize;
  std::string kv;
  double typical;
};

using Case = std::tuple<std::string, Quantized>;

class QuantizedTest : public testing::TestWithParam<Case> {};

TEST_P(QuantizedTest, IsTheModelOnDequantizedWeights) {
  const auto &[name, formats] = GetParam();
  std::string root = fromEnvironment("QUIRE_TINY_RANDOM");
  if (root.empty()) {
    GTEST_SKIP() << "set QUIRE_TINY_RANDOM to a directory made by "
                    "tests/models/make_tiny_random.py";
  }
  std::string checkpoint = root + "/" + name;
  auto arrays = test::readNpz(checkpoint + "/reference.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  std::vector<int64_t> tokens = (*arrays)["input_ids"].integers();
  int64_t maxContext = (*arrays)["max_context"].integers().front();

  InterpretedModel model(checkpoint, {formats.quantize, formats.kv},
                         maxContext);
  std::vector<float> expected = model.logits(tokens);
  model.dequantizeParameters();
  // Every number of both is the same function of the same values.
  EXPECT_EQ(logitError(model.logits(tokens), expected).worst, 0);

  auto engine = load(
      engineFor(checkpoint, {"--quantize", formats.quantize, "--kv", formats.kv,
                             "--isa", std::string(bestIsaOfCpu()),
                             "--max-context", std::to_string(maxContext)}));
  ASSERT_NE(engine, nullptr);
  LogitError error = logitError(scoreOf(*engine, tokens), expected);
  EXPECT_LE(error.typical, formats.typical);
  EXPECT_LE(error.worst, 15 * formats.typical);
}

// One of each thing that families do differently around a product: biases,
// tied heads, soft caps, norms behind products, experts, parameters that are
// rows of one tensor, multipliers, latents.
INSTANTIATE_TEST_SUITE_P(
    TinyRandom, QuantizedTest,
    testing::Combine(testing::Values("llama-gqa", "qwen2-tied", "qwen3",
                                     "gemma2", "gemma3", "phi3-partial",
                                     "granite-biases", "olmo2",
                                     "mixtral-separate", "qwen2-moe",
                                     "qwen3-moe", "deepseek-v3", "minicpm3"),
                     testing::Values(Quantized{"int8", "f32", 1e-2},
                                     Quantized{"int4", "f32", 1e-2},
                                     Quantized{"int4a", "f32", 1e-2},
                                     Quantized{"bf16", "bf16", 5e-4},
                                     Quantized{"keep", "f32", 5e-6})),
    [](const testing::TestParamInfo<Case> &info) {
      std::string name =
          std::get<0>(info.param) + "_" + std::get<1>(info.param).quantize;
      std::ranges::replace(name, '-', '_');
      return name;
    });

} // namespace
} // namespace quire::e2e
