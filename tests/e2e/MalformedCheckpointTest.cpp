// quire-compile on checkpoints that are cut short, damaged or contradictory:
// one clear sentence, exit status 1, quickly, and no engine.

#include "tests/e2e/DamagedCopy.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/Program.h"

#include "gtest/gtest.h"

namespace quire::e2e {
namespace {

class MalformedCheckpointTest : public testing::Test {
protected:
  Outcome compile() {
    return runProgram({kCompiler, model.path(), "-o", output, "--quiet",
                       "--isa", "portable", "--force"},
                      {.seconds = 10});
  }

  void expectRefused(const std::string &what) {
    EXPECT_EQ(faultOf(compile(), 1), "") << what;
    EXPECT_FALSE(std::filesystem::exists(output)) << what;
    std::filesystem::remove_all(output);
  }

  /// Damage that may or may not matter: an engine, or a clean refusal.
  void expectRefusedOrCompiled(const std::string &what) {
    Outcome outcome = compile();
    if (outcome.status != 0) {
      EXPECT_EQ(faultOf(outcome, 1), "") << what;
    }
    EXPECT_EQ(outcome.status == 0, std::filesystem::exists(output)) << what;
    std::filesystem::remove_all(output);
  }

  /// Refused at every one of some lengths, the longest first.
  void expectRefusedWhenCut(const std::string &file,
                            const std::vector<int64_t> &lengths) {
    for (int64_t length : lengths) {
      model.truncate(file, length);
      expectRefused(file + " cut to " + std::to_string(length));
    }
    model.restore(file);
  }

  /// `count` lengths from size - 1 down to 0.
  std::vector<int64_t> evenly(const std::string &file, int64_t count) const {
    std::vector<int64_t> lengths;
    int64_t last = model.sizeOf(file) - 1;
    for (int64_t i = 0; i < count; ++i) {
      lengths.push_back(last - last * i / (count - 1));
    }
    return lengths;
  }

  void replace(const std::string &file, const std::string &what,
               const std::string &by) {
    std::string text = model.read(file);
    size_t place = text.find(what);
    ASSERT_NE(place, std::string::npos) << what;
    model.write(file, text.replace(place, what.size(), by));
  }

  DamagedCopy model{kTinyModel};
  test::TemporaryDirectory folder;
  std::string output = folder.file("engine");
};

TEST_F(MalformedCheckpointTest, CutWeights) {
  expectRefusedWhenCut("model.safetensors", evenly("model.safetensors", 30));
  // The header is in the first kilobytes.
  expectRefusedWhenCut("model.safetensors",
                       {6000, 4097, 4000, 2500, 1000, 500, 120, 64, 33, 20,
                        16,   10,   9,    8,    7,    4,   3,   2,  1,  0});
}

TEST_F(MalformedCheckpointTest, CutText) {
  expectRefusedWhenCut("config.json", {600, 400, 200, 50, 2, 1, 0});
  expectRefusedWhenCut("tokenizer.json", evenly("tokenizer.json", 8));
}

TEST_F(MalformedCheckpointTest, MissingFiles) {
  for (const char *file : {"model.safetensors", "config.json"}) {
    model.remove(file);
    expectRefused(std::string("without ") + file);
    model.restore(file);
  }
}

TEST_F(MalformedCheckpointTest, DamagedHeader) {
  for (int64_t i = 0; i < 40; ++i) {
    int64_t position = i < 8 ? i : 8 + (i - 8) * 137;
    model.flip("model.safetensors", position, 1 << i % 7);
    expectRefusedOrCompiled("bit flipped in byte " + std::to_string(position));
    model.restore("model.safetensors");
  }
}

TEST_F(MalformedCheckpointTest, DamagedTokenizer) {
  for (int64_t i = 0; i < 16; ++i) {
    int64_t position = i * model.sizeOf("tokenizer.json") / 16 + i;
    model.flip("tokenizer.json", position, 1 << i % 7);
    expectRefusedOrCompiled("bit flipped in byte " + std::to_string(position));
    model.restore("tokenizer.json");
  }
}

TEST_F(MalformedCheckpointTest, ConfigurationsThatContradictTheWeights) {
  struct Change {
    const char *from, *to;
  };
  for (Change change : {
           Change{"\"hidden_size\": 192", "\"hidden_size\": 193"},
           Change{"\"hidden_size\": 192", "\"hidden_size\": 0"},
           Change{"\"hidden_size\": 192", "\"hidden_size\": -192"},
           Change{"\"hidden_size\": 192",
                  "\"hidden_size\": 9223372036854775807"},
           Change{"\"hidden_size\": 192", "\"hidden_size\": 1e300"},
           Change{"\"hidden_size\": 192", "\"hidden_size\": \"192\""},
           Change{"\"hidden_size\": 192", "\"hidden_size\": null"},
           Change{"\"num_hidden_layers\": 6", "\"num_hidden_layers\": 7"},
           Change{"\"num_hidden_layers\": 6",
                  "\"num_hidden_layers\": 2147483648"},
           Change{"\"num_attention_heads\": 6", "\"num_attention_heads\": 5"},
           Change{"\"num_attention_heads\": 6", "\"num_attention_heads\": 0"},
           Change{"\"num_key_value_heads\": 2", "\"num_key_value_heads\": 4"},
           Change{"\"head_dim\": 32", "\"head_dim\": 31"},
           Change{"\"vocab_size\": 2048", "\"vocab_size\": 2049"},
           Change{"\"vocab_size\": 2048", "\"vocab_size\": 0"},
           Change{"\"intermediate_size\": 512", "\"intermediate_size\": 511"},
           Change{"\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": \"small\""},
           Change{"\"hidden_act\": \"silu\"", "\"hidden_act\": \"wave\""},
           Change{"\"model_type\": \"llama\"", "\"model_type\": \"nonsuch\""},
           Change{"\"rope_scaling\": null",
                  "\"rope_scaling\": {\"rope_type\": \"nonsuch\"}"},
           Change{"\"rope_scaling\": null", "\"rope_scaling\": []"},
           Change{"\"max_position_embeddings\": 512",
                  "\"max_position_embeddings\": 0"},
       }) {
    replace("config.json", change.from, change.to);
    expectRefused(change.to);
    model.restore("config.json");
  }
}

TEST_F(MalformedCheckpointTest, DeepJson) {
  for (const char *file : {"config.json", "tokenizer.json"}) {
    model.write(file, std::string(200000, '['));
    expectRefused(std::string(file) + " of brackets");
    std::string nested;
    for (int i = 0; i < 100000; ++i) {
      nested += "{\"a\":";
    }
    model.write(file, nested);
    expectRefused(std::string(file) + " of objects");
    model.restore(file);
  }
}

} // namespace
} // namespace quire::e2e
