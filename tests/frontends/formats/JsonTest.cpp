#include "frontends/formats/Json.h"
#include "tests/support/TemporaryDirectory.h"

#include "nlohmann/json.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace quire;
using testing::AllOf;
using testing::HasSubstr;

namespace {

std::string problemOf(std::string_view text, const JsonLimits &limits = {}) {
  auto parsed = parseJson(text, "x.json", limits);
  return parsed.ok() ? "" : std::string(parsed.status().message());
}

std::string repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST(Json, KeepsEveryKindOfValue) {
  std::string_view text =
      R"({"a": [1, -2, 0.5, true, null, "\u00e9"], "b": {"c": [[]], "d": {}},
          "e": 18446744073709551615})";
  auto parsed = parseJson(text, "x.json");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, nlohmann::json::parse(text));
}

TEST(Json, AnyValueMayStandAlone) {
  EXPECT_EQ(parseJson("3", "x.json")->get<int>(), 3);
  EXPECT_TRUE(parseJson("[]", "x.json")->is_array());
}

TEST(Json, SaysWhereItIsWrong) {
  EXPECT_THAT(problemOf("{\"a\": }"),
              AllOf(HasSubstr("'x.json'"), HasSubstr("byte 7")));
  for (std::string_view bad :
       {"", "{", "[1,]", "{\"a\":1,}", "nul", "1 2", "{a:1}", "\"\\ud800\"",
        "[1e999]", "\"\xFF\"", "\"\n\"", "[NaN]", "// c\n1"}) {
    EXPECT_THAT(problemOf(bad), HasSubstr("'x.json'")) << bad;
  }
}

TEST(Json, MessagesQuoteNoUnboundedInput) {
  EXPECT_LT(problemOf("[" + std::string(100000, 'x')).size(), 300u);
  EXPECT_LT(problemOf("[\"" + std::string(100000, 'x')).size(), 300u);
}

TEST(Json, RefusesDuplicateKeys) {
  EXPECT_THAT(problemOf(R"({"a": 1, "b": {"a": 2}, "a": 3})"),
              HasSubstr("duplicate key 'a'"));
}

TEST(Json, RefusesDepthWithoutRecursing) {
  EXPECT_EQ(problemOf(repeat("[", 64) + repeat("]", 64)), "");
  EXPECT_THAT(problemOf(repeat("[", 65) + repeat("]", 65)),
              HasSubstr("nested deeper than 64"));
  EXPECT_THAT(problemOf(repeat("[", 5'000'000)), HasSubstr("nested deeper"));
  EXPECT_THAT(problemOf(repeat("{\"a\":", 2'000'000)),
              HasSubstr("nested deeper"));
}

TEST(Json, RefusesSizeAndNumberOfValues) {
  JsonLimits limits;
  limits.maxBytes = 10;
  EXPECT_THAT(problemOf("[1,2,3,4,5]", limits), HasSubstr("11 bytes of JSON"));
  limits = {};
  limits.maxValues = 4;
  EXPECT_EQ(problemOf("[1,2,3]", limits), "");
  EXPECT_THAT(problemOf("[1,2,3,4]", limits), HasSubstr("more than 4 values"));
  EXPECT_THAT(problemOf(R"({"a":1,"b":2})", limits),
              HasSubstr("more than 4 values"));
}

TEST(Json, ReadsFiles) {
  test::TemporaryDirectory directory;
  auto read = readJson(directory.write("c.json", "{\"a\": 1}"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)["a"], 1);
  EXPECT_EQ(readJson(directory.file("d.json")).status().code(),
            absl::StatusCode::kNotFound);
}

class JsonFields : public testing::Test {
protected:
  nlohmann::json object = nlohmann::json::parse(R"({
    "int": 30, "float": 0.5, "big": 9223372036854775808, "text": "t",
    "flag": true, "none": null, "object": {"a": 1}, "array": [1]})");
};

TEST_F(JsonFields, GivesWhatIsThere) {
  EXPECT_EQ(*getInt(object, "int"), 30);
  EXPECT_EQ(*getFloat(object, "float"), 0.5);
  EXPECT_EQ(*getFloat(object, "int"), 30.0);
  EXPECT_EQ(*getBool(object, "flag"), true);
  EXPECT_EQ(*getString(object, "text"), "t");
  EXPECT_EQ((**getObject(object, "object"))["a"], 1);
  EXPECT_EQ((*getArray(object, "array"))->size(), 1u);
  EXPECT_EQ(**findInt(object, "int"), 30);
}

TEST_F(JsonFields, AbsentAndNullAreAlike) {
  for (const char *field : {"absent", "none"}) {
    EXPECT_THAT(std::string(getInt(object, field).status().message()),
                HasSubstr(field));
    EXPECT_EQ(*findInt(object, field), std::nullopt);
    EXPECT_EQ(*findFloat(object, field), std::nullopt);
    EXPECT_EQ(*findBool(object, field), std::nullopt);
    EXPECT_EQ(*findString(object, field), std::nullopt);
    EXPECT_EQ(*findObject(object, field), nullptr);
    EXPECT_EQ(*findArray(object, field), nullptr);
  }
}

TEST_F(JsonFields, RefusesOtherTypesByName) {
  auto message = [](const auto &found) {
    return std::string(found.status().message());
  };
  EXPECT_THAT(message(getInt(object, "float")),
              AllOf(HasSubstr("'float'"), HasSubstr("fraction")));
  EXPECT_THAT(message(getInt(object, "text")), HasSubstr("'text'"));
  EXPECT_THAT(message(getInt(object, "flag")), HasSubstr("boolean"));
  EXPECT_THAT(message(getFloat(object, "text")), HasSubstr("'text'"));
  EXPECT_THAT(message(getBool(object, "int")), HasSubstr("'int'"));
  EXPECT_THAT(message(getString(object, "int")), HasSubstr("'int'"));
  EXPECT_THAT(message(getObject(object, "array")), HasSubstr("'array'"));
  EXPECT_THAT(message(findArray(object, "object")), HasSubstr("'object'"));
  EXPECT_THAT(message(getInt(nlohmann::json(3), "int")), HasSubstr("'int'"));
}

TEST_F(JsonFields, RefusesIntegersOutOfRange) {
  EXPECT_EQ(getInt(object, "big").status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(*getInt(object, "int", {1, 30}), 30);
  auto found = getInt(object, "int", {1, 29});
  EXPECT_THAT(std::string(found.status().message()),
              AllOf(HasSubstr("'int' is 30"), HasSubstr("1 to 29")));
}

} // namespace
