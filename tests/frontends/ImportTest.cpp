// From files to a module: rows permuted for GGUF's llama mean the same model,
// tensors that do not fit are refused by name, and published configurations
// build in no time with the cache sizes they should have.

#include "frontends/Import.h"

#include "frontends/formats/HuggingFaceDirectory.h"
#include "passes/Pipeline.h"
#include "tests/frontends/ImportedLogits.h"
#include "tests/frontends/PublishedConfigs.h"
#include "tests/frontends/TinyWeights.h"

#include "ir/rt/Rt.h"
#include "mlir/IR/Diagnostics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cmath>

using namespace mlir;

namespace quire {
namespace {

using test::expectNear;
using test::logitsOf;
using test::TemporaryDirectory;
using test::TinyWeights;
using testing::HasSubstr;

std::string writeGguf(const TemporaryDirectory &directory,
                      const TinyWeights &weights,
                      const std::string &architecture, bool interleaved) {
  auto writer = TinyWeights::ggufHead(architecture);
  weights.addTo(writer, interleaved);
  writer.write(directory.file(architecture + ".gguf"));
  return directory.file(architecture + ".gguf");
}

// Case ROPE-1.
TEST(Import, PermutedRowsOfGgufLlamaMeanTheSameModel) {
  TemporaryDirectory directory;
  TinyWeights weights(false);
  weights.writeHuggingFace(directory, "LlamaForCausalLM");
  auto wanted = logitsOf(directory.path());
  expectNear(logitsOf(writeGguf(directory, weights, "llama", true)), wanted);
}

TEST(Import, UnpermutedRowsOfGgufQwen2MeanTheSameModel) {
  TemporaryDirectory directory;
  TinyWeights weights(true);
  weights.writeHuggingFace(directory, "Qwen2ForCausalLM");
  auto wanted = logitsOf(directory.path());
  expectNear(logitsOf(writeGguf(directory, weights, "qwen2", false)), wanted);
  // The other order is another model: the test can tell.
  auto other = logitsOf(writeGguf(directory, weights, "qwen2", true));
  ASSERT_EQ(other.size(), wanted.size());
  EXPECT_GT(std::fabs(other.back() - wanted.back()), 1e-3f);
}

// Llama with biases (GGUF permutes these too).
TEST(Import, PermutedBiasesMeanTheSameModel) {
  TemporaryDirectory directory;
  TinyWeights weights(true);
  weights.writeHuggingFace(directory, "Qwen2ForCausalLM");
  expectNear(logitsOf(writeGguf(directory, weights, "llama", true)),
             logitsOf(directory.path()));
}

/// What the import of a changed model says.
std::string errorOf(const std::function<void(TinyWeights &)> &change) {
  TemporaryDirectory directory;
  TinyWeights weights(false);
  change(weights);
  weights.writeHuggingFace(directory, "LlamaForCausalLM");
  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str() + "\n";
    return success();
  });
  auto checkpoint = openCheckpoint(directory.path());
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  bool imported = succeeded(importCheckpoint(context, **checkpoint, 0));
  return imported ? "no error" : said;
}

TEST(Import, RefusesTensorsThatDoNotFit) {
  EXPECT_EQ(errorOf([](TinyWeights &) {}), "no error");
  EXPECT_EQ(errorOf([](TinyWeights &w) { w.tensors.erase(w.tensors.begin()); }),
            "the checkpoint lacks tensor 'model.embed_tokens.weight'\n");
  EXPECT_EQ(errorOf([](TinyWeights &w) { w.tensors[1].shape = {1, 32}; }),
            "tensor 'model.norm.weight' has shape [1, 32]; the configuration "
            "asks for [32]\n");
  EXPECT_THAT(errorOf([](TinyWeights &w) { w.tensors[2].shape = {32, 64}; }),
              HasSubstr("'lm_head.weight' has shape [32, 64]"));
  EXPECT_THAT(errorOf([](TinyWeights &w) {
                auto stray = w.tensors[1];
                stray.huggingFace = "model.layers.2.input_layernorm.weight";
                w.tensors.push_back(stray);
              }),
              HasSubstr("'model.layers.2.input_layernorm.weight' for which"));
}

TEST(Import, RefusesMoreContextThanTheModelHas) {
  TemporaryDirectory directory;
  std::string path = directory.write("config.json", test::kLlama2Of7B);
  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(importConfig(context, path, 5000)));
  EXPECT_THAT(said, HasSubstr("--max-context 5000 is more than the 4096"));
}

// Without weights only the shape counts, and it stays DeepSeek's.
TEST(Import, BlockFp8IsRefusedWhereThereAreWeights) {
  TemporaryDirectory directory;
  std::string path = directory.write("config.json", test::kDeepSeekV3);
  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str();
    return success();
  });
  auto start = std::chrono::steady_clock::now();
  auto model = importConfig(context, path, 0);
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(succeeded(model)) << said;
  EXPECT_LT(spent.count(), 1.0);
  EXPECT_EQ(model->config.layers.size(), 61u);

  auto described = HuggingFaceDirectory::openWithoutWeights(path);
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_TRUE(failed(importCheckpoint(context, **described, 0)));
  EXPECT_THAT(said, HasSubstr("'quantization_config'"));
}

class Published : public testing::TestWithParam<test::PublishedConfig> {};

TEST_P(Published, BuildsFastWithTheRightCache) {
  const test::PublishedConfig &published = GetParam();
  TemporaryDirectory directory;
  std::string path = directory.write("config.json", published.text);
  MLIRContext context;
  context.loadDialect<rt::RtDialect>();
  auto start = std::chrono::steady_clock::now();
  auto model = importConfig(context, path, 0);
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(succeeded(model));
  EXPECT_LT(spent.count(), 1.0);

  PipelineOptions options;
  options.kvFormat = "f16";
  options.stopAfter = "serve";
  ASSERT_TRUE(
      succeeded(runPipeline(*model->module, options,
                            [](ModuleOp, const Phase &, std::string_view,
                               double) { return success(); })));
  int64_t bytesPerToken = 0, layers = 0;
  for (auto group : model->module->getOps<lm::CacheGroupOp>()) {
    auto type = cast<lm::KvType>(group.getType());
    layers += int64_t(group.getLayers().size());
    bytesPerToken +=
        int64_t(group.getLayers().size()) * type.getTokenValues() * 2;
  }
  EXPECT_EQ(layers, published.layers);
  EXPECT_EQ(bytesPerToken, published.kvBytesPerToken);
}

INSTANTIATE_TEST_SUITE_P(Models, Published, testing::ValuesIn(test::kPublished),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

// Known figures: 2 GiB and 1.25 GiB of fp16 keys and values at 4096 tokens.
TEST(PublishedCache, OfLlama2At4096Tokens) {
  EXPECT_EQ(4096 * test::kPublished[0].kvBytesPerToken, int64_t(2) << 30);
  EXPECT_EQ(4096 * test::kPublished[1].kvBytesPerToken, int64_t(5) << 28);
}

// 576 of 128 * (192 + 128) numbers; 0.264 GiB at 4096 tokens.
TEST(PublishedCache, OfDeepSeekV2) {
  auto found = llvm::find_if(test::kPublished, [](const auto &published) {
    return std::string_view(published.name) == "DeepSeekV2";
  });
  EXPECT_EQ(found->kvBytesPerToken, 69120);
  EXPECT_EQ(found->kvBytesPerToken * (128 * (192 + 128)),
            int64_t{60} * 128 * (192 + 128) * 2 * 576);
  EXPECT_NEAR(4096.0 * double(found->kvBytesPerToken) / (1 << 30), 0.264, 5e-4);
}

} // namespace
} // namespace quire
