// Writes a small random checkpoint whose layers alternate between a window and
// the whole context (Gemma 3's form): two cache groups, pages that fall out of
// the window. No size is a multiple of 16, so that kernels have remainders.

#ifndef QUIRE_TESTS_E2E_WINDOWEDMODEL_H
#define QUIRE_TESTS_E2E_WINDOWEDMODEL_H

#include "tests/support/SafetensorsWriter.h"
#include "tests/support/TemporaryDirectory.h"

#include <cmath>
#include <random>

namespace quire::e2e {

inline void writeWindowedModel(const test::TemporaryDirectory &folder) {
  folder.write("config.json", R"({
    "architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text",
    "vocab_size": 259, "hidden_size": 72, "intermediate_size": 100,
    "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 20, "query_pre_attn_scalar": 20,
    "sliding_window": 12, "sliding_window_pattern": 2,
    "max_position_embeddings": 512, "rms_norm_eps": 1e-06,
    "hidden_activation": "gelu_pytorch_tanh", "rope_theta": 1000000.0,
    "rope_local_base_freq": 10000.0, "tie_word_embeddings": true})");
  std::mt19937 random(7);
  test::SafetensorsWriter writer;
  auto add = [&](const std::string &name, int64_t rows, int64_t columns,
                 double size) {
    std::normal_distribution<float> normal(0.0f, float(size));
    std::vector<float> values(size_t(rows * columns));
    for (float &value : values) {
      value = normal(random);
    }
    writer.floats(name + ".weight",
                  rows == 1 ? std::vector<int64_t>{columns}
                            : std::vector<int64_t>{rows, columns},
                  values);
  };
  auto product = [&](const std::string &name, int64_t rows, int64_t columns) {
    add(name, rows, columns, 1.3 / std::sqrt(double(columns)));
  };
  add("model.embed_tokens", 259, 72, 0.06);
  for (int layer = 0; layer < 4; ++layer) {
    std::string prefix = "model.layers." + std::to_string(layer) + ".";
    for (const char *norm :
         {"input_layernorm", "post_attention_layernorm",
          "pre_feedforward_layernorm", "post_feedforward_layernorm"}) {
      add(prefix + norm, 1, 72, 0.3);
    }
    add(prefix + "self_attn.q_norm", 1, 20, 0.3);
    add(prefix + "self_attn.k_norm", 1, 20, 0.3);
    product(prefix + "self_attn.q_proj", 80, 72);
    product(prefix + "self_attn.k_proj", 40, 72);
    product(prefix + "self_attn.v_proj", 40, 72);
    product(prefix + "self_attn.o_proj", 72, 80);
    product(prefix + "mlp.gate_proj", 100, 72);
    product(prefix + "mlp.up_proj", 100, 72);
    product(prefix + "mlp.down_proj", 72, 100);
  }
  add("model.norm", 1, 72, 0.3);
  writer.write(folder.file("model.safetensors"));
}

} // namespace quire::e2e

#endif
