// The functions every template can call.

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Print.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::jinja {

namespace {

using Args = const Arguments &;

Value range(Context &context, Args args) {
  Parameters p(context, args, {"start", "stop", "step"});
  for (const Value &argument : args.positional) {
    if (argument.isUndefined()) {
      return failUndefined(context, argument);
    }
  }
  bool alone = args.positional.size() == 1;
  int64_t start = alone ? 0 : p.integer(0, 0);
  int64_t stop = alone ? p.integer(0, 0) : p.integer(1, 0);
  int64_t step = p.integer(2, 1);
  if (!p.ok() || args.positional.empty() || !args.named.empty()) {
    return context.fail("range takes one to three integers");
  }
  if (step == 0) {
    return context.fail("range() arg 3 must not be zero");
  }
  std::vector<Value> items;
  constexpr size_t most = 100000;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (items.size() == most) {
      return context.fail("Range too big. The sandbox blocks ranges larger "
                          "than MAX_RANGE (100000).");
    }
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) {
      break;
    }
  }
  context.step(items.size());
  return context.sequence(Sequence::Type::Range, std::move(items));
}

/// dict(...): a dict or pairs, then keywords.
Mapping gather(Context &context, Args args) {
  Mapping mapping;
  if (args.positional.size() > 1) {
    context.fail("dict expected at most 1 argument");
  }
  if (args.positional.size() == 1 && args.positional[0].is(Kind::Mapping)) {
    mapping = args.positional[0].mapping();
  } else if (args.positional.size() == 1) {
    auto pairs = iterate(context, args.positional[0]);
    for (size_t i = 0; pairs && i < pairs->size(); ++i) {
      auto pair = iterate(context, (*pairs)[i]);
      if (!pair || pair->size() != 2) {
        context.fail(absl::StrCat("dictionary update sequence element #", i,
                                  " is not a pair"));
        break;
      }
      mapping.set((*pair)[0], (*pair)[1]);
    }
  }
  for (const auto &[name, value] : args.named) {
    mapping.set(Value::text(name), value);
  }
  return mapping;
}

Value dict(Context &context, Args args) {
  return context.mapping(gather(context, args));
}

Value makeNamespace(Context &context, Args args) {
  Namespace *result = context.newNamespace();
  for (const auto &[key, value] : gather(context, args).entries) {
    if (!key.isString() || key.string().starts_with("_")) {
      return context.fail(absl::StrCat(
          "Chat templates cannot store underscore-prefixed attributes on a "
          "namespace, but got ",
          toRepr(context, key), ". Please rename the attribute."));
    }
    result->fields.emplace_back(key.string(), value);
  }
  return Value(result);
}

Value raiseException(Context &context, Args args) {
  Parameters p(context, args, {"message"});
  return context.fail(toText(context, p[0]).str());
}

Value strftimeNow(Context &context, Args args) {
  Parameters p(context, args, {"format"});
  std::string format = p.text(0, "").str();
  if (format.empty() || format.size() > 1024) {
    return format.empty() ? Value::text("")
                          : context.fail("a time format that is too long");
  }
  std::tm now = context.clock ? context.clock() : std::tm();
  std::string buffer(16384, '\0');
  size_t length =
      std::strftime(buffer.data(), buffer.size(), format.c_str(), &now);
  return context.text(std::string_view(buffer).substr(0, length));
}

struct Global {
  std::string_view name;
  Value (*function)(Context &, Args);
};

constexpr Global globals[] = {
    {"dict", dict},
    {"namespace", makeNamespace},
    {"raise_exception", raiseException},
    {"range", range},
    {"strftime_now", strftimeNow},
};

} // namespace

Value findGlobal(Context &context, const std::string &name) {
  for (const Global &global : globals) {
    if (global.name == name) {
      return context.function(name, global.function);
    }
  }
  return context.undefined(absl::StrCat("'", name, "' is undefined"));
}

bool isUnsupportedGlobal(std::string_view name) {
  return name == "lipsum" || name == "cycler" || name == "joiner";
}

} // namespace quire::jinja
