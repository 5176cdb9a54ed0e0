#include "runtime/text/PreTokenizer.h"
#include "runtime/text/PieceText.h"

namespace quire {

absl::StatusOr<PreTokenizer> PreTokenizer::create(std::vector<TextStep> rules) {
  PreTokenizer result;
  for (TextStep &rule : rules) {
    Step step{std::move(rule), std::nullopt};
    auto kind = static_cast<PreTokenizerKind>(step.rule.kind);
    if (kind > PreTokenizerKind::ByteLevel) {
      return absl::InvalidArgumentError("unknown pre-tokenizer step");
    }
    if (step.rule.flags & StepRegex) {
      absl::StatusOr<Regex> regex =
          Regex::compile(kind == PreTokenizerKind::ByteLevel
                             ? Gpt2Pattern
                             : std::string_view(step.rule.pattern));
      if (!regex.ok()) {
        return regex.status();
      }
      step.regex = std::move(*regex);
    }
    result.steps.push_back(std::move(step));
  }
  return result;
}

/// Matches of a plain string, in Regex::partition's form.
static void partitionLiteral(std::string_view text, std::string_view literal,
                             std::vector<TextRange> &out) {
  size_t covered = 0;
  if (!literal.empty()) {
    for (size_t at; (at = text.find(literal, covered)) != text.npos;) {
      if (covered < at) {
        out.push_back({covered, at, false});
      }
      covered = at + literal.size();
      out.push_back({at, covered, true});
    }
  }
  if (covered < text.size()) {
    out.push_back({covered, text.size(), false});
  }
}

/// Joins neighbours as the behaviour says; parts is a partition.
static void joinParts(std::vector<TextRange> &parts, SplitBehavior behavior) {
  std::vector<TextRange> out;
  bool previousMatch = false;
  auto append = [&](const TextRange &part, bool join) {
    if (join && !out.empty()) {
      out.back().end = part.end;
    } else {
      out.push_back(part);
    }
  };
  switch (behavior) {
  case SplitBehavior::Isolated:
    return;
  case SplitBehavior::Removed:
    std::erase_if(parts, [](const TextRange &part) { return part.match; });
    return;
  case SplitBehavior::Contiguous:
    for (const TextRange &part : parts) {
      append(part, part.match == previousMatch);
      previousMatch = part.match;
    }
    break;
  case SplitBehavior::MergedWithPrevious:
    for (const TextRange &part : parts) {
      append(part, part.match && !previousMatch);
      previousMatch = part.match;
    }
    break;
  case SplitBehavior::MergedWithNext: // the same, seen from the end
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->match && !previousMatch && !out.empty()) {
        out.back().begin = part->begin;
      } else {
        out.push_back(*part);
      }
      previousMatch = part->match;
    }
    parts.assign(out.rbegin(), out.rend());
    return;
  }
  parts = std::move(out);
}

absl::Status PreTokenizer::split(const Step &step, Words &words) const {
  std::vector<TextRange> out, parts;
  for (const TextRange &word : words.ranges) {
    std::string_view text =
        std::string_view(words.text).substr(word.begin, word.end - word.begin);
    parts.clear();
    if (step.regex) {
      absl::Status status = step.regex->partition(text, parts);
      if (!status.ok()) {
        return status;
      }
    } else {
      partitionLiteral(text, step.rule.pattern, parts);
    }
    if (step.rule.flags & StepInvert) {
      for (TextRange &part : parts) {
        part.match = !part.match;
      }
    }
    joinParts(parts, step.rule.behavior);
    for (const TextRange &part : parts) {
      if (part.begin != part.end) {
        out.push_back({word.begin + part.begin, word.begin + part.end, false});
      }
    }
  }
  words.ranges = std::move(out);
  return absl::OkStatus();
}

/// Rewrites every word: `mark` for spaces (none: kept), and `prefix` in front
/// of those that do not start with it (`onlyFirst`: of the input's first).
static void rewrite(Words &words, std::string_view mark,
                    std::string_view prefix, bool onlyFirst) {
  std::string out;
  out.reserve(words.text.size() + words.text.size() / 4);
  for (TextRange &word : words.ranges) {
    std::string text = words.text.substr(word.begin, word.end - word.begin);
    if (!mark.empty()) {
      text = replaceAll(text, " ", mark);
    }
    bool first = words.atStart && word.begin == 0;
    size_t begin = out.size();
    if (!prefix.empty() && !text.starts_with(prefix) && (first || !onlyFirst)) {
      out += prefix;
    }
    out += text;
    word = {begin, out.size(), false};
  }
  words.text = std::move(out);
}

absl::Status PreTokenizer::apply(Words &words) const {
  words.ranges.clear();
  if (!words.text.empty()) {
    words.ranges.push_back({0, words.text.size(), false});
  }
  for (const Step &step : steps) {
    const TextStep &rule = step.rule;
    bool cut = true;
    switch (static_cast<PreTokenizerKind>(rule.kind)) {
    case PreTokenizerKind::Split:
      break;
    case PreTokenizerKind::Metaspace:
      rewrite(words, rule.content,
              rule.flags & StepPrefix ? std::string_view(rule.content) : "",
              rule.flags & StepPrefixFirst);
      cut = rule.flags & StepSplit;
      break;
    case PreTokenizerKind::ByteLevel:
      if (rule.flags & StepPrefix) {
        rewrite(words, "", " ", /*onlyFirst=*/false);
      }
      cut = rule.flags & StepRegex;
      break;
    }
    if (!cut) {
      continue;
    }
    if (absl::Status status = split(step, words); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

} // namespace quire
