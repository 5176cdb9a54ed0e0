#include "runtime/text/jinja/Interpreter.h"
#include "runtime/text/jinja/Print.h"

#include "absl/strings/str_cat.h"

namespace quire::jinja {

void Interpreter::Scope::set(std::string_view name, Value value) {
  for (auto &[key, present] : variables) {
    if (key == name) {
      present = std::move(value);
      return;
    }
  }
  variables.emplace_back(name, std::move(value));
}

Interpreter::InScope::InScope(Interpreter &interpreter, Scope *parent)
    : interpreter(interpreter), saved(interpreter.scope) {
  interpreter.scopes.push_back(std::make_unique<Scope>());
  interpreter.scope = interpreter.scopes.back().get();
  interpreter.scope->parent = parent;
}

Interpreter::InScope::~InScope() {
  if (interpreter.scope->captured) {
    interpreter.kept.push_back(std::move(interpreter.scopes.back()));
  }
  interpreter.scopes.pop_back();
  interpreter.scope = saved;
}

Text Interpreter::render(const Block &block) {
  Text result;
  output = &result;
  InScope root(*this, nullptr);
  run(block);
  return result;
}

Interpreter::Flow Interpreter::run(const Block &block) {
  if (++context.depth > context.limits.evaluations) {
    context.exhausted("recursed too deeply");
  }
  Flow flow = Flow::Next;
  for (const auto &stmt : block) {
    context.line = stmt->line;
    if (!context.step()) {
      break;
    }
    flow = run(*stmt);
    if (flow != Flow::Next) {
      break;
    }
  }
  --context.depth;
  return flow;
}

Interpreter::Flow Interpreter::run(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Data:
    if (context.work(stmt.text.size())) {
      output->append(stmt.text);
    }
    break;
  case StmtKind::Print:
    print(context, eval(*stmt.value), *output);
    break;
  case StmtKind::If:
    return runIf(stmt);
  case StmtKind::For:
    runFor(stmt, eval(*stmt.value), 0);
    break;
  case StmtKind::Set:
    assign(*stmt.target, eval(*stmt.value));
    break;
  case StmtKind::SetBlock:
    runSetBlock(stmt);
    break;
  case StmtKind::Macro:
    scope->set(stmt.macro->name, defineMacro(*stmt.macro));
    break;
  case StmtKind::CallBlock:
    runCallBlock(stmt);
    break;
  case StmtKind::Filter:
    runFilterBlock(stmt);
    break;
  case StmtKind::With:
    runWith(stmt);
    break;
  case StmtKind::Scope: {
    Text text = capture(stmt.body);
    if (context.work(text.size())) {
      output->append(text);
    }
    break;
  }
  case StmtKind::Break:
    return Flow::Break;
  case StmtKind::Continue:
    return Flow::Continue;
  }
  if (output->size() > context.limits.textBytes) {
    context.exhausted("wrote too much text");
  }
  return Flow::Next;
}

Interpreter::Flow Interpreter::runIf(const Stmt &stmt) {
  for (const Branch &branch : stmt.branches) {
    bool taken = eval(*branch.condition).truthy();
    if (context.failed()) {
      return Flow::Next;
    }
    if (taken) {
      return run(branch.body);
    }
  }
  return run(stmt.orElse);
}

/// The items to loop over: those of the iterable that pass the condition.
std::vector<Value> Interpreter::loopItems(const Stmt &stmt,
                                          const Value &iterable) {
  std::vector<Value> items =
      iterate(context, iterable).value_or(std::vector<Value>());
  if (!stmt.condition) {
    return items;
  }
  std::vector<Value> passing;
  InScope inner(*this, scope);
  for (Value &item : items) {
    if (!context.step()) {
      break;
    }
    assign(*stmt.target, item);
    if (eval(*stmt.condition).truthy()) {
      passing.push_back(std::move(item));
    }
  }
  return passing;
}

void Interpreter::runFor(const Stmt &stmt, const Value &iterable, int level) {
  if (context.failed()) {
    return;
  }
  std::vector<Value> items = loopItems(stmt, iterable);
  if (items.empty()) {
    InScope inner(*this, scope);
    run(stmt.orElse);
    return;
  }
  Loop *loop = context.newLoop();
  loop->items = std::move(items);
  loop->level = level;
  Scope *around = scope;
  if (stmt.recursive) {
    captureScopes();
    loop->recurse = [this, &stmt, around, level](Context &,
                                                 const Value &deeper) {
      Text text;
      Text *savedOutput = output;
      Scope *savedScope = scope;
      output = &text;
      scope = around;
      runFor(stmt, deeper, level + 1);
      scope = savedScope;
      output = savedOutput;
      return context.text(std::move(text));
    };
  }
  for (; loop->index < loop->items.size() && context.step(); ++loop->index) {
    InScope inner(*this, around);
    scope->set("loop", Value(loop));
    assign(*stmt.target, Value(loop->items[loop->index]));
    if (run(stmt.body) == Flow::Break) {
      break;
    }
  }
}

Text Interpreter::capture(const Block &block) {
  Text text;
  Text *saved = output;
  output = &text;
  {
    InScope inner(*this, scope);
    run(block);
  }
  output = saved;
  return text;
}

void Interpreter::runSetBlock(const Stmt &stmt) {
  Value text = context.text(capture(stmt.body));
  assign(*stmt.target, stmt.value ? evalFilter(*stmt.value, &text) : text);
}

void Interpreter::runFilterBlock(const Stmt &stmt) {
  Value text = context.text(capture(stmt.body));
  print(context, evalFilter(*stmt.value, &text), *output);
}

void Interpreter::runCallBlock(const Stmt &stmt) {
  Value caller = defineMacro(*stmt.macro);
  print(context, evalCall(*stmt.value, &caller), *output);
}

void Interpreter::runWith(const Stmt &stmt) {
  std::vector<Value> values = evalAll(stmt.macro->defaults, 0);
  InScope inner(*this, scope);
  for (size_t i = 0; i < values.size(); ++i) {
    scope->set(stmt.macro->parameters[i], std::move(values[i]));
  }
  run(stmt.body);
}

void Interpreter::assign(const Expr &target, const Value &value) {
  if (context.failed()) {
    return;
  }
  if (target.kind == ExprKind::Name) {
    scope->set(target.name, value);
    return;
  }
  if (target.kind == ExprKind::Field) {
    Value object = evalName(target.operands[0]->name);
    if (!object.is(Kind::Namespace)) {
      context.fail("cannot assign attribute on non-namespace object");
    } else if (target.name[0] == '_') {
      context.fail(absl::StrCat(
          "Chat templates cannot store underscore-prefixed attributes on a "
          "namespace, but got '",
          target.name, "'. Please rename the attribute."));
    } else if (Value *field = object.ns().find(target.name)) {
      *field = value;
    } else {
      object.ns().fields.emplace_back(target.name, value);
    }
    return;
  }
  bool iterable = value.is(Kind::Sequence) || value.is(Kind::Mapping) ||
                  value.isString() || value.isUndefined();
  if (!iterable) {
    context.fail(absl::StrCat("cannot unpack non-iterable ", value.typeName(),
                              " object"));
    return;
  }
  std::vector<Value> items =
      iterate(context, value).value_or(std::vector<Value>());
  size_t wanted = target.operands.size();
  if (items.size() > wanted) {
    context.fail(
        absl::StrCat("too many values to unpack (expected ", wanted, ")"));
  } else if (items.size() < wanted) {
    context.fail(absl::StrCat("not enough values to unpack (expected ", wanted,
                              ", got ", items.size(), ")"));
  }
  for (size_t i = 0; i < wanted && !context.failed(); ++i) {
    assign(*target.operands[i], items[i]);
  }
}

} // namespace quire::jinja
