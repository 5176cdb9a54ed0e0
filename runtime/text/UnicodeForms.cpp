#include "runtime/text/UnicodeForms.h"
#include "runtime/text/Utf8.h"

#include "utf8proc.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

namespace quire {

static bool isAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  });
}

static int combiningClass(utf8proc_int32_t point) {
  return utf8proc_get_property(point)->combining_class;
}

/// Stable sort by class of one run of marks.
static void sortRun(std::span<utf8proc_int32_t> run) {
  if (run.size() < 2) {
    return;
  }
  std::vector<std::tuple<int, size_t, utf8proc_int32_t>> keys;
  for (size_t i = 0; i < run.size(); ++i) {
    keys.emplace_back(combiningClass(run[i]), i, run[i]);
  }
  std::ranges::sort(keys);
  for (size_t i = 0; i < run.size(); ++i) {
    run[i] = std::get<2>(keys[i]);
  }
}

/// Canonical order: each run of combining marks, stably by class.
static void orderMarks(std::vector<utf8proc_int32_t> &points) {
  for (size_t i = 0; i < points.size();) {
    size_t end = i;
    while (end < points.size() && combiningClass(points[end]) != 0) {
      ++end;
    }
    sortRun({points.data() + i, end - i});
    i = end + 1;
  }
}

std::string normalizeUnicode(std::string_view text, UnicodeForm form) {
  if (isAscii(text)) {
    return std::string(text);
  }
  bool compat = form == UnicodeForm::Nfkc || form == UnicodeForm::Nfkd;
  bool compose = form == UnicodeForm::Nfc || form == UnicodeForm::Nfkc;
  auto options = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compat ? UTF8PROC_COMPAT : 0));
  std::vector<utf8proc_int32_t> points;
  points.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    Utf8Step step = nextUtf8(rest);
    rest.remove_prefix(step.length);
    utf8proc_int32_t parts[32]; // the longest decomposition has 18
    int boundClass = 0;
    utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(step.point),
                                parts, 32, options, &boundClass);
    if (count < 0 || count > 32) {
      parts[0] = static_cast<utf8proc_int32_t>(step.point);
      count = 1;
    }
    points.insert(points.end(), parts, parts + count);
  }
  orderMarks(points);
  if (compose) {
    utf8proc_ssize_t count = utf8proc_normalize_utf32(
        points.data(), static_cast<utf8proc_ssize_t>(points.size()),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    points.resize(static_cast<size_t>(std::max<utf8proc_ssize_t>(count, 0)));
  }
  std::string out;
  out.reserve(text.size());
  for (utf8proc_int32_t point : points) {
    appendUtf8(out, static_cast<char32_t>(point));
  }
  return out;
}

std::string lowercaseUnicode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Utf8Step step = nextUtf8(text);
    text.remove_prefix(step.length);
    if (step.point == 0x130) { // the one letter that lowers to two
      out += "i\xCC\x87";
      continue;
    }
    appendUtf8(out, static_cast<char32_t>(utf8proc_tolower(
                        static_cast<utf8proc_int32_t>(step.point))));
  }
  return out;
}

std::string stripMarks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Utf8Step step = nextUtf8(text);
    auto category =
        utf8proc_category(static_cast<utf8proc_int32_t>(step.point));
    if (category != UTF8PROC_CATEGORY_MN && category != UTF8PROC_CATEGORY_MC &&
        category != UTF8PROC_CATEGORY_ME) {
      out += text.substr(0, step.length);
    }
    text.remove_prefix(step.length);
  }
  return out;
}

} // namespace quire
