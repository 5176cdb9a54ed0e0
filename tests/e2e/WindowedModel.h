// Writes a small random checkpoint whose layers alternate between a window and
// the whole context (Gemma 3's form): two cache groups, pages that fall out of
// the window. No size is a multiple of 16, so that kernels have remainders.

#ifndef QUIRE_TESTS_E2E_WINDOWEDMODEL_H
#define QUIRE_TESTS_E2E_WINDOWEDMODEL_H

#include "tests/e2e/RandomTensors.h"
#include "tests/support/TemporaryDirectory.h"

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
  RandomTensors tensors;
  auto norm = [&](const std::string &name, int64_t features) {
    tensors.add(name + ".weight", {features}, 0, 0.3); // less one
  };
  auto product = [&](const std::string &name, int64_t rows, int64_t columns) {
    tensors.product(name + ".weight", {rows, columns});
  };
  tensors.add("model.embed_tokens.weight", {259, 72}, 0, 0.06);
  for (int layer = 0; layer < 4; ++layer) {
    std::string prefix = "model.layers." + std::to_string(layer) + ".";
    for (const char *name :
         {"input_layernorm", "post_attention_layernorm",
          "pre_feedforward_layernorm", "post_feedforward_layernorm"}) {
      norm(prefix + name, 72);
    }
    norm(prefix + "self_attn.q_norm", 20);
    norm(prefix + "self_attn.k_norm", 20);
    product(prefix + "self_attn.q_proj", 80, 72);
    product(prefix + "self_attn.k_proj", 40, 72);
    product(prefix + "self_attn.v_proj", 40, 72);
    product(prefix + "self_attn.o_proj", 72, 80);
    product(prefix + "mlp.gate_proj", 100, 72);
    product(prefix + "mlp.up_proj", 100, 72);
    product(prefix + "mlp.down_proj", 72, 100);
  }
  norm("model.norm", 72);
  tensors.write(folder.file("model.safetensors"));
}

} // namespace quire::e2e

#endif
