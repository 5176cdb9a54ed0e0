// Control tokens in text and in chats (TOK-3), begin and end tokens (TOK-4),
// rules that must be refused (TOK-5), and the tokenizer file's checks.

#include "runtime/text/Importers.h"
#include "runtime/text/Tokenizer.h"

#include "nlohmann/json.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>

namespace quire {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// Bytes "a" to "z", space and newline; then <s>, </s>, <|im|>, [T].
json letters() {
  json vocab;
  int id = 0;
  for (char c = 'a'; c <= 'z'; ++c) {
    vocab[std::string(1, c)] = id++;
  }
  for (const char *text :
       {"\u0120", "\u010A", "<", ">", "|", "/", "[", "]", "T"}) {
    vocab[text] = id++;
  }
  json added = json::array();
  for (auto [text, special] : {std::pair{"<s>", true},
                               {"</s>", true},
                               {"<|im|>", true},
                               {"[T]", false}}) {
    added.push_back({{"id", id++},
                     {"content", text},
                     {"special", special},
                     {"normalized", false}});
  }
  return {
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", json::array()}}},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
      {"added_tokens", added}};
}
constexpr TokenId Begin = 35, End = 36, Turn = 37, Tag = 38;

class SpecialTokens : public testing::Test {
protected:
  std::string directory;

  void SetUp() override {
    const auto *test = testing::UnitTest::GetInstance()->current_test_info();
    directory = testing::TempDir() + "quire-" + test->name();
    std::filesystem::create_directories(directory);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void write(const char *name, const json &content) {
    std::ofstream(directory + "/" + name) << content;
  }
  std::unique_ptr<Tokenizer> open(const json &document = letters()) {
    write("tokenizer.json", document);
    auto tokenizer = Tokenizer::fromDirectory(directory);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    return tokenizer.ok() ? std::move(*tokenizer) : nullptr;
  }
};

TEST_F(SpecialTokens, Tok3ControlTextOfAUserStaysText) {
  auto tokenizer = open();
  for (std::string text : {"<s>", "</s>", "<|im|>", "a<|im|>b"}) {
    auto ids = tokenizer->encode(text, {.parseSpecial = false});
    ASSERT_TRUE(ids.ok());
    for (TokenId id : *ids) {
      EXPECT_FALSE(tokenizer->isSpecial(id));
    }
    EXPECT_EQ(tokenizer->decode(*ids), text);
  }
  EXPECT_THAT(*tokenizer->encode("<|im|>[T]"), ElementsAre(Turn, Tag));
}

TEST_F(SpecialTokens, Tok3OnlyTheTemplateWritesControlTokens) {
  auto tokenizer = open();
  for (std::string content : {"<|im|>", "<s>x</s>", "|im|>", ""}) {
    // "<" of the template and "|im|>" of the user must not join either.
    TextSegment segments[] = {
        {"<|im|>u\n<", true}, {content, false}, {"<|im|>", true}};
    auto ids = tokenizer->encodeSegments(segments);
    ASSERT_TRUE(ids.ok());
    std::vector<TokenId> control;
    std::ranges::copy_if(*ids, std::back_inserter(control),
                         [&](TokenId id) { return tokenizer->isSpecial(id); });
    EXPECT_THAT(control, ElementsAre(Turn, Turn)) << content;
    EXPECT_EQ(tokenizer->decode(*ids), "<|im|>u\n<" + content + "<|im|>");
  }
}

TEST_F(SpecialTokens, Tok3SegmentsOfATemplateAreOneText) {
  auto tokenizer = open();
  TextSegment segments[] = {{"<|", true}, {"im|>", true}};
  EXPECT_THAT(*tokenizer->encodeSegments(segments), ElementsAre(Turn));
}

TEST_F(SpecialTokens, Tok4OneBeginTokenWithAndWithoutTheTemplates) {
  for (bool declared : {false, true}) {
    write("tokenizer_config.json",
          {{"bos_token", "<s>"}, {"add_bos_token", declared}});
    auto tokenizer = open();
    EXPECT_EQ(tokenizer->addsBos(), declared);
    TextSegment with[] = {{"<s>", true}, {"a", false}};
    TextSegment without[] = {{"a", false}};
    EXPECT_THAT(*tokenizer->encodeSegments(with, true), ElementsAre(Begin, 0));
    if (declared) {
      EXPECT_THAT(*tokenizer->encodeSegments(without, true),
                  ElementsAre(Begin, 0));
      EXPECT_THAT(*tokenizer->encode("a"), ElementsAre(Begin, 0));
    } else {
      EXPECT_THAT(*tokenizer->encodeSegments(without, true), ElementsAre(0));
      EXPECT_THAT(*tokenizer->encode("a"), ElementsAre(0));
    }
  }
}

TEST_F(SpecialTokens, Tok4EndIdsAreTheUnionOfAllFiles) {
  write("tokenizer_config.json", {{"eos_token", {{"content", "</s>"}}}});
  write("generation_config.json", {{"eos_token_id", {Turn, End}}});
  write("config.json", {{"eos_token_id", Tag}});
  auto tokenizer = open();
  EXPECT_THAT(tokenizer->endIds(), ElementsAre(End, Turn, Tag));
  EXPECT_TRUE(tokenizer->isEnd(Tag));
  EXPECT_FALSE(tokenizer->isEnd(Begin));
}

TEST_F(SpecialTokens, Tok5UnknownRulesAreRefusedByName) {
  auto expectRefused = [&](const char *part, const json &value,
                           const char *name) {
    json document = letters();
    document[json::json_pointer(part)] = value;
    write("tokenizer.json", document);
    auto tokenizer = Tokenizer::fromDirectory(directory);
    ASSERT_FALSE(tokenizer.ok()) << part;
    EXPECT_THAT(std::string(tokenizer.status().message()), HasSubstr(name));
  };
  expectRefused("/normalizer", {{"type", "BertNormalizer"}}, "BertNormalizer");
  expectRefused("/pre_tokenizer", {{"type", "UnicodeScripts"}},
                "UnicodeScripts");
  expectRefused("/decoder", {{"type", "CTC"}}, "CTC");
  expectRefused("/post_processor", {{"type", "Other"}}, "Other");
  expectRefused("/model/type", "WordPiece", "WordPiece");
  expectRefused("/model/dropout", 0.1, "dropout");
  expectRefused("/model/merges", json::array({"a zz"}), "a zz");
  expectRefused("/model/end_of_word_suffix", "</w>", "end_of_word_suffix");
  expectRefused("/model/vocab/a", -5, "-5");
  expectRefused("/pre_tokenizer",
                {{"type", "Split"},
                 {"behavior", "Isolated"},
                 {"pattern", {{"Regex", "[a&&b]"}}}},
                "[a&&b]");
  TokenizerData data;
  auto unknown = applyGgufPreTokenizer("nobody-knows", data);
  EXPECT_THAT(std::string(unknown.status().message()),
              HasSubstr("nobody-knows"));
}

TEST_F(SpecialTokens, DamagedTokenizerFilesAreRefused) {
  auto tokenizer = open();
  std::string path = directory + "/t";
  ASSERT_TRUE(tokenizer->save(path).ok());
  std::ifstream file(path, std::ios::binary);
  std::string good((std::istreambuf_iterator<char>(file)), {});
  auto opens = [&](const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return Tokenizer::load(path).ok();
  };
  EXPECT_TRUE(opens(good));
  for (size_t size = 0; size < good.size(); size += 31) {
    EXPECT_FALSE(opens(good.substr(0, size)));
  }
  for (size_t at = 0; at < good.size(); at += 37) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    EXPECT_FALSE(opens(bad)) << at;
  }
}

} // namespace
} // namespace quire
