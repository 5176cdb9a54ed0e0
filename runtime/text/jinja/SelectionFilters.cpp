// Filters that apply another filter or a test to each item.

#include "runtime/text/jinja/FilterFamilies.h"
#include "runtime/text/jinja/Print.h"

#include "absl/strings/str_cat.h"

namespace quire::jinja {

namespace {

using Args = const Arguments &;

Value map(Context &context, const Value &self, Args args) {
  auto items = iterate(context, self);
  std::vector<Value> results;
  if (args.positional.empty()) {
    Parameters p(context, args, {"attribute", "default"});
    if (!p.has(0)) {
      return context.fail("map requires a filter argument");
    }
    for (size_t i = 0; items && i < items->size() && context.step(); ++i) {
      Value result = followPath(context, (*items)[i], p[0]);
      bool replace = result.isUndefined() && !p[1].isNone();
      results.push_back(replace ? p[1] : result);
    }
    return context.sequence(Sequence::Type::Generator, std::move(results));
  }
  std::string name = toText(context, args.positional[0]).str();
  Builtin filter = findFilter(name);
  if (!filter) {
    return context.fail(absl::StrCat("No filter named '", name, "'."));
  }
  Arguments rest = args;
  rest.positional.erase(rest.positional.begin());
  // A filter may be map itself, so the nesting has to be counted.
  if (++context.depth > context.limits.evaluations) {
    context.exhausted("recursed too deeply");
  }
  for (size_t i = 0; items && i < items->size() && context.step(); ++i) {
    results.push_back(filter(context, (*items)[i], rest));
  }
  --context.depth;
  return context.sequence(Sequence::Type::Generator, std::move(results));
}

template <bool wanted, bool byAttribute>
Value select(Context &context, const Value &self, Args args) {
  auto items = iterate(context, self);
  Arguments rest = args;
  auto takeFirst = [&] {
    Value value = rest.positional.front();
    rest.positional.erase(rest.positional.begin());
    return value;
  };
  Value path{None()};
  if (byAttribute) {
    if (rest.positional.empty()) {
      return context.fail("Missing parameter for attribute name");
    }
    path = takeFirst();
  }
  Builtin test = nullptr;
  if (!rest.positional.empty()) {
    std::string name = toText(context, takeFirst()).str();
    test = findTest(name);
    if (!test) {
      return context.fail(absl::StrCat("No test named '", name, "'."));
    }
  }
  std::vector<Value> kept;
  for (size_t i = 0; items && i < items->size() && context.step(); ++i) {
    Value subject = followPath(context, (*items)[i], path);
    bool passes =
        test ? test(context, subject, rest).truthy() : subject.truthy();
    if (passes == wanted) {
      kept.push_back((*items)[i]);
    }
  }
  return context.sequence(Sequence::Type::Generator, std::move(kept));
}

Value attribute(Context &context, const Value &self, Args args) {
  Parameters p(context, args, {"name"});
  return getAttribute(context, self, p.text(0, "").str());
}

constexpr BuiltinEntry filters[] = {
    {"attr", attribute},
    {"map", map},
    {"reject", select<false, false>},
    {"rejectattr", select<false, true>},
    {"select", select<true, false>},
    {"selectattr", select<true, true>},
};

} // namespace

std::span<const BuiltinEntry> selectionFilters() { return filters; }

} // namespace quire::jinja
