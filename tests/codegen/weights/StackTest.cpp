// A stack of matrices in the weight file: each matrix packed on its own, one
// after the other, wherever the checkpoint keeps them.

#include "codegen/weights/PackWeights.h"
#include "codegen/weights/WriteWeights.h"
#include "ir/rt/Layout.h"
#include "tests/support/SafetensorsWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <fstream>
#include <numeric>

namespace quire {
namespace {

constexpr int64_t kMatrices = 3, kRows = 70, kColumns = 32;

/// Matrix `number` of the stack.
std::vector<float> matrixValues(int64_t number) {
  std::vector<float> values(kRows * kColumns);
  std::iota(values.begin(), values.end(), static_cast<float>(number) * 1e4f);
  return values;
}

std::vector<std::byte> packed(const std::vector<float> &values,
                              NumberFormat format) {
  std::vector<std::byte> bytes(
      layout::packedWeightBytes(format, kRows, kColumns));
  packFloats(format, {kRows, kColumns}, values, bytes);
  return bytes;
}

class Stack : public ::testing::Test {
protected:
  Stack() {
    context.loadDialect<lm::LmDialect, rt::RtDialect>();
    directory.write("config.json", "{}");
    test::SafetensorsWriter writer;
    std::vector<float> whole;
    for (int64_t i = 0; i < kMatrices; ++i) {
      std::vector<float> values = matrixValues(i);
      writer.floats("expert." + std::to_string(i) + ".up", {kRows, kColumns},
                    values);
      // In the whole stack each matrix stands behind other rows.
      whole.resize(whole.size() + 10 * kColumns, -1.0f);
      whole.insert(whole.end(), values.begin(), values.end());
    }
    writer.floats("whole", {kMatrices, 10 + kRows, kColumns}, whole)
        .write(directory.file("model.safetensors"));
    checkpoint = *openCheckpoint(directory.path());
  }

  /// The weight file of one slot that holds the stack in `format`.
  std::vector<std::byte> write(const std::string &param, NumberFormat format) {
    std::string type = "!lm.weight<[3, 70, 32], ";
    std::string name(numberFormatName(format));
    int64_t bytes =
        kMatrices * layout::packedWeightBytes(format, kRows, kColumns);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        param + "rt.weight @w " + name + " [3, 70, 32] bytes " +
            std::to_string(bytes) +
            " layers [] {\n^bb0(%layer: index):\n"
            "%w = lm.load_param @w_param : " +
            type + "f32>\n%q = lm.convert_weight %w : " + type + "f32> -> " +
            type + name + ">\nrt.pack %q : " + type + name + ">\n}",
        &context);
    EXPECT_TRUE(module);
    WeightPlacement placement(*module);
    auto jobs = planWeights(*module, placement, *checkpoint);
    EXPECT_TRUE(llvm::succeeded(jobs));
    std::string path = directory.file("weights");
    auto written = writeWeights(path, *jobs, placement.fileBytes(), {});
    EXPECT_TRUE(written.ok()) << written.status();
    std::vector<std::byte> content(bytes);
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char *>(content.data()), bytes);
    return content;
  }

  void expectMatrices(const std::string &param) {
    for (NumberFormat format : {NumberFormat::F32, NumberFormat::Int8Row}) {
      std::vector<std::byte> content = write(param, format);
      std::vector<std::byte> expected;
      for (int64_t i = 0; i < kMatrices; ++i) {
        std::vector<std::byte> one = packed(matrixValues(i), format);
        expected.insert(expected.end(), one.begin(), one.end());
      }
      EXPECT_TRUE(content == expected) << numberFormatName(format);
    }
  }

  test::TemporaryDirectory directory;
  std::unique_ptr<Checkpoint> checkpoint;
  mlir::MLIRContext context;
};

TEST_F(Stack, TensorPerMatrix) {
  expectMatrices("lm.param @w_param source \"expert.{expert}.up\" "
                 "shape [3, 70, 32] formats [f32]\n");
}

TEST_F(Stack, RowsOfEachMatrixOfOneTensor) {
  expectMatrices("lm.param @w_param source \"whole\" shape [3, 70, 32] "
                 "formats [f32] {row_begin = 10 : i64}\n");
}

} // namespace
} // namespace quire
