#include "runtime/text/jinja/Parser.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace quire::jinja {

static std::vector<ExprPtr> pack(ExprPtr a, ExprPtr b) {
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(a));
  operands.push_back(std::move(b));
  return operands;
}

static std::vector<ExprPtr> pack(ExprPtr a) {
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(a));
  return operands;
}

ExprPtr Parser::parseExpression() { return parseConditional(); }

ExprPtr Parser::parseConditional() {
  Nesting level(*this);
  size_t known = unknown.size();
  ExprPtr node = parseOr();
  while (takeName("if")) {
    std::vector<ExprPtr> operands = pack(parseOr(), std::move(node));
    operands.push_back(takeName("else") ? parseConditional() : nullptr);
    node = makeExpr(ExprKind::Conditional, std::move(operands));
    unknown.resize(known);
  }
  return node;
}

ExprPtr Parser::parseOr() {
  ExprPtr left = parseAnd();
  while (takeName("or")) {
    left = makeExpr(ExprKind::Or, pack(std::move(left), parseAnd()));
  }
  return left;
}

ExprPtr Parser::parseAnd() {
  ExprPtr left = parseNot();
  while (takeName("and")) {
    left = makeExpr(ExprKind::And, pack(std::move(left), parseNot()));
  }
  return left;
}

ExprPtr Parser::parseNot() {
  Nesting level(*this);
  if (takeName("not")) {
    return makeExpr(ExprKind::Not, pack(parseNot()));
  }
  return parseCompare();
}

ExprPtr Parser::parseCompare() {
  std::vector<ExprPtr> operands = pack(parseSum());
  std::vector<std::string> operators;
  while (!failed()) {
    static constexpr std::string_view symbols[] = {"==", "!=", "<",
                                                   "<=", ">",  ">="};
    std::string op;
    for (std::string_view symbol : symbols) {
      if (takeOperator(symbol)) {
        op = symbol;
        break;
      }
    }
    if (op.empty() && takeName("in")) {
      op = "in";
    } else if (op.empty() && atName("not") &&
               tokens[position + 1].kind == TokenKind::Name &&
               tokens[position + 1].text == "in") {
      take();
      take();
      op = "not in";
    }
    if (op.empty()) {
      break;
    }
    operators.push_back(op);
    operands.push_back(parseSum());
  }
  if (operators.empty()) {
    return std::move(operands[0]);
  }
  ExprPtr node = makeExpr(ExprKind::Compare, std::move(operands));
  node->operators = std::move(operators);
  return node;
}

ExprPtr Parser::parseSum() {
  ExprPtr left = parseConcat();
  while (atOperator("+") || atOperator("-")) {
    std::string op = take().text;
    left = makeExpr(ExprKind::Binary, pack(std::move(left), parseConcat()));
    left->name = op;
  }
  return left;
}

ExprPtr Parser::parseConcat() {
  std::vector<ExprPtr> operands = pack(parseProduct());
  while (takeOperator("~")) {
    operands.push_back(parseProduct());
  }
  if (operands.size() == 1) {
    return std::move(operands[0]);
  }
  return makeExpr(ExprKind::Concat, std::move(operands));
}

ExprPtr Parser::parseProduct() {
  ExprPtr left = parsePower();
  while (atOperator("*") || atOperator("/") || atOperator("//") ||
         atOperator("%")) {
    std::string op = take().text;
    left = makeExpr(ExprKind::Binary, pack(std::move(left), parsePower()));
    left->name = op;
  }
  return left;
}

ExprPtr Parser::parsePower() {
  ExprPtr left = parseUnary();
  while (takeOperator("**")) {
    left = makeExpr(ExprKind::Binary, pack(std::move(left), parseUnary()));
    left->name = "**";
  }
  return left;
}

ExprPtr Parser::parseUnary(bool withFilter) {
  Nesting level(*this);
  ExprPtr node;
  if (takeOperator("-")) {
    node = makeExpr(ExprKind::Negate, pack(parseUnary(false)));
  } else if (takeOperator("+")) {
    node = makeExpr(ExprKind::Plus, pack(parseUnary(false)));
  } else {
    node = parsePrimary();
  }
  node = parsePostfix(std::move(node));
  return withFilter ? parseFilters(std::move(node)) : std::move(node);
}

ExprPtr Parser::parsePrimary() {
  switch (peek().kind) {
  case TokenKind::Name:
    return parseName();
  case TokenKind::String: {
    std::string value;
    while (peek().kind == TokenKind::String) {
      value += take().text;
    }
    return makeConstant(Value::text(value));
  }
  case TokenKind::Integer:
  case TokenKind::Float:
    return parseNumber();
  default:
    break;
  }
  if (takeOperator("(")) {
    ExprPtr node = parseTuple(true, true);
    expectOperator(")");
    return node;
  }
  if (atOperator("[")) {
    return parseList();
  }
  if (atOperator("{")) {
    return parseDict();
  }
  fail(absl::StrCat("unexpected '", peek().text, "'"));
  return makeConstant(Value());
}

ExprPtr Parser::parseName() {
  std::string name = take().text;
  if (name == "true" || name == "True") {
    return makeConstant(Value(true));
  }
  if (name == "false" || name == "False") {
    return makeConstant(Value(false));
  }
  if (name == "none" || name == "None") {
    return makeConstant(Value(None()));
  }
  if (!macros.empty()) {
    macros.back()->usesCaller |= name == "caller";
    macros.back()->usesVarargs |= name == "varargs";
    macros.back()->usesKwargs |= name == "kwargs";
  }
  ExprPtr node = makeExpr(ExprKind::Name);
  node->name = std::move(name);
  return node;
}

ExprPtr Parser::parseNumber() {
  Token token = take();
  if (token.kind == TokenKind::Float) {
    double number = 0;
    if (!absl::SimpleAtod(token.text, &number)) {
      fail(absl::StrCat("not a number: ", token.text));
    }
    return makeConstant(Value(number));
  }
  int64_t number = 0;
  if (!absl::SimpleAtoi(token.text, &number)) {
    fail(absl::StrCat("an integer beyond 64 bits: ", token.text));
  }
  return makeConstant(Value(number));
}

ExprPtr Parser::parseList() {
  take();
  std::vector<ExprPtr> items;
  while (!failed() && !atOperator("]")) {
    if (!items.empty()) {
      expectOperator(",");
      if (atOperator("]")) {
        break;
      }
    }
    items.push_back(parseExpression());
  }
  expectOperator("]");
  return makeExpr(ExprKind::List, std::move(items));
}

ExprPtr Parser::parseDict() {
  take();
  std::vector<ExprPtr> items;
  while (!failed() && !atOperator("}")) {
    if (!items.empty()) {
      expectOperator(",");
      if (atOperator("}")) {
        break;
      }
    }
    items.push_back(parseExpression());
    expectOperator(":");
    items.push_back(parseExpression());
  }
  expectOperator("}");
  return makeExpr(ExprKind::Dict, std::move(items));
}

ExprPtr Parser::parsePostfix(ExprPtr node) {
  while (!failed()) {
    if (atOperator(".")) {
      node = parseAttribute(std::move(node));
    } else if (atOperator("[")) {
      node = parseSubscript(std::move(node));
    } else if (atOperator("(")) {
      node = parseCall(std::move(node));
    } else {
      break;
    }
  }
  return node;
}

ExprPtr Parser::parseFilters(ExprPtr node) {
  while (!failed()) {
    if (takeOperator("|")) {
      node = parseFilter(std::move(node));
    } else if (node && atName("is")) {
      node = parseTest(std::move(node));
    } else if (node && atOperator("(")) {
      node = parseCall(std::move(node));
    } else {
      break;
    }
  }
  return node;
}

ExprPtr Parser::parseFilter(ExprPtr input) {
  ExprPtr node = makeExpr(ExprKind::Filter, pack(std::move(input)));
  node->name = expectName();
  while (takeOperator(".")) {
    node->name += "." + expectName();
  }
  node->builtin = findFilter(node->name);
  if (!node->builtin && isUnsupportedFilter(node->name)) {
    fail(absl::StrCat("the filter '", node->name, "' is not supported"));
  } else if (!node->builtin) {
    noteUnknown(absl::StrCat("No filter named '", node->name, "'."));
  }
  if (atOperator("(")) {
    parseArguments(*node);
  }
  return finish(std::move(node));
}

ExprPtr Parser::parseTest(ExprPtr input) {
  take();
  bool negated = takeName("not");
  ExprPtr node = makeExpr(ExprKind::Test, pack(std::move(input)));
  node->name = expectName();
  while (takeOperator(".")) {
    node->name += "." + expectName();
  }
  node->builtin = findTest(node->name);
  if (!node->builtin) {
    noteUnknown(absl::StrCat("No test named '", node->name, "'."));
  }
  TokenKind next = peek().kind;
  if (atOperator("(")) {
    parseArguments(*node);
  } else if ((next == TokenKind::Name && !atName("else") && !atName("or") &&
              !atName("and")) ||
             next == TokenKind::String || next == TokenKind::Integer ||
             next == TokenKind::Float || atOperator("[") || atOperator("{")) {
    if (atName("is")) {
      fail("You cannot chain multiple tests with is");
    }
    node->operands.push_back(parsePostfix(parsePrimary()));
  }
  node = finish(std::move(node));
  return negated ? makeExpr(ExprKind::Not, pack(std::move(node)))
                 : std::move(node);
}

ExprPtr Parser::parseAttribute(ExprPtr object) {
  take();
  if (peek().kind == TokenKind::Integer) {
    ExprPtr key = parseNumber();
    return makeExpr(ExprKind::Subscript,
                    pack(std::move(object), std::move(key)));
  }
  ExprPtr node = makeExpr(ExprKind::Attribute, pack(std::move(object)));
  node->name = expectName();
  if (atOperator("(") && isUnsupportedMethod(node->name)) {
    fail(absl::StrCat("the method '", node->name, "' is not supported"));
  }
  return node;
}

ExprPtr Parser::parseSubscript(ExprPtr object) {
  take();
  ExprPtr first;
  if (!atOperator(":")) {
    first = parseExpression();
  }
  if (!atOperator(":")) {
    if (atOperator(",")) {
      fail("a subscript of several indices is not supported");
    }
    expectOperator("]");
    return makeExpr(ExprKind::Subscript,
                    pack(std::move(object), std::move(first)));
  }
  std::vector<ExprPtr> operands = pack(std::move(object), std::move(first));
  for (int i = 0; i < 2; ++i) {
    ExprPtr bound;
    if (takeOperator(":") && !atOperator(":") && !atOperator("]")) {
      bound = parseExpression();
    }
    operands.push_back(std::move(bound));
  }
  expectOperator("]");
  return makeExpr(ExprKind::Slice, std::move(operands));
}

ExprPtr Parser::parseCall(ExprPtr callee) {
  if (callee && callee->kind == ExprKind::Name &&
      isUnsupportedGlobal(callee->name)) {
    fail(absl::StrCat("the function '", callee->name, "' is not supported"));
  }
  ExprPtr node = makeExpr(ExprKind::Call, pack(std::move(callee)));
  parseArguments(*node);
  return finish(std::move(node));
}

void Parser::parseArguments(Expr &node) {
  expectOperator("(");
  bool first = true;
  while (!failed() && !atOperator(")")) {
    if (!first) {
      expectOperator(",");
      if (atOperator(")")) {
        break;
      }
    }
    first = false;
    if (atOperator("*") || atOperator("**")) {
      fail("unpacking arguments with * is not supported");
    } else if (peek().kind == TokenKind::Name &&
               tokens[position + 1].kind == TokenKind::Operator &&
               tokens[position + 1].text == "=") {
      std::string name = take().text;
      take();
      node.keywords.emplace_back(std::move(name), parseExpression());
    } else if (!node.keywords.empty()) {
      fail("invalid syntax for function call expression");
    } else {
      node.operands.push_back(parseExpression());
    }
  }
  expectOperator(")");
}

/// One expression, or several with commas between: a tuple. `endName` is a
/// word that ends it.
ExprPtr Parser::parseTuple(bool withConditional, bool inParentheses,
                           std::string_view endName) {
  Nesting level(*this);
  std::vector<ExprPtr> items;
  bool isTuple = false;
  while (!failed()) {
    TokenKind kind = peek().kind;
    if (kind == TokenKind::VariableEnd || kind == TokenKind::BlockEnd ||
        atOperator(")") || (!endName.empty() && atName(endName))) {
      break;
    }
    items.push_back(withConditional ? parseExpression() : parseOr());
    if (!takeOperator(",")) {
      break;
    }
    isTuple = true;
  }
  if (!isTuple && items.size() == 1) {
    return std::move(items[0]);
  }
  if (items.empty() && !inParentheses) {
    fail(absl::StrCat("Expected an expression, got '", peek().text, "'"));
  }
  return makeExpr(ExprKind::Tuple, std::move(items));
}

/// What a for loop or a set assigns to.
ExprPtr Parser::parseTarget(bool allowField) {
  Nesting level(*this);
  std::vector<ExprPtr> items;
  bool isTuple = false;
  while (!failed()) {
    if (takeOperator("(")) {
      items.push_back(parseTarget(false));
      expectOperator(")");
    } else {
      std::string name = expectName();
      static constexpr std::string_view reserved[] = {"true", "false", "none",
                                                      "True", "False", "None"};
      for (std::string_view word : reserved) {
        if (name == word) {
          fail(absl::StrCat("can't assign to '", name, "'"));
        }
      }
      bool isField = allowField && items.empty() && takeOperator(".");
      ExprPtr target = makeExpr(ExprKind::Name);
      target->name = std::move(name);
      if (isField) {
        target = makeExpr(ExprKind::Field, pack(std::move(target)));
        target->name = expectName();
      }
      items.push_back(std::move(target));
    }
    if (!takeOperator(",")) {
      break;
    }
    isTuple = true;
    if (peek().kind != TokenKind::Name && !atOperator("(")) {
      break;
    }
    if (atName("in")) {
      break;
    }
  }
  if (!isTuple && items.size() == 1) {
    return std::move(items[0]);
  }
  return makeExpr(ExprKind::Tuple, std::move(items));
}

} // namespace quire::jinja
