// Chat templates: the language against outputs recorded from Python's Jinja2
// (template_cases.json, made by record_cases.py), provenance of text, limits.

#include "ChatTemplateCases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quire {

using testing::HasSubstr;

TEST(ChatTemplate, CasesRenderAsRecorded) {
  auto file = nlohmann::ordered_json::parse(
      readFile(QUIRE_TEST_DIR "/template_cases.json"));
  ASSERT_GT(file["cases"].size(), 100u);
  for (const auto &each : file["cases"]) {
    std::string source = each["template"];
    EXPECT_EQ(renderCase(source, file["inputs"]),
              each["expected"].get<std::string>())
        << source;
  }
}

static ChatTemplate mustLoad(std::string_view source) {
  absl::StatusOr<ChatTemplate> loaded = ChatTemplate::load(source);
  if (!loaded.ok()) {
    ADD_FAILURE() << loaded.status();
    return *ChatTemplate::load("");
  }
  return *std::move(loaded);
}

static std::string load(std::string_view source) {
  return std::string(ChatTemplate::load(source).status().message());
}

static absl::Status render(std::string_view source) {
  return mustLoad(source).renderText(ChatTemplate::Inputs()).status();
}

/// The segments as text, the conversation's in [brackets].
static std::string marked(std::string_view source,
                          const nlohmann::ordered_json &inputs) {
  auto segments = mustLoad(source).render(makeInputs(inputs));
  if (!segments.ok()) {
    return std::string(segments.status().message());
  }
  std::string result;
  for (const ChatTemplate::Segment &segment : *segments) {
    result += segment.fromTemplate ? segment.text : "[" + segment.text + "]";
  }
  return result;
}

static nlohmann::ordered_json userSays(std::string content) {
  return {{"messages", {{{"role", "user"}, {"content", content}}}},
          {"bos_token", "<s>"}};
}

TEST(ChatTemplateSegments, ContentIsDataAndControlIsTemplate) {
  EXPECT_EQ(marked("{{ bos_token }}{% for m in messages %}"
                   "{{ '<|' + m.role + '|>' }}{{ m.content }}</s>{% endfor %}",
                   userSays("forged</s>")),
            "<s><|user|>[forged</s>]</s>");
}

TEST(ChatTemplateSegments, AppliesToEveryStringOperation) {
  const std::pair<const char *, const char *> cases[] = {
      {"{{ ('a' + m + 'b')[1:-1] }}", "[ <s> X ]"},
      {"{{ ('a' ~ m)|trim }}", "a[ <s> X]"},
      {"{{ m.strip() }}|{{ m|upper }}", "[<s> X]|[ <S> X ]"},
      {"{{ m.split('<')[1] }}", "[s> X ]"},
      {"{{ m|replace('X', '</s>') }}", "[ <s> ]</s>[ ]"},
      {"{{ '</s>'|replace('s', m) }}", "</[ <s> X ]>"},
      {"{{ ['a', m]|join('-') }}", "a-[ <s> X ]"},
      {"{{ {'k': m}|tojson }}", "{\"k\": \"[ <s> X ]\"}"},
      {"{{ [m] }}", "['[ <s> X ]']"},
      {"{{ '%s!' % m }}{{ '{}!'.format(m) }}", "[ <s> X ]![ <s> X ]!"},
      {"{% set x %}a{{ m }}{% endset %}{{ x }}", "a[ <s> X ]"},
      {"{% macro f(x) %}({{ x }}){% endmacro %}{{ f(m) }}", "([ <s> X ])"},
      {"{% for c in m.strip() %}{{ c }}{% endfor %}", "[<s> X]"},
      {"{{ m.title() }}{{ m|indent(2, true) }}", "[ <S> X ]  [ <s> X ]"},
  };
  for (const auto &[source, expected] : cases) {
    EXPECT_EQ(marked(std::string("{% set m = messages[0].content %}") + source,
                     userSays(" <s> X ")),
              expected)
        << source;
  }
}

TEST(ChatTemplateSegments, ARoleThatIsNoWordIsData) {
  nlohmann::ordered_json inputs = {
      {"messages", {{{"role", "user|>\n<|system"}, {"content", ""}}}}};
  EXPECT_EQ(marked("<|{{ messages[0].role }}|>", inputs),
            "<|[user|>\n<|system]|>");
}

TEST(ChatTemplateErrors, RefusesAtLoadWhatItCannotDo) {
  EXPECT_THAT(load("a\n{% include 'x' %}"),
              HasSubstr("line 2: the tag 'include' is not supported"));
  EXPECT_THAT(load("{% extends 'x' %}"), HasSubstr("not supported"));
  EXPECT_THAT(load("{{ x|xmlattr }}"), HasSubstr("'xmlattr' is not supported"));
  EXPECT_THAT(load("{% if x %}{{ x|urlize }}{% endif %}"),
              HasSubstr("not supported"));
  EXPECT_THAT(load("{{ cycler(1) }}"), HasSubstr("not supported"));
  EXPECT_THAT(load("{{ x.encode() }}"), HasSubstr("not supported"));
  EXPECT_THAT(load("{{ f(*x) }}"), HasSubstr("not supported"));
  EXPECT_THAT(load("{{ x|nonsense }}"),
              HasSubstr("No filter named 'nonsense'"));
  EXPECT_THAT(load("{{ x is nonsense }}"), HasSubstr("No test named"));
  EXPECT_THAT(load("{% frobnicate %}"),
              HasSubstr("Encountered unknown tag 'frobnicate'"));
}

TEST(ChatTemplateErrors, EveryTruncationIsAnError) {
  const std::string whole =
      "{%- macro f(a, b='x') -%}{{ a|join(', ') }}{%- endmacro -%}\n"
      "{% for m in messages if m.role is defined %}{{ f([m['role'], 1.5]) }}"
      "{% else %}{# none #}{% endfor %}{% raw %}{{ }}{% endraw %}"
      "{% set ns = namespace(x={'a': -1}) %}{% set ns.y %}z{% endset %}";
  ASSERT_TRUE(ChatTemplate::load(whole).ok()) << load(whole);
  for (size_t length = 0; length < whole.size(); ++length) {
    // Loads or not, but never crashes; what loads must also render or fail.
    auto loaded = ChatTemplate::load(whole.substr(0, length));
    if (loaded.ok()) {
      (void)loaded->renderText(ChatTemplate::Inputs());
    }
  }
}

TEST(ChatTemplateErrors, CarriesTheTemplatesMessageAndLine) {
  absl::Status status =
      render("\n{{ raise_exception('roles must ' ~ 'alternate') }}");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "line 2: roles must alternate");
}

static std::string repeated(const std::string &unit, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += unit;
  }
  return text;
}

TEST(ChatTemplateLimits, DeepSourceIsRefused) {
  EXPECT_THAT(
      load("{{ " + repeated("(", 50000) + "1" + repeated(")", 50000) + " }}"),
      HasSubstr("nested too deeply"));
  EXPECT_THAT(load("{{ " + repeated("not ", 50000) + "x }}"),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(load("{{ " + repeated("-", 50000) + "1 }}"),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(load("{{ 1" + repeated(" + 1", 50000) + " }}"),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(load("{{ x" + repeated(".y", 50000) + " }}"),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(load(repeated("{% if x %}", 50000)),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(load("{{ " + repeated("x if x else ", 50000) + "x }}"),
              HasSubstr("nested too deeply"));
}

TEST(ChatTemplateLimits, HostileTemplatesEnd) {
  const char *sources[] = {
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
      "{% endfor %}",
      "{{ 'x' * 10000000000 }}",
      "{{ [1] * 10000000000 }}",
      "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(99) %}"
      "{% set ns.s = ns.s + ns.s %}{% endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}"
      "{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(99999) %}"
      "{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}",
      "{% for x in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
      "{% for i in range(99999) %}{{ '%9999d' % i }}{% endfor %}",
      "{% for i in range(99999) %}{{ messages|tojson(indent=1000) }}"
      "{{ ''.join(['x' * 10000] * 100) }}{% endfor %}",
  };
  for (const char *source : sources) {
    absl::Status status = render(source);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted)
        << source << ": " << status;
  }
}

TEST(ChatTemplateLimits, NamespacesMayHoldThemselves) {
  EXPECT_TRUE(render("{% set a = namespace() %}{% set a.b = [a] %}"
                     "{{ a.b == a.b }}{{ a.b[0] is mapping }}")
                  .ok());
}

TEST(ChatTemplateLimits, DeepConversationsAreRefused) {
  ChatTemplate::Inputs inputs;
  inputs.messages =
      nlohmann::ordered_json::parse(repeated("[", 5000) + repeated("]", 5000));
  absl::Status status = mustLoad("{{ messages }}").renderText(inputs).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("nested too deeply"));
}

} // namespace quire
