// How the byte-level tokenizers that GGUF files name cut text into words. Each
// row lists the expressions that are applied in turn to what the ones before
// left whole, as the model's own tokenizer.json states them. To add one: a row
// with the name the converter writes, and a golden test.

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/text/Importers.h"
#include "runtime/text/PreTokenizer.h"

#include <algorithm>
#include <initializer_list>

namespace quire {

namespace {

constexpr std::string_view Digit = R"(\p{N})";

constexpr std::string_view Llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view Qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view Qwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Mistral's Tekken and OpenAI's o200k differ in contractions and digits.
constexpr std::string_view Tekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?)"
    R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view Gpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view DigitTriples = R"(\p{N}{1,3})";
constexpr std::string_view DeepSeekCjk = R"([一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view DeepSeek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"
    R"(|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view FalconPunctuation = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr std::string_view ThreeDigits = R"([0-9][0-9][0-9])";
constexpr std::string_view DefaultPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view Digits = R"(\p{N}+)";
constexpr std::string_view Bloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";

enum PreTokenizerTraits : unsigned {
  IgnoreMerges = 1,
  BosByDefault = 2,
  ComposeFirst = 4, // NFC before anything else
};

struct Row {
  std::initializer_list<std::string_view> names;
  std::initializer_list<std::string_view> patterns;
  unsigned traits = 0;
};

const Row Rows[] = {
    {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "gigachat",
      "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "mellum", "modern-bert",
      "exaone4", "granite-docling"},
     {Gpt2Pattern}},
    {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral",
      "lfm2"},
     {Llama3},
     IgnoreMerges | BosByDefault},
    {{"dbrx", "smaug-bpe", "chatglm-bpe", "glm4"}, {Llama3}},
    {{"qwen2", "megrez"}, {Qwen2}, ComposeFirst},
    {{"deepseek-r1-qwen", "stablelm2", "hunyuan", "solar-open"}, {Qwen2}},
    {{"qwen35"}, {Qwen35}, ComposeFirst},
    {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone",
      "minerva-7b"},
     {Digit, Gpt2Pattern}},
    {{"deepseek-v3", "hunyuan-dense"}, {DigitTriples, DeepSeekCjk, DeepSeek3}},
    {{"tekken"}, {Tekken}, IgnoreMerges | BosByDefault},
    {{"gpt-4o", "llama4"}, {Gpt4o}},
    {{"falcon"}, {FalconPunctuation, Gpt2Pattern, ThreeDigits}},
    {{"bloom", "poro-chat", "gpt3-finnish"}, {Bloom}},
    {{"viking"}, {Bloom, Digit}},
    {{"default"}, {DefaultPunctuation, Gpt2Pattern, Digits, ThreeDigits}},
};

} // namespace

absl::StatusOr<bool> applyGgufPreTokenizer(std::string_view name,
                                           TokenizerData &data) {
  for (const Row &row : Rows) {
    if (std::ranges::find(row.names, name) == row.names.end()) {
      continue;
    }
    for (std::string_view pattern : row.patterns) {
      TextStep step;
      step.kind = static_cast<uint8_t>(PreTokenizerKind::Split);
      step.flags = StepRegex;
      step.pattern = pattern;
      data.preTokenizer.push_back(std::move(step));
    }
    if (row.traits & ComposeFirst) {
      TextStep step;
      step.kind = static_cast<uint8_t>(NormalizerKind::Nfc);
      data.normalizer.push_back(std::move(step));
    }
    data.ignoreMerges = row.traits & IgnoreMerges;
    return (row.traits & BosByDefault) != 0;
  }
  return absl::UnimplementedError(strCat(
      "the file's tokenizer cuts text by a rule named \"", printable(name),
      "\", which is not known here; use the model's Hugging Face "
      "directory, whose tokenizer.json states the rule"));
}

} // namespace quire
