#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Print.h"

#include "absl/strings/str_cat.h"

namespace quire::jinja {

Parameters::Parameters(Context &context, const Arguments &arguments,
                       std::initializer_list<std::string_view> names)
    : context(context) {
  size_t count = names.size();
  if (arguments.positional.size() > count) {
    context.fail(absl::StrCat("expected at most ", count, " arguments, got ",
                              arguments.positional.size()));
    good = false;
    return;
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    values[i] = &arguments.positional[i];
  }
  for (const auto &[name, value] : arguments.named) {
    size_t i = 0;
    while (i < count && std::data(names)[i] != name) {
      ++i;
    }
    if (i == count || values[i]) {
      context.fail(absl::StrCat(i == count
                                    ? "got an unexpected keyword argument '"
                                    : "got multiple values for argument '",
                                name, "'"));
      good = false;
      return;
    }
    values[i] = &value;
  }
}

const Value &Parameters::operator[](size_t i) const {
  static const Value none{None()};
  return values[i] ? *values[i] : none;
}

int64_t Parameters::integer(size_t i, int64_t otherwise) {
  if (!values[i] || values[i]->isNone()) {
    return otherwise;
  }
  if (!values[i]->isInteger()) {
    context.fail(absl::StrCat("'", values[i]->typeName(),
                              "' object cannot be interpreted as an integer"));
    good = false;
    return otherwise;
  }
  return values[i]->integer();
}

bool Parameters::flag(size_t i, bool otherwise) const {
  return values[i] ? values[i]->truthy() : otherwise;
}

Text Parameters::text(size_t i, std::string_view otherwise) {
  if (!values[i]) {
    return Text(otherwise);
  }
  if (!values[i]->isString()) {
    context.fail(absl::StrCat("must be str, not ", values[i]->typeName()));
    good = false;
    return Text();
  }
  return values[i]->text();
}

} // namespace quire::jinja
