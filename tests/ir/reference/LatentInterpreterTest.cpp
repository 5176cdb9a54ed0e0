// The interpreter on one layer of latent attention: every form is the import's
// attention, and neither cache nor chunks change a bit of a form.

#include "tests/ir/reference/LatentModule.h"
#include "tests/ir/reference/TwoLayerModule.h"

#include "ir/reference/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quire::reference {
namespace {

using testing::DrawnParams;
using ::testing::FloatNear;
using testing::latentModel;
using testing::LatentVariant;
using ::testing::Pointwise;

/// A prompt of eleven and eight generated tokens.
const std::vector<int32_t> kTokens = {3, 14, 15, 9, 26, 5, 3, 8,  9, 7,
                                      9, 31, 2,  3, 8,  4, 6, 26, 4};
constexpr int32_t kPrompt = 11;

class LatentInterpreter : public ::testing::Test {
protected:
  LatentInterpreter() {
    context.loadDialect<mlir::func::FuncDialect, lm::LmDialect>();
  }

  std::unique_ptr<Interpreter> start(const LatentVariant &variant) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(
        latentModel(variant), &context));
    EXPECT_TRUE(modules.back());
    return std::make_unique<Interpreter>(*modules.back(), params);
  }

  /// Logits of all tokens; `chunk` tokens of the prompt a step (0: all tokens
  /// in one step), then one.
  std::vector<float> logits(const LatentVariant &variant, int32_t chunk) {
    auto interpreter = start(variant);
    std::vector<float> values;
    int32_t count = kTokens.size();
    for (int32_t first = 0; first < count;) {
      int32_t size = chunk == 0        ? count
                     : first < kPrompt ? std::min(chunk, kPrompt - first)
                                       : 1;
      auto part = interpreter->step(
          chainStep({kTokens.data() + first, static_cast<size_t>(size)}, first,
                    interpreter->pageSizes(), kPrompt));
      EXPECT_TRUE(llvm::succeeded(part));
      if (llvm::failed(part)) {
        break;
      }
      values.insert(values.end(), part->values.begin(), part->values.end());
      first += size;
    }
    return values;
  }

  mlir::MLIRContext context;
  DrawnParams params;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

constexpr const char *kForms[] = {"materialised", "factored", "folded", "both"};

TEST_F(LatentInterpreter, EveryFormIsTheImports) {
  std::vector<float> expected = logits({"import", ""}, 0);
  ASSERT_EQ(expected.size(), 19u * 32);
  for (const char *form : kForms) {
    EXPECT_THAT(logits({form, "", 4}, 0), Pointwise(FloatNear(1e-5), expected))
        << form;
  }
}

TEST_F(LatentInterpreter, CacheAndChunksChangeNoBit) {
  for (const char *form : kForms) {
    std::vector<float> plain = logits({form, "", 4}, 0);
    for (const char *format : {"f32", "f16", "bf16"}) {
      std::vector<float> whole = logits({form, format, 4}, 0);
      if (std::string(format) == "f32") {
        EXPECT_EQ(whole, plain) << form;
      }
      for (int32_t chunk : {1, 3, 4, 11}) {
        EXPECT_EQ(logits({form, format, 4}, chunk), whole)
            << form << ", " << format << ", chunks of " << chunk;
      }
    }
  }
}

TEST_F(LatentInterpreter, ARowsFormFollowsFromItsPromptAlone) {
  // Two whole blocks of four are materialised, the rest is factored.
  std::vector<float> materialised = logits({"materialised", "bf16"}, 0);
  std::vector<float> factored = logits({"factored", "bf16"}, 0);
  std::vector<float> both = logits({"both", "bf16", 4}, 0);
  ASSERT_NE(materialised, factored);
  auto split = [](std::vector<float> &values) {
    return values.begin() + 8 * 32;
  };
  EXPECT_TRUE(std::equal(both.begin(), split(both), materialised.begin()));
  EXPECT_TRUE(std::equal(split(both), both.end(), split(factored)));
  // Without the attribute everything is latent.
  EXPECT_EQ(logits({"both", "bf16"}, 3), factored);
}

TEST_F(LatentInterpreter, CacheHoldsOneLatentAndOneRotaryKeyAToken) {
  auto interpreter = start({"factored", "bf16"});
  const KvCache::Shape &shape = interpreter->cache(0).shape();
  EXPECT_EQ(shape.kvHeads * (shape.keyDim + shape.valueDim), 12);
}

TEST_F(LatentInterpreter, DeadRowsAreLatentAndSeeNothing) {
  auto interpreter = start({"both", "f32", 4});
  StepInput input =
      chainStep(kTokens, 0, interpreter->pageSizes(), kTokens.size());
  auto expected = interpreter->step(input);
  input.token.push_back(0);
  input.position.push_back(0);
  input.sequence.push_back(0);
  input.context.push_back(0);
  input.prompt.push_back(11);
  input.group[0].slot.push_back(-1);
  auto padded = start({"both", "f32", 4})->step(input);
  ASSERT_TRUE(llvm::succeeded(expected) && llvm::succeeded(padded));
  EXPECT_EQ(padded->values, expected->values);
}

TEST_F(LatentInterpreter, AnAttentionOnOtherRowsThanItsQueriesIsAnError) {
  std::string text = latentModel({"both", "f32", 4});
  text.replace(text.find(" rows latent"), 12, "");
  modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
  ASSERT_TRUE(modules.back());
  Interpreter interpreter(*modules.back(), params);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  EXPECT_TRUE(llvm::failed(interpreter.step(
      chainStep(kTokens, 0, interpreter.pageSizes(), kPrompt))));
  EXPECT_THAT(message, ::testing::HasSubstr("queries of 11 rows"));
}

} // namespace
} // namespace quire::reference
