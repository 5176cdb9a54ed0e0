#include "runtime/text/Normalizer.h"
#include "runtime/text/PieceText.h"
#include "runtime/text/UnicodeForms.h"
#include "runtime/text/Utf8.h"

namespace quire {

absl::StatusOr<Normalizer> Normalizer::create(std::vector<TextStep> rules) {
  Normalizer normalizer;
  for (TextStep &rule : rules) {
    Step step{std::move(rule), std::nullopt, std::nullopt};
    auto kind = static_cast<NormalizerKind>(step.rule.kind);
    if (kind > NormalizerKind::Precompiled) {
      return absl::InvalidArgumentError("unknown normalizer step");
    }
    if (kind == NormalizerKind::Replace && (step.rule.flags & StepRegex)) {
      absl::StatusOr<Regex> regex = Regex::compile(step.rule.pattern);
      if (!regex.ok()) {
        return regex.status();
      }
      step.regex = std::move(*regex);
    }
    if (kind == NormalizerKind::Precompiled) {
      absl::StatusOr<CharsMap> map = CharsMap::parse(step.rule.pattern);
      if (!map.ok()) {
        return map.status();
      }
      step.map = std::move(*map);
    }
    normalizer.steps.push_back(std::move(step));
  }
  return normalizer;
}

static absl::Status replaceRegex(const Regex &regex, const std::string &content,
                                 std::string &text) {
  std::vector<TextRange> ranges;
  if (absl::Status status = regex.partition(text, ranges); !status.ok()) {
    return status;
  }
  std::string out;
  for (const TextRange &range : ranges) {
    out += range.match ? std::string_view(content)
                       : std::string_view(text).substr(range.begin,
                                                       range.end - range.begin);
  }
  text = std::move(out);
  return absl::OkStatus();
}

static std::string strip(std::string_view text, uint32_t flags) {
  while ((flags & StepLeft) && !text.empty()) {
    Utf8Step step = nextUtf8(text);
    if (!isWhiteSpace(step.point)) {
      break;
    }
    text.remove_prefix(step.length);
  }
  while ((flags & StepRight) && !text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && (text[start] & 0xC0) == 0x80) {
      --start;
    }
    if (!isWhiteSpace(nextUtf8(text.substr(start)).point)) {
      break;
    }
    text.remove_suffix(text.size() - start);
  }
  return std::string(text);
}

absl::Status Normalizer::applyStep(const Step &step, std::string &text) const {
  const TextStep &rule = step.rule;
  switch (static_cast<NormalizerKind>(rule.kind)) {
  case NormalizerKind::Nfc:
    text = normalizeUnicode(text, UnicodeForm::Nfc);
    break;
  case NormalizerKind::Nfd:
    text = normalizeUnicode(text, UnicodeForm::Nfd);
    break;
  case NormalizerKind::Nfkc:
    text = normalizeUnicode(text, UnicodeForm::Nfkc);
    break;
  case NormalizerKind::Nfkd:
    text = normalizeUnicode(text, UnicodeForm::Nfkd);
    break;
  case NormalizerKind::Lowercase:
    text = lowercaseUnicode(text);
    break;
  case NormalizerKind::StripAccents:
    text = stripMarks(text);
    break;
  case NormalizerKind::Strip:
    text = strip(text, rule.flags);
    break;
  case NormalizerKind::Prepend:
    if (!text.empty()) {
      text.insert(0, rule.content);
    }
    break;
  case NormalizerKind::Replace:
    if (step.regex) {
      return replaceRegex(*step.regex, rule.content, text);
    }
    if (!rule.pattern.empty()) {
      text = replaceAll(text, rule.pattern, rule.content);
    }
    break;
  case NormalizerKind::Precompiled:
    text = step.map->apply(text, rule.flags & StepGraphemes);
    break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Normalizer::apply(std::string text) const {
  for (const Step &step : steps) {
    if (absl::Status status = applyStep(step, text); !status.ok()) {
      return status;
    }
  }
  return text;
}

} // namespace quire
