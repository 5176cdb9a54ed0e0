// "normalizer" and "pre_tokenizer" of a tokenizer.json.

#include "frontends/formats/Json.h"
#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "runtime/text/Importers.h"

#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"

#include <optional>

namespace quire {

using nlohmann::json;

namespace {

// Fields with a default. A wrong type is as good as absent only to the
// reference's own files, so it is refused.
absl::Status getBoolOr(const json &step, std::string_view name, bool &value) {
  auto found = findBool(step, name);
  if (found.ok() && *found) {
    value = **found;
  }
  return found.status();
}

absl::Status getStringOr(const json &step, std::string_view name,
                         std::string &value) {
  auto found = findString(step, name);
  if (found.ok() && *found) {
    value = std::move(**found);
  }
  return found.status();
}

absl::Status firstError(std::initializer_list<absl::Status> list) {
  for (const absl::Status &status : list) {
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status unknown(std::string_view what, std::string_view type) {
  return absl::UnimplementedError(
      strCat("its ", what, " \"", printable(type), "\" is not supported"));
}

/// {"String": s} or {"Regex": r}.
absl::Status readPattern(const json &step, TextStep &out) {
  auto pattern = getObject(step, "pattern");
  if (!pattern.ok()) {
    return pattern.status();
  }
  bool regex = (*pattern)->contains("Regex");
  auto text = getString(**pattern, regex ? "Regex" : "String");
  if (text.ok()) {
    out.pattern = std::move(*text);
    out.flags |= regex ? StepRegex : 0;
  }
  return text.status();
}

absl::Status readBehavior(const json &step, SplitBehavior &out) {
  std::string name = "Isolated";
  if (absl::Status status = getStringOr(step, "behavior", name); !status.ok()) {
    return status;
  }
  constexpr std::pair<std::string_view, SplitBehavior> Names[] = {
      {"Isolated", SplitBehavior::Isolated},
      {"Removed", SplitBehavior::Removed},
      {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
      {"MergedWithNext", SplitBehavior::MergedWithNext},
      {"Contiguous", SplitBehavior::Contiguous}};
  for (const auto &[known, behavior] : Names) {
    if (name == known) {
      out = behavior;
      return absl::OkStatus();
    }
  }
  return unknown("split behaviour", name);
}

// The character classes of Rust's standard library and of its regex crate,
// which the reference uses for these steps instead of Oniguruma.
constexpr std::string_view Punctuation = R"([$+<=>^`|~\p{P}])";
constexpr std::string_view WordsOrSymbols =
    R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9}]+)"
    R"(|[^\s\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9}]+)";

absl::Status readMetaspace(const json &step, TextStep &out) {
  out.kind = static_cast<uint8_t>(PreTokenizerKind::Metaspace);
  out.content = "\u2581";
  bool prefix = true, split = true;
  std::string scheme;
  absl::Status status =
      firstError({getStringOr(step, "replacement", out.content),
                  getBoolOr(step, "add_prefix_space", prefix),
                  getStringOr(step, "prepend_scheme", scheme),
                  getBoolOr(step, "split", split)});
  if (!status.ok()) {
    return status;
  }
  if (scheme.empty()) { // older files have only add_prefix_space
    scheme = prefix ? "always" : "never";
  }
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    return unknown("prepend_scheme", scheme);
  }
  out.flags |= scheme == "never" ? 0 : StepPrefix;
  out.flags |= scheme == "first" ? StepPrefixFirst : 0;
  out.flags |= split ? StepSplit : 0;
  out.pattern = out.content;
  out.behavior = SplitBehavior::MergedWithNext;
  return absl::OkStatus();
}

absl::Status readByteLevel(const json &step, TokenizerData &data,
                           TextStep &out) {
  out.kind = static_cast<uint8_t>(PreTokenizerKind::ByteLevel);
  bool prefix = true, regex = true;
  absl::Status status = firstError({getBoolOr(step, "add_prefix_space", prefix),
                                    getBoolOr(step, "use_regex", regex)});
  out.flags = (prefix ? StepPrefix : 0) | (regex ? StepRegex : 0);
  data.byteLevel = true;
  return status;
}

void setRegex(TextStep &out, std::string_view pattern) {
  out.flags |= StepRegex;
  out.pattern = pattern;
}

absl::Status readSplitStep(std::string_view type, const json &step,
                           TextStep &out) {
  absl::Status status;
  if (type == "Split") {
    bool invert = false;
    status =
        firstError({readPattern(step, out), readBehavior(step, out.behavior),
                    getBoolOr(step, "invert", invert)});
    out.flags |= invert ? StepInvert : 0;
  } else if (type == "Digits") {
    bool individual = false;
    status = getBoolOr(step, "individual_digits", individual);
    setRegex(out, R"(\p{N})");
    out.behavior =
        individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous;
  } else if (type == "Punctuation") {
    setRegex(out, Punctuation);
    status = readBehavior(step, out.behavior);
  } else if (type == "Whitespace") {
    setRegex(out, WordsOrSymbols);
    out.flags |= StepInvert;
    out.behavior = SplitBehavior::Removed;
  } else if (type == "WhitespaceSplit") {
    setRegex(out, R"(\s)");
    out.behavior = SplitBehavior::Removed;
  } else if (type == "CharDelimiterSplit") {
    auto text = getString(step, "delimiter");
    out.pattern = text.value_or("");
    out.behavior = SplitBehavior::Removed;
    status = text.status();
  } else {
    status = unknown("pre-tokenizer", type);
  }
  return status;
}

using ReadStep = absl::Status (*)(std::string_view type, const json &step,
                                  TokenizerData &data);

/// One step, none, or a "Sequence" of them in its field `list`.
absl::Status readSteps(const json &step, std::string_view list, ReadStep read,
                       TokenizerData &data) {
  if (step.is_null()) {
    return absl::OkStatus();
  }
  auto type = getString(step, "type");
  if (!type.ok()) {
    return type.status();
  }
  if (*type != "Sequence") {
    return read(*type, step, data);
  }
  auto steps = getArray(step, list);
  if (!steps.ok()) {
    return steps.status();
  }
  for (const json &item : **steps) {
    absl::Status status = readSteps(item, list, read, data);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status readPreTokenizerStep(std::string_view type, const json &step,
                                  TokenizerData &data) {
  if (data.byteLevel) {
    // Later steps would see the byte alphabet instead of the text.
    return unknown("pre-tokenizer after ByteLevel", type);
  }
  TextStep out;
  out.kind = static_cast<uint8_t>(PreTokenizerKind::Split);
  absl::Status status = type == "Metaspace"   ? readMetaspace(step, out)
                        : type == "ByteLevel" ? readByteLevel(step, data, out)
                                              : readSplitStep(type, step, out);
  data.preTokenizer.push_back(std::move(out));
  return status;
}

absl::Status readNormalizerFields(NormalizerKind kind, const json &step,
                                  TextStep &out) {
  switch (kind) {
  case NormalizerKind::Strip: {
    bool left = true, right = true;
    absl::Status status = firstError({getBoolOr(step, "strip_left", left),
                                      getBoolOr(step, "strip_right", right)});
    out.flags = (left ? StepLeft : 0) | (right ? StepRight : 0);
    return status;
  }
  case NormalizerKind::Prepend:
    return getStringOr(step, "prepend", out.content);
  case NormalizerKind::Replace:
    return firstError(
        {readPattern(step, out), getStringOr(step, "content", out.content)});
  case NormalizerKind::Precompiled: {
    auto text = getString(step, "precompiled_charsmap");
    if (text.ok() && !absl::Base64Unescape(*text, &out.pattern)) {
      return absl::InvalidArgumentError(
          "its precompiled_charsmap is not base64");
    }
    out.flags = StepGraphemes;
    return text.status();
  }
  default:
    return absl::OkStatus();
  }
}

absl::Status readNormalizerStep(std::string_view type, const json &step,
                                TokenizerData &data) {
  constexpr std::pair<std::string_view, NormalizerKind> Names[] = {
      {"NFC", NormalizerKind::Nfc},
      {"NFD", NormalizerKind::Nfd},
      {"NFKC", NormalizerKind::Nfkc},
      {"NFKD", NormalizerKind::Nfkd},
      {"Lowercase", NormalizerKind::Lowercase},
      {"StripAccents", NormalizerKind::StripAccents},
      {"Strip", NormalizerKind::Strip},
      {"Prepend", NormalizerKind::Prepend},
      {"Replace", NormalizerKind::Replace},
      {"Precompiled", NormalizerKind::Precompiled}};
  for (const auto &[name, kind] : Names) {
    if (type == name) {
      TextStep out;
      out.kind = static_cast<uint8_t>(kind);
      absl::Status status = readNormalizerFields(kind, step, out);
      data.normalizer.push_back(std::move(out));
      return status;
    }
  }
  return unknown("normalizer", type);
}

} // namespace

absl::Status readJsonPreTokenizer(const json &step, TokenizerData &data) {
  return readSteps(step, "pretokenizers", readPreTokenizerStep, data);
}

absl::Status readJsonNormalizer(const json &step, TokenizerData &data) {
  return readSteps(step, "normalizers", readNormalizerStep, data);
}

} // namespace quire
