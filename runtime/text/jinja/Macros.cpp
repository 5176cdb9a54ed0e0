// Macros and the bodies of call blocks: definition and invocation.

#include "runtime/text/jinja/Interpreter.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::jinja {

/// Keeps the open scopes alive to the end of the rendering.
void Interpreter::captureScopes() {
  for (Scope *s = scope; s && !s->captured; s = s->parent) {
    s->captured = true;
    context.work(sizeof(Scope) + 4 * sizeof(Value));
  }
}

Value Interpreter::defineMacro(const MacroBody &macro) {
  captureScopes();
  Scope *closure = scope;
  return context.function(
      macro.name, [this, &macro, closure](Context &, const Arguments &args) {
        return invoke(macro, closure, args);
      });
}

Value Interpreter::invoke(const MacroBody &macro, Scope *closure,
                          const Arguments &arguments) {
  if (!context.step()) {
    return Value();
  }
  Text text;
  Text *savedOutput = output;
  int savedLine = context.line;
  output = &text;
  {
    InScope inner(*this, closure);
    bind(macro, arguments);
    run(macro.body);
  }
  output = savedOutput;
  if (!context.failed()) {
    context.line = savedLine;
  }
  return context.text(std::move(text));
}

/// Binds a call's arguments in the macro's scope, in Jinja2's order: given
/// values first, then defaults, which may refer to earlier parameters.
void Interpreter::bind(const MacroBody &macro, const Arguments &arguments) {
  size_t count = macro.parameters.size();
  std::vector<std::pair<std::string, Value>> named = arguments.named;
  auto takeNamed = [&](const std::string &name) -> std::optional<Value> {
    auto place = std::find_if(named.begin(), named.end(), [&](const auto &arg) {
      return arg.first == name;
    });
    if (place == named.end()) {
      return std::nullopt;
    }
    Value value = std::move(place->second);
    named.erase(place);
    return value;
  };
  std::vector<std::optional<Value>> given(count);
  for (size_t i = 0; i < count; ++i) {
    given[i] = i < arguments.positional.size()
                   ? std::optional<Value>(arguments.positional[i])
                   : takeNamed(macro.parameters[i]);
  }
  std::optional<Value> caller;
  if (macro.usesCaller) {
    caller = takeNamed("caller");
  }
  if (macro.usesKwargs) {
    Mapping kwargs;
    for (auto &[name, value] : named) {
      kwargs.set(Value::text(name), value);
    }
    scope->set("kwargs", context.mapping(std::move(kwargs)));
  } else if (!named.empty()) {
    context.fail(absl::StrCat("macro '", macro.name,
                              "' takes no keyword argument '", named[0].first,
                              "'"));
    return;
  }
  if (macro.usesVarargs) {
    std::vector<Value> rest;
    for (size_t i = count; i < arguments.positional.size(); ++i) {
      rest.push_back(arguments.positional[i]);
    }
    scope->set("varargs", context.tuple(std::move(rest)));
  } else if (arguments.positional.size() > count) {
    context.fail(absl::StrCat("macro '", macro.name, "' takes not more than ",
                              count, " argument(s)"));
    return;
  }
  if (macro.usesCaller) {
    scope->set("caller",
               caller ? *caller : context.undefined("No caller defined"));
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string &name = macro.parameters[i];
    if (given[i]) {
      scope->set(name, *given[i]);
    } else if (macro.defaults[i]) {
      scope->set(name, eval(*macro.defaults[i]));
    } else {
      scope->set(name, context.undefined(absl::StrCat("parameter '", name,
                                                      "' was not provided")));
    }
  }
}

} // namespace quire::jinja
