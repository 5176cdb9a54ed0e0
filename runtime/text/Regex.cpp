#include "runtime/text/Regex.h"
#include "frontends/formats/StrCat.h"
#include "runtime/text/Utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include "pcre2.h"

namespace quire {

struct Regex::Impl {
  pcre2_code *code = nullptr;
  ~Impl() { pcre2_code_free(code); }
};

Regex::Regex(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Regex::Regex(Regex &&) noexcept = default;
Regex &Regex::operator=(Regex &&) noexcept = default;
Regex::~Regex() = default;

static std::string errorText(int code) {
  PCRE2_UCHAR buffer[200];
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char *>(buffer);
}

absl::StatusOr<Regex> Regex::compile(std::string_view pattern) {
  absl::StatusOr<std::string> translated = translateRegex(pattern);
  if (!translated.ok()) {
    return translated.status();
  }
  auto impl = std::make_unique<Impl>();
  std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context *)>
      context(pcre2_compile_context_create(nullptr),
              pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  impl->code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
      &offset, context.get());
  if (!impl->code) {
    return absl::InvalidArgumentError(
        strCat("the tokenizer's regular expression \"", pattern,
               "\" does not compile: ", errorText(error)));
  }
  // Without JIT (some hardened kernels forbid it) matching still works.
  pcre2_jit_compile(impl->code, PCRE2_JIT_COMPLETE);
  return Regex(std::move(impl));
}

namespace {

/// What one search needs besides the compiled pattern.
struct Search {
  pcre2_match_data *data;
  pcre2_match_context *context;
  pcre2_jit_stack *stack;

  explicit Search(const pcre2_code *code)
      : data(pcre2_match_data_create_from_pattern(code, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(32 << 10, 64 << 20, nullptr)) {
    pcre2_jit_stack_assign(context, nullptr, stack);
    // One match may walk the whole text and back (`\s+(?!\S)` over megabytes
    // of blanks), which the default limits would call runaway.
    pcre2_set_match_limit(context, 2000000000u);
    pcre2_set_depth_limit(context, 2000000000u);
  }
  ~Search() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }

  int match(const pcre2_code *code, std::string_view text, size_t offset) {
    auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    int rc = pcre2_match(code, subject, text.size(), offset, PCRE2_NO_UTF_CHECK,
                         data, context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
      rc = pcre2_match(code, subject, text.size(), offset,
                       PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, context);
    }
    return rc;
  }
};

} // namespace

absl::Status Regex::partition(std::string_view text,
                              std::vector<TextRange> &out) const {
  Search search(impl->code);
  size_t offset = 0, covered = 0, lastEnd = std::string_view::npos;
  while (offset <= text.size()) {
    int rc = search.match(impl->code, text, offset);
    if (rc == PCRE2_ERROR_NOMATCH) {
      break;
    }
    if (rc < 0) {
      return absl::InternalError(
          strCat("the tokenizer's regular expression failed: ", errorText(rc)));
    }
    const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(search.data);
    size_t begin = bounds[0], end = bounds[1];
    // An empty match right behind another one is not one: step over a
    // character instead (Oniguruma's iteration does the same).
    if (begin == end && end == lastEnd) {
      offset += offset < text.size() ? utf8Length(text[offset]) : 1;
      continue;
    }
    if (covered < begin) {
      out.push_back({covered, begin, false});
    }
    out.push_back({begin, end, true});
    offset = covered = lastEnd = end;
  }
  if (covered < text.size()) {
    out.push_back({covered, text.size(), false});
  }
  return absl::OkStatus();
}

} // namespace quire
