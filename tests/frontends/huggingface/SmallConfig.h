// A config.json of four small layers, for tests that change some fields of it.

#ifndef QUIRE_TESTS_FRONTENDS_HUGGINGFACE_SMALLCONFIG_H
#define QUIRE_TESTS_FRONTENDS_HUGGINGFACE_SMALLCONFIG_H

#include "nlohmann/json.hpp"

namespace quire::test {

inline nlohmann::json smallConfig(const char *className,
                                  const nlohmann::json &fields) {
  nlohmann::json config = {{"architectures", {className}},
                           {"vocab_size", 512},
                           {"hidden_size", 64},
                           {"intermediate_size", 96},
                           {"num_hidden_layers", 4},
                           {"num_attention_heads", 4},
                           {"max_position_embeddings", 256}};
  config.update(fields);
  return config;
}

} // namespace quire::test

#endif
