// Rows taken of every head, and folds of latent attention, in the weight file:
// stored blocks move whole, and products have the interpreter's bits.

#include "codegen/weights/PackWeights.h"
#include "codegen/weights/WriteWeights.h"
#include "frontends/formats/Dequantize.h"
#include "ir/reference/CheckpointParams.h"
#include "ir/reference/WeightEvaluator.h"
#include "ir/rt/Layout.h"
#include "tests/support/GgufWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include "absl/strings/str_cat.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <fstream>
#include <random>

namespace quire {
namespace {

// Four heads of 24 content and 8 rotary channels, values of 20, rank 32, and
// more outputs than a supertile has.
constexpr const char kParams[] = R"mlir(
lm.param @q source "q" shape [128, 64] formats [q4_0]
lm.param @bias source "bias" shape [128] formats [f32]
lm.param @kv source "kv" shape [176, 32] formats [q4_0]
lm.param @k source "k" shape [4, 24, 32] formats [q4_0]
lm.param @o source "o" shape [70, 80] formats [bf16]
)mlir";

class LatentWeights : public ::testing::Test {
protected:
  LatentWeights() {
    context.loadDialect<lm::LmDialect, rt::RtDialect>();
    std::string path = directory.file("model.gguf");
    test::GgufWriter()
        .string("general.architecture", "test")
        .tensor("q", NumberFormat::Q4_0, {128, 64}, drawBlocks(128 * 64))
        .tensor("bias", NumberFormat::F32, {128}, drawFloats(128))
        .tensor("kv", NumberFormat::Q4_0, {176, 32}, drawBlocks(176 * 32))
        .tensor("k", NumberFormat::Q4_0, {4, 24, 32}, drawBlocks(96 * 32))
        .tensor("o", NumberFormat::BF16, {70, 80}, drawBrains(70 * 80))
        .write(path);
    auto opened = openCheckpoint(path);
    EXPECT_TRUE(opened.ok()) << opened.status();
    checkpoint = std::move(*opened);
  }

  /// Blocks of q4_0, with scales near 1/16.
  std::string drawBlocks(int64_t values) {
    std::string bytes;
    for (int64_t block = 0; block < values / 32; ++block) {
      bytes += test::rawBytes(static_cast<uint16_t>(0x2c00 + random() % 512));
      for (int i = 0; i < 16; ++i) {
        bytes += static_cast<char>(random());
      }
    }
    return bytes;
  }
  std::string drawFloats(int64_t count) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) {
      bytes += test::rawBytes(static_cast<float>(random() % 1000) / 7.0f);
    }
    return bytes;
  }
  std::string drawBrains(int64_t count) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) {
      bytes += test::rawBytes(static_cast<uint16_t>(0x3d00 + random() % 256 +
                                                    random() % 2 * 0x8000));
    }
    return bytes;
  }

  /// A slot that packs %r, which `region` computes.
  void parse(const std::string &shape, const std::string &format, int64_t bytes,
             const std::string &region) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        absl::StrCat(kParams, "rt.weight @w ", format, " ", shape, " bytes ",
                     bytes, " layers [] {\n^bb0(%layer: index):\n", region,
                     "\nrt.pack %r : !lm.weight<", shape, ", ", format, ">\n}"),
        &context);
    ASSERT_TRUE(module);
  }

  /// The slot's bytes in the weight file.
  std::vector<std::byte> write(int threads) {
    WeightPlacement placement(*module);
    auto jobs = planWeights(*module, placement, *checkpoint);
    EXPECT_TRUE(llvm::succeeded(jobs));
    if (llvm::failed(jobs)) {
      return {};
    }
    std::string path = directory.file("weights");
    WeightWriting options;
    options.threads = threads;
    auto written = writeWeights(path, *jobs, placement.fileBytes(), options);
    EXPECT_TRUE(written.ok()) << written.status();
    std::vector<std::byte> content(placement.inFileOrder().front().bytes);
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char *>(content.data()), content.size());
    return content;
  }

  /// What the interpreter evaluates the slot to.
  reference::Weight evaluated() {
    reference::CheckpointParams params(*checkpoint);
    reference::WeightEvaluator evaluator(params, 0);
    auto slot = *module->getOps<rt::WeightOp>().begin();
    auto pack = llvm::cast<rt::PackOp>(slot.getBody().front().getTerminator());
    auto weight = evaluator.evaluate(pack.getValue(), -1);
    EXPECT_TRUE(llvm::succeeded(weight));
    return llvm::succeeded(weight) ? **weight : reference::Weight();
  }

  /// Writes an f32 slot and expects the interpreter's values, bit for bit.
  void expectInterpreters(const std::string &shape, int64_t matrices,
                          int64_t rows, int64_t columns,
                          const std::string &region) {
    int64_t bytes = layout::packedWeightBytes(NumberFormat::F32, rows, columns);
    parse(shape, "f32", matrices * bytes, region);
    reference::Weight weight = evaluated();
    ASSERT_EQ(static_cast<int64_t>(weight.values.size()),
              matrices * rows * columns);
    std::vector<std::byte> expected(matrices * bytes);
    for (int64_t i = 0; i < matrices; ++i) {
      packFloats(
          NumberFormat::F32, {rows, columns},
          std::span(weight.values).subspan(i * rows * columns, rows * columns),
          std::span(expected).subspan(i * bytes, bytes));
    }
    for (int threads : {1, 3}) {
      EXPECT_TRUE(write(threads) == expected) << threads << " threads";
    }
  }

  test::TemporaryDirectory directory;
  std::minstd_rand random{7};
  std::unique_ptr<Checkpoint> checkpoint;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(LatentWeights, TakenRowsKeepTheirBlocks) {
  // A stack of the value rows, 24 to 44 of each head's 44.
  int64_t bytes = layout::packedWeightBytes(NumberFormat::Q4_0, 20, 32);
  parse("[4, 20, 32]", "q4_0", 4 * bytes, R"mlir(
    %w = lm.load_param @kv : !lm.weight<[176, 32], q4_0>
    %r = lm.take_rows %w {heads = 4 : i64, begin = 24 : i64} : !lm.weight<[176, 32], q4_0> -> !lm.weight<[4, 20, 32], q4_0>)mlir");
  std::span<const std::byte> stored = checkpoint->find("kv")->bytes;
  int64_t rowBytes = storedRowBytes(NumberFormat::Q4_0, 32);
  std::vector<std::byte> expected(4 * bytes);
  for (int64_t head = 0; head < 4; ++head) {
    packStored(NumberFormat::Q4_0, {20, 32},
               stored.subspan((head * 44 + 24) * rowBytes, 20 * rowBytes),
               std::span(expected).subspan(head * bytes, bytes));
  }
  EXPECT_TRUE(write(2) == expected);
}

TEST_F(LatentWeights, TakenRowsOfAMatrixAreReorderedAsOneMatrix) {
  expectInterpreters("[32, 64]", 1, 32, 64, R"mlir(
    %w = lm.load_param @q : !lm.weight<[128, 64], q4_0>
    %t = lm.take_rows %w {heads = 4 : i64, begin = 24 : i64} : !lm.weight<[128, 64], q4_0> -> !lm.weight<[32, 64], q4_0>
    %u = lm.unpermute_rotary %t {head_dim = 8 : i64} : !lm.weight<[32, 64], q4_0>
    %r = lm.convert_weight %u : !lm.weight<[32, 64], q4_0> -> !lm.weight<[32, 64], f32>)mlir");
}

TEST_F(LatentWeights, StacksAreTakenOfReorderedAndScaledRows) {
  expectInterpreters("[4, 8, 64]", 4, 8, 64, R"mlir(
    %w = lm.load_param @q : !lm.weight<[128, 64], q4_0>
    %u = lm.unpermute_rotary %w {head_dim = 32 : i64} : !lm.weight<[128, 64], q4_0>
    %a = lm.affine_weight %u {scale = 3.0 : f64, offset = 0.25 : f64} : !lm.weight<[128, 64], q4_0> -> !lm.weight<[128, 64], f32>
    %r = lm.take_rows %a {heads = 4 : i64, begin = 3 : i64} : !lm.weight<[128, 64], f32> -> !lm.weight<[4, 8, 64], f32>)mlir");
}

TEST_F(LatentWeights, TakenRowsOfABias) {
  parse("[96]", "f32", 384, R"mlir(
    %w = lm.load_param @bias : !lm.weight<[128], f32>
    %r = lm.take_rows %w {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[128], f32> -> !lm.weight<[96], f32>)mlir");
  reference::Weight weight = evaluated();
  std::vector<std::byte> content = write(1);
  ASSERT_EQ(content.size(), weight.values.size() * 4);
  EXPECT_EQ(std::memcmp(content.data(), weight.values.data(), content.size()),
            0);
}

TEST_F(LatentWeights, FoldedKeysAreTheInterpreters) {
  // Heads' rows meet within a supertile.
  expectInterpreters("[128, 64]", 1, 128, 64, R"mlir(
    %w = lm.load_param @q : !lm.weight<[128, 64], q4_0>
    %kv = lm.load_param @kv : !lm.weight<[176, 32], q4_0>
    %q = lm.take_rows %w {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[128, 64], q4_0> -> !lm.weight<[4, 24, 64], q4_0>
    %k = lm.take_rows %kv {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[176, 32], q4_0> -> !lm.weight<[4, 24, 32], q4_0>
    %r = lm.fold_key %q, %k : !lm.weight<[4, 24, 64], q4_0>, !lm.weight<[4, 24, 32], q4_0> -> !lm.weight<[128, 64], f32>)mlir");
}

TEST_F(LatentWeights, FoldedKeysOfAStoredStackAndOfRoundedQueries) {
  expectInterpreters("[128, 64]", 1, 128, 64, R"mlir(
    %w = lm.load_param @q : !lm.weight<[128, 64], q4_0>
    %b = lm.convert_weight %w : !lm.weight<[128, 64], q4_0> -> !lm.weight<[128, 64], bf16>
    %k = lm.load_param @k : !lm.weight<[4, 24, 32], q4_0>
    %q = lm.take_rows %b {heads = 4 : i64, begin = 8 : i64} : !lm.weight<[128, 64], bf16> -> !lm.weight<[4, 24, 64], bf16>
    %r = lm.fold_key %q, %k : !lm.weight<[4, 24, 64], bf16>, !lm.weight<[4, 24, 32], q4_0> -> !lm.weight<[128, 64], f32>)mlir");
}

TEST_F(LatentWeights, FoldedValuesAreTheInterpreters) {
  expectInterpreters("[70, 128]", 1, 70, 128, R"mlir(
    %o = lm.load_param @o : !lm.weight<[70, 80], bf16>
    %kv = lm.load_param @kv : !lm.weight<[176, 32], q4_0>
    %v = lm.take_rows %kv {heads = 4 : i64, begin = 24 : i64} : !lm.weight<[176, 32], q4_0> -> !lm.weight<[4, 20, 32], q4_0>
    %r = lm.fold_value %o, %v : !lm.weight<[70, 80], bf16>, !lm.weight<[4, 20, 32], q4_0> -> !lm.weight<[70, 128], f32>)mlir");
}

TEST_F(LatentWeights, FoldsAreRoundedOnce) {
  int64_t bytes = layout::packedWeightBytes(NumberFormat::Int8Row, 70, 128);
  const char region[] = R"mlir(
    %o = lm.load_param @o : !lm.weight<[70, 80], bf16>
    %kv = lm.load_param @kv : !lm.weight<[176, 32], q4_0>
    %v = lm.take_rows %kv {heads = 4 : i64, begin = 24 : i64} : !lm.weight<[176, 32], q4_0> -> !lm.weight<[4, 20, 32], q4_0>
    %f = lm.fold_value %o, %v : !lm.weight<[70, 80], bf16>, !lm.weight<[4, 20, 32], q4_0> -> !lm.weight<[70, 128], f32>
    )mlir";
  parse("[70, 128]", "f32",
        layout::packedWeightBytes(NumberFormat::F32, 70, 128),
        absl::StrCat(region, "%r = lm.convert_weight %f : !lm.weight<[70, "
                             "128], f32> -> !lm.weight<[70, 128], f32>"));
  reference::Weight weight = evaluated();
  std::vector<std::byte> expected(bytes);
  packFloats(NumberFormat::Int8Row, {70, 128}, weight.values, expected);
  parse("[70, 128]", "int8", bytes,
        absl::StrCat(region, "%r = lm.convert_weight %f : !lm.weight<[70, "
                             "128], f32> -> !lm.weight<[70, 128], int8>"));
  EXPECT_TRUE(write(2) == expected);
}

TEST_F(LatentWeights, RowsOfAProductAreNotMoved) {
  parse("[128, 64]", "f32",
        layout::packedWeightBytes(NumberFormat::F32, 128, 64), R"mlir(
    %w = lm.load_param @q : !lm.weight<[128, 64], q4_0>
    %k = lm.load_param @k : !lm.weight<[4, 24, 32], q4_0>
    %q = lm.take_rows %w {heads = 4 : i64, begin = 0 : i64} : !lm.weight<[128, 64], q4_0> -> !lm.weight<[4, 24, 64], q4_0>
    %f = lm.fold_key %q, %k : !lm.weight<[4, 24, 64], q4_0>, !lm.weight<[4, 24, 32], q4_0> -> !lm.weight<[128, 64], f32>
    %r = lm.unpermute_rotary %f {head_dim = 8 : i64} : !lm.weight<[128, 64], f32>)mlir");
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  WeightPlacement placement(*module);
  EXPECT_TRUE(llvm::failed(planWeights(*module, placement, *checkpoint)));
  EXPECT_NE(message.find("moves rows of a product of weights"),
            std::string::npos)
      << message;
}

} // namespace
} // namespace quire
