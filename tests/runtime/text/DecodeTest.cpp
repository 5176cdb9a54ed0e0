// Streaming text out: characters split over tokens and invalid bytes (TOK-1),
// stop strings (TOK-2).

#include "runtime/text/IncrementalDecoder.h"
#include "runtime/text/StopMatcher.h"

#include "gtest/gtest.h"

namespace quire {
namespace {

const std::string Mark = "\xEF\xBF\xBD";

/// A byte-level tokenizer whose pieces are the 256 bytes.
std::unique_ptr<Tokenizer> bytesTokenizer() {
  TokenizerData data;
  data.byteLevel = true;
  for (int byte = 0; byte < 256; ++byte) {
    data.pieces.push(std::string(1, static_cast<char>(byte)));
    data.types.push_back(PieceType::Normal);
  }
  auto tokenizer = Tokenizer::fromData(data);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return std::move(*tokenizer);
}

std::vector<TokenId> bytesOf(std::string_view text) {
  std::vector<TokenId> ids;
  for (char c : text) {
    ids.push_back(static_cast<unsigned char>(c));
  }
  return ids;
}

TEST(IncrementalDecoder, Tok1InvalidBytesBecomeMarksByMaximalSubparts) {
  auto tokenizer = bytesTokenizer();
  struct {
    std::string bytes, text;
  } cases[] = {{"\xED\xA0\x80", Mark + Mark + Mark},
               {"\xF0\x80\x80"
                "A",
                Mark + Mark + Mark + "A"},
               {"\xE2\x80"
                "A",
                Mark + "A"},
               {"\x80", Mark},
               {"\xF0\x9F", Mark},
               {"\xF0\x9F\x98\x8A", "\U0001F60A"}};
  for (const auto &each : cases) {
    std::vector<TokenId> ids = bytesOf(each.bytes);
    EXPECT_EQ(tokenizer->decode(ids), each.text);
    IncrementalDecoder decoder(*tokenizer);
    std::string streamed;
    for (TokenId id : ids) {
      streamed += decoder.push(id);
    }
    EXPECT_EQ(streamed + decoder.finish(), each.text);
  }
}

TEST(IncrementalDecoder, Tok1NeverSplitsACharacterWhereverTheTextIsCut) {
  auto tokenizer = bytesTokenizer();
  std::vector<TokenId> ids =
      bytesOf("a\u00e9\u4f60\U0001F60A\u0301\xE2\x82z\xF0\x9F");
  for (size_t length = 0; length <= ids.size(); ++length) {
    IncrementalDecoder decoder(*tokenizer);
    std::string streamed;
    for (size_t i = 0; i < length; ++i) {
      std::string chunk = decoder.push(ids[i]);
      bool atStart = chunk.empty() || (chunk[0] & 0xC0) != 0x80;
      EXPECT_TRUE(atStart);
      streamed += chunk;
    }
    streamed += decoder.finish();
    EXPECT_EQ(streamed, tokenizer->decode({ids.data(), length}));
  }
}

TEST(IncrementalDecoder, SpaceBeforeTheFirstWordStaysWhenTextContinues) {
  auto tokenizer =
      Tokenizer::fromDirectory(std::string(QUIRE_TEST_DATA) + "/golden/llama2");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  auto ids = (*tokenizer)->encode("the river", {.addSpecial = false});
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ((*tokenizer)->decode(*ids), "the river");
  EXPECT_EQ((*tokenizer)->decode(*ids, {.continues = true}), " the river");
}

/// Feeds `text` in chunks of so many bytes.
std::string run(const std::vector<std::string> &stops, std::string_view text,
                size_t chunk, bool *stopped = nullptr) {
  StopMatcher matcher(stops);
  std::string out;
  for (size_t at = 0; at < text.size(); at += chunk) {
    out += matcher.push(text.substr(at, chunk));
  }
  out += matcher.finish();
  if (stopped) {
    *stopped = matcher.stopped();
  }
  return out;
}

TEST(StopMatcher, Tok2EndsExactlyBeforeTheMatchForAllChunks) {
  const std::string text = "alpha beta gamma end";
  struct {
    std::vector<std::string> stops;
    std::string expected;
  } cases[] = {
      {{"beta gamma"}, "alpha "},
      {{"gam"}, "alpha beta "},
      {{"a g"}, "alpha bet"},
      {{"xyz"}, text},
      {{"mma end", "ta ga"}, "alpha be"},     // the later-listed ends first
      {{"gam", "beta gamma"}, "alpha beta "}, // complete first, not begun first
      {{"eta", "beta"}, "alpha "},            // same end: the longer
      {{""}, text},
      {{" end of"}, text}, // held at the end, then released
  };
  for (const auto &each : cases) {
    for (size_t chunk = 1; chunk <= text.size(); ++chunk) {
      bool stopped = false;
      EXPECT_EQ(run(each.stops, text, chunk, &stopped), each.expected);
      EXPECT_EQ(stopped, each.expected != text);
    }
  }
}

TEST(StopMatcher, Tok2OverlapsAndWideCharacters) {
  EXPECT_EQ(run({"aab"}, "aaab", 1), "a");
  EXPECT_EQ(run({"abab"}, "abaabab", 1), "aba");
  EXPECT_EQ(run({"\u4f60\u597d"}, "x\u4f60\u4f60\u597dy", 3), "x\u4f60");
}

TEST(StopMatcher, Tok2HandsOutNothingThatAStopMayStillClaim) {
  StopMatcher matcher({"beta gamma"});
  EXPECT_EQ(matcher.push("alpha be"), "alpha ");
  EXPECT_EQ(matcher.push("ta ga"), "");
  EXPECT_EQ(matcher.push("s"), "beta gas");
  EXPECT_EQ(matcher.push("b"), "");
  EXPECT_EQ(matcher.finish(), "b");
}

} // namespace
} // namespace quire
