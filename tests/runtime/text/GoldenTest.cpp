// Ids and decoded text on thousands of hostile strings against the reference
// implementations, for small tokenizers with the chains of rules that models
// use (TOK-5). make_golden.py writes the files and explains their form; on a
// failure, `make_golden.py NAME INDEX` prints what was expected.

#include "frontends/formats/Json.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Utf8.h"

#include "nlohmann/json.hpp"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>

namespace quire {
namespace {

const std::string Golden = std::string(QUIRE_TEST_DATA) + "/golden/";

/// The same strings as make_golden.py's, from the same seed.
class Generator {
public:
  Generator(uint64_t seed, const nlohmann::json &material)
      : state(seed), fragments(material["fragments"]),
        ranges(material["ranges"]) {}

  std::string string() {
    std::string out;
    for (uint64_t parts = 1 + next(14); parts > 0; --parts) {
      uint64_t kind = next(10);
      if (kind < 7) {
        out += fragments[next(fragments.size())].get<std::string>();
      } else if (kind == 7) {
        const auto &range = ranges[next(ranges.size())];
        uint64_t low = range[0], high = range[1];
        appendUtf8(out, static_cast<char32_t>(low + next(high - low + 1)));
      } else if (kind == 8) {
        char c = static_cast<char>(32 + next(95));
        out.append(1 + next(7), c);
      } else {
        out.append(next(5), ' ');
        out.append(next(3), '\n');
      }
    }
    return out;
  }

private:
  uint64_t next(uint64_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 20) % bound;
  }
  uint64_t state;
  const nlohmann::json &fragments, &ranges;
};

/// 16 bits of FNV-1a.
uint16_t hash(std::string_view bytes) {
  uint64_t value = 0xCBF29CE484222325u;
  for (char c : bytes) {
    value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  }
  return static_cast<uint16_t>(value >> 32);
}

class GoldenTokenizer : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTokenizer, AgreesWithTheReference) {
  std::string directory = Golden + GetParam();
  auto material = readJson(Golden + "strings.json");
  ASSERT_TRUE(material.ok()) << material.status();
  auto tokenizer = Tokenizer::fromDirectory(directory);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  // SentencePiece reads no control tokens in text; its golden hashes cover the
  // ids alone.
  bool sentencePiece = GetParam().starts_with("sentencepiece");

  std::ifstream file(directory + "/expected.bin", std::ios::binary);
  uint64_t seed = 0;
  uint32_t count = 0;
  file.read(reinterpret_cast<char *>(&seed), sizeof seed);
  file.read(reinterpret_cast<char *>(&count), sizeof count);
  ASSERT_GE(count, 3000u);
  Generator generator(seed, *material);
  size_t wrong = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint16_t expected = 0;
    ASSERT_TRUE(
        file.read(reinterpret_cast<char *>(&expected), sizeof expected));
    std::string text = generator.string();
    auto ids = (*tokenizer)->encode(text, {.parseSpecial = !sentencePiece});
    ASSERT_TRUE(ids.ok()) << ids.status();
    std::string bytes(reinterpret_cast<const char *>(ids->data()),
                      ids->size() * sizeof(TokenId));
    std::string decoded = (*tokenizer)->decode(*ids);
    bytes += sentencePiece ? "" : decoded;
    if (hash(bytes) != expected && ++wrong <= 3) {
      ADD_FAILURE() << "make_golden.py " << GetParam() << " " << i << "\n"
                    << text << "\n"
                    << testing::PrintToString(*ids) << "\n"
                    << decoded;
    }
  }
  EXPECT_EQ(wrong, 0u);
}

// A quadratic merge would take hours here, and the test's time limit.
TEST(LongWords, AMegabyteWithoutABorderIsEncoded) {
  for (const char *name : {"gpt2", "llama2"}) {
    auto tokenizer = Tokenizer::fromDirectory(Golden + name);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    for (char c : {'a', ' ', '\n', '1'}) {
      std::string text(1 << 20, c);
      auto ids = (*tokenizer)->encode(text, {.addSpecial = false});
      ASSERT_TRUE(ids.ok()) << ids.status();
      EXPECT_EQ((*tokenizer)->decode(*ids), text);
    }
  }
}

std::vector<std::string> goldenNames() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(Golden)) {
    if (entry.is_directory()) {
      names.push_back(entry.path().filename());
    }
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Chains, GoldenTokenizer,
                         testing::ValuesIn(goldenNames()),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace quire
