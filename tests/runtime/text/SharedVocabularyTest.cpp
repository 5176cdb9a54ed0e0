// Ids for the vocabularies of real models against the expected ids that come
// with them: NAME.gguf, NAME.gguf.inp, NAME.gguf.out.

#include "frontends/formats/GgufFile.h"
#include "runtime/text/Tokenizer.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace quire {
namespace {

std::string sharedDirectory() {
  const char *path = std::getenv("QUIRE_SHARED");
  return std::string(path ? path : QUIRE_SHARED_DEFAULT) + "/tokenizers/";
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> readInputs(const std::string &path) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::string text = readFile(path);
  std::vector<std::string> inputs;
  for (size_t at = 0, end; (end = text.find(separator, at)) != text.npos;
       at = end + separator.size()) {
    inputs.push_back(text.substr(at, end - at));
  }
  return inputs;
}

std::vector<std::vector<TokenId>> readIds(const std::string &path) {
  std::vector<std::vector<TokenId>> lists;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    lists.emplace_back(std::istream_iterator<TokenId>(numbers),
                       std::istream_iterator<TokenId>());
  }
  return lists;
}

class SharedVocabulary : public testing::TestWithParam<const char *> {};

TEST_P(SharedVocabulary, GivesTheExpectedIds) {
  std::string path = sharedDirectory() + GetParam();
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is not here; set QUIRE_SHARED";
  }
  auto file = GgufFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  auto tokenizer = Tokenizer::fromGguf(**file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  std::vector<std::string> inputs = readInputs(path + ".inp");
  std::vector<std::vector<TokenId>> expected = readIds(path + ".out");
  ASSERT_GT(inputs.size(), 20u);
  ASSERT_EQ(inputs.size(), expected.size());

  // The same from the file that an engine keeps.
  std::string saved = testing::TempDir() + GetParam() + ".tok";
  ASSERT_TRUE((*tokenizer)->save(saved).ok());
  auto loaded = Tokenizer::load(saved);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const Tokenizer *each : {tokenizer->get(), loaded->get()}) {
      auto ids = each->encode(inputs[i], {.addSpecial = false});
      ASSERT_TRUE(ids.ok()) << ids.status();
      EXPECT_EQ(*ids, expected[i]) << "input " << i << ": " << inputs[i];
      EXPECT_EQ(each->decode(*ids), inputs[i]);
    }
  }
  std::filesystem::remove(saved);
}

INSTANTIATE_TEST_SUITE_P(
    Vocabularies, SharedVocabulary,
    testing::Values("ggml-vocab-gpt-2.gguf", "ggml-vocab-llama-bpe.gguf",
                    "ggml-vocab-llama-spm.gguf", "ggml-vocab-qwen2.gguf"),
    [](const auto &info) {
      std::string name = info.param;
      std::erase_if(name, [](char c) {
        return !std::isalnum(static_cast<unsigned char>(c));
      });
      return name;
    });

} // namespace
} // namespace quire
