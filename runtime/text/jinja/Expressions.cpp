// Evaluating expressions.

#include "runtime/text/jinja/Interpreter.h"
#include "runtime/text/jinja/Print.h"

#include "absl/strings/str_cat.h"

namespace quire::jinja {

Value Interpreter::eval(const Expr &expr) {
  if (++context.depth > context.limits.evaluations) {
    context.exhausted("recursed too deeply");
  }
  context.line = expr.line;
  Value value = context.step() ? evalKind(expr) : Value();
  --context.depth;
  return value;
}

Value Interpreter::evalKind(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Constant:
    return expr.value;
  case ExprKind::Name:
    return evalName(expr.name);
  case ExprKind::Tuple:
    return context.tuple(evalAll(expr.operands, 0));
  case ExprKind::List:
    return context.list(evalAll(expr.operands, 0));
  case ExprKind::Dict:
    return evalDict(expr);
  case ExprKind::Negate:
    return arithmetic(context, "neg", eval(*expr.operands[0]), Value());
  case ExprKind::Plus:
    return arithmetic(context, "pos", eval(*expr.operands[0]), Value());
  case ExprKind::Not:
    return Value(!eval(*expr.operands[0]).truthy());
  case ExprKind::And:
  case ExprKind::Or:
    return evalLogic(expr);
  case ExprKind::Binary: {
    Value left = eval(*expr.operands[0]);
    Value right = eval(*expr.operands[1]);
    return arithmetic(context, expr.name, left, right);
  }
  case ExprKind::Compare:
    return evalCompare(expr);
  case ExprKind::Concat:
    return evalConcat(expr);
  case ExprKind::Conditional:
    return evalConditional(expr);
  case ExprKind::Attribute:
    return getAttribute(context, eval(*expr.operands[0]), expr.name);
  case ExprKind::Subscript: {
    Value object = eval(*expr.operands[0]);
    return getItem(context, object, eval(*expr.operands[1]));
  }
  case ExprKind::Slice:
    return evalSlice(expr);
  case ExprKind::Filter:
    return evalFilter(expr, nullptr);
  case ExprKind::Test:
    return evalTest(expr);
  case ExprKind::Call:
    return evalCall(expr, nullptr);
  case ExprKind::Field:
    break;
  }
  return Value();
}

Value Interpreter::evalName(const std::string &name) {
  for (Scope *s = scope; s; s = s->parent) {
    for (const auto &[key, value] : s->variables) {
      if (key == name) {
        return value;
      }
    }
  }
  if (auto input = inputs.find(name); input != inputs.end()) {
    return input->second;
  }
  return findGlobal(context, name);
}

Value Interpreter::evalLogic(const Expr &expr) {
  Value left = eval(*expr.operands[0]);
  bool decided = left.truthy() == (expr.kind == ExprKind::Or);
  return decided ? left : eval(*expr.operands[1]);
}

static bool compare(Context &context, const std::string &op, const Value &a,
                    const Value &b) {
  if (op == "in" || op == "not in") {
    return contains(context, b, a) == (op == "in");
  }
  if (op == "==" || op == "!=") {
    context.work(std::min(a.weight(), b.weight()) * 64);
    return !context.failed() && equals(a, b) == (op == "==");
  }
  if (op == "<") {
    return lessThan(context, a, b, op);
  }
  if (op == ">") {
    return lessThan(context, b, a, op);
  }
  // a <= b is not (b < a), but for a float that is not a number.
  if ((a.is(Kind::Float) && a.number() != a.number()) ||
      (b.is(Kind::Float) && b.number() != b.number())) {
    return false;
  }
  return op == "<=" ? !lessThan(context, b, a, op)
                    : !lessThan(context, a, b, op);
}

Value Interpreter::evalCompare(const Expr &expr) {
  Value left = eval(*expr.operands[0]);
  for (size_t i = 0; i < expr.operators.size(); ++i) {
    Value right = eval(*expr.operands[i + 1]);
    if (context.failed() || !compare(context, expr.operators[i], left, right)) {
      return Value(false);
    }
    left = std::move(right);
  }
  return Value(true);
}

Value Interpreter::evalConcat(const Expr &expr) {
  Text text;
  for (const ExprPtr &operand : expr.operands) {
    print(context, eval(*operand), text);
  }
  return context.text(std::move(text));
}

Value Interpreter::evalDict(const Expr &expr) {
  Mapping mapping;
  for (size_t i = 0; i + 1 < expr.operands.size(); i += 2) {
    Value key = eval(*expr.operands[i]);
    if (key.is(Kind::Mapping) || key.isSequence(Sequence::Type::List)) {
      return context.fail(
          absl::StrCat("unhashable type: '", key.typeName(), "'"));
    }
    mapping.set(std::move(key), eval(*expr.operands[i + 1]));
  }
  return context.mapping(std::move(mapping));
}

Value Interpreter::evalSlice(const Expr &expr) {
  Value parts[4];
  for (size_t i = 0; i < 4; ++i) {
    parts[i] = expr.operands[i] ? eval(*expr.operands[i]) : Value(None());
  }
  return sliceOf(context, parts[0], parts[1], parts[2], parts[3]);
}

Value Interpreter::evalConditional(const Expr &expr) {
  if (eval(*expr.operands[0]).truthy()) {
    return eval(*expr.operands[1]);
  }
  if (expr.operands[2]) {
    return eval(*expr.operands[2]);
  }
  return context.undefined(
      absl::StrCat("the inline if-expression on line ", expr.line,
                   " evaluated to false and no else section was defined."));
}

std::vector<Value> Interpreter::evalAll(const std::vector<ExprPtr> &list,
                                        size_t from) {
  std::vector<Value> values;
  for (size_t i = from; i < list.size(); ++i) {
    values.push_back(eval(*list[i]));
  }
  return values;
}

Arguments Interpreter::evalArguments(const Expr &expr) {
  Arguments arguments;
  arguments.positional = evalAll(expr.operands, 1);
  for (const auto &[name, value] : expr.keywords) {
    arguments.named.emplace_back(name, eval(*value));
  }
  return arguments;
}

/// A filter on its input, or on the text of the block it stands at.
Value Interpreter::evalFilter(const Expr &expr, const Value *blockText) {
  Value input;
  const ExprPtr &source = expr.operands[0];
  if (!source) {
    input = blockText ? *blockText : Value();
  } else if (blockText && source->kind == ExprKind::Filter) {
    input = evalFilter(*source, blockText);
  } else {
    input = eval(*source);
  }
  Arguments arguments = evalArguments(expr);
  context.line = expr.line;
  if (context.failed()) {
    return Value();
  }
  if (!expr.builtin) {
    return context.fail(
        absl::StrCat("No filter named '", expr.name, "' found."));
  }
  return expr.builtin(context, input, arguments);
}

Value Interpreter::evalTest(const Expr &expr) {
  Value input = eval(*expr.operands[0]);
  Arguments arguments = evalArguments(expr);
  if (context.failed()) {
    return Value();
  }
  if (!expr.builtin) {
    return context.fail(absl::StrCat("No test named '", expr.name, "' found."));
  }
  return expr.builtin(context, input, arguments);
}

Value Interpreter::evalCall(const Expr &expr, const Value *caller) {
  Value callee = eval(*expr.operands[0]);
  Arguments arguments = evalArguments(expr);
  if (caller) {
    arguments.named.emplace_back("caller", *caller);
  }
  context.line = expr.line;
  if (callee.is(Kind::Loop) && callee.loop().recurse &&
      arguments.positional.size() == 1 && !context.failed()) {
    return callee.loop().recurse(context, arguments.positional[0]);
  }
  return call(context, callee, arguments);
}

} // namespace quire::jinja
