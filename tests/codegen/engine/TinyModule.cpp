#include "tests/codegen/engine/TinyModule.h"

#include "tests/support/SafetensorsWriter.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace quire::test {

std::unique_ptr<Checkpoint> tinyCheckpoint(const std::string &directory) {
  SafetensorsWriter writer;
  std::mt19937 generator(7);
  std::normal_distribution<float> normal(0, 0.3f);
  auto add = [&](const std::string &name, const std::vector<int64_t> &shape) {
    int64_t count = 1;
    for (int64_t size : shape) {
      count *= size;
    }
    std::vector<float> values(static_cast<size_t>(count));
    for (float &value : values) {
      value = normal(generator);
    }
    writer.floats(name, shape, values);
  };
  add("embed", {kVocabulary, kFeatures});
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    std::string prefix = "layers." + std::to_string(layer);
    add(prefix + ".norm", {kFeatures});
    add(prefix + ".proj", {kFeatures, kFeatures});
  }
  std::filesystem::create_directory(directory);
  writer.write(directory + "/model.safetensors");
  std::ofstream(directory + "/config.json") << R"({"model_type": "llama"})";
  absl::StatusOr<std::unique_ptr<Checkpoint>> checkpoint =
      openCheckpoint(directory);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  return checkpoint.ok() ? *std::move(checkpoint) : nullptr;
}

// Each layer: x += t; y = norm(x); z = y W^T; t = 0.5 silu(z). The step starts
// with t = 0 and ends with the embedding as head.
std::string tinyModule() {
  return R"mlir(
lm.param @embed source "embed" shape [96, 64] formats [f32]
lm.param @norm source "layers.{}.norm" shape [64] formats [f32] layers 2
lm.param @proj source "layers.{}.proj" shape [64, 64] formats [f32] layers 2

rt.buffer @x f32 rows 8 row_bytes 256 offset 0
rt.buffer @y f32 rows 8 row_bytes 256 offset 2048
rt.buffer @z f32 rows 8 row_bytes 256 offset 4096
rt.buffer @t f32 rows 8 row_bytes 256 offset 6144
rt.buffer @wanted f32 rows 8 row_bytes 256 offset 8192
rt.buffer @logits f32 rows 8 row_bytes 384

rt.weight @table f32 [96, 64] bytes 32768 layers [] {
^bb0(%layer: index):
  %w = lm.load_param @embed : !lm.weight<[96, 64], f32>
  rt.pack %w : !lm.weight<[96, 64], f32>
}
rt.weight @dense.norm f32 [64] bytes 256 layers [0, 1] {
^bb0(%layer: index):
  %w = lm.load_param @norm[%layer] : !lm.weight<[64], f32>
  %n = lm.affine_weight %w {scale = 1.0 : f64, offset = 1.0 : f64} : !lm.weight<[64], f32> -> !lm.weight<[64], f32>
  rt.pack %n : !lm.weight<[64], f32>
}
rt.weight @dense.proj f32 [64, 64] bytes 16384 layers [0, 1] {
^bb0(%layer: index):
  %w = lm.load_param @proj[%layer] : !lm.weight<[64, 64], f32>
  rt.pack %w : !lm.weight<[64, 64], f32>
}

func.func @fused_0(%z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = lm.nonlinearity silu %z : tensor<?x64xf32>
  %1 = lm.scale %0 {by = 0.5 : f64} : tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
func.func @fused_1(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = lm.scale %x {by = 0.0 : f64} : tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

rt.sequence @dense {
  rt.launch "norm" [#rt.part<"rms_norm", {x = @x, delta = @t, weight = @dense.norm, sum = @x, out = @y, quantized = unit, features = 64 : i64, width = 64 : i64, epsilon = 1.0e-5 : f64, group = 0 : i64, rowSet = 0 : i64}>]
  rt.barrier
  rt.launch "proj" [#rt.part<"linear_f32", {activation = @y, weight = @dense.proj, bias = unit, out = @z, inputs = 64 : i64, outputs = 64 : i64, outStride = 64 : i64, rowSet = 0 : i64}>]
  rt.barrier
  rt.launch "silu" [#rt.part<"fused_0", {inputs = [@z], outputs = [@t], rowSet = 0 : i64, tileRows = 2 : i64}>]
  rt.barrier
}
rt.sequence @step {
  rt.launch "embed" [#rt.part<"embed_f32", {weight = @table, out = @x, features = 64 : i64, vocabulary = 96 : i64, scale = 1.0 : f64}>]
  rt.barrier
  rt.launch "start" [#rt.part<"fused_1", {inputs = [@x], outputs = [@t], rowSet = 0 : i64, tileRows = 4 : i64}>]
  rt.barrier
  rt.loop kinds [@dense] which [0, 0] indices [0, 1]
  rt.launch "wanted" [#rt.part<"gather_logit_rows", {x = @x, out = @wanted, features = 64 : i64}>]
  rt.barrier
  rt.launch "head" [#rt.part<"linear_f32", {activation = @wanted, weight = @table, bias = unit, out = @logits, inputs = 64 : i64, outputs = 96 : i64, outStride = 96 : i64, rowSet = 1 : i64}>]
}
)mlir";
}

static std::vector<double> product(const TensorView &weight,
                                   const std::vector<double> &x) {
  std::vector<double> out(static_cast<size_t>(weight.shape[0]));
  const auto *w = reinterpret_cast<const float *>(weight.bytes.data());
  for (double &value : out) {
    for (double input : x) {
      value += static_cast<double>(*w++) * input;
    }
  }
  return out;
}

std::vector<float> tinyLogits(const Checkpoint &checkpoint,
                              const std::vector<int32_t> &tokens,
                              const std::vector<int32_t> &logitRows) {
  const TensorView &embed = *checkpoint.find("embed");
  std::vector<float> logits;
  for (int32_t row : logitRows) {
    const auto *table = reinterpret_cast<const float *>(embed.bytes.data()) +
                        tokens[static_cast<size_t>(row)] * kFeatures;
    std::vector<double> x(table, table + kFeatures);
    std::vector<double> t(kFeatures, 0.0);
    for (int64_t layer = 0; layer < kLayers; ++layer) {
      std::string prefix = "layers." + std::to_string(layer);
      const auto *norm = reinterpret_cast<const float *>(
          checkpoint.find(prefix + ".norm")->bytes.data());
      double squares = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] += t[i];
        squares += x[i] * x[i];
      }
      double rms = std::sqrt(squares / kFeatures + 1e-5);
      std::vector<double> y(x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        y[i] = x[i] / rms * (static_cast<double>(norm[i]) + 1);
      }
      t = product(*checkpoint.find(prefix + ".proj"), y);
      for (double &value : t) {
        value = 0.5 * value / (1 + std::exp(-value));
      }
    }
    for (double logit : product(embed, x)) {
      logits.push_back(static_cast<float>(logit));
    }
  }
  return logits;
}

} // namespace quire::test
