#include "runtime/text/jinja/Parser.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::jinja {

static constexpr int maximumNesting = 150;

absl::StatusOr<Block> parseTemplate(std::string_view source) {
  if (source.size() > (size_t(1) << 20)) {
    return absl::InvalidArgumentError("a template longer than 1 MiB");
  }
  absl::StatusOr<std::vector<Token>> tokens = tokenize(source);
  if (!tokens.ok()) {
    return tokens.status();
  }
  return Parser(*std::move(tokens)).parse();
}

Parser::Parser(std::vector<Token> list) : tokens(std::move(list)) {}

absl::StatusOr<Block> Parser::parse() {
  Block block = parseBlock({});
  if (failed()) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", errorLine, ": ", error));
  }
  return block;
}

Parser::Nesting::Nesting(Parser &parser) : parser(parser) {
  if (++parser.nesting > maximumNesting) {
    parser.fail("the template is nested too deeply");
  }
}

const Token &Parser::peek() const {
  return failed() ? tokens.back() : tokens[position];
}

Token Parser::take() {
  Token token = peek();
  if (!failed() && position + 1 < tokens.size()) {
    ++position;
  }
  return token;
}

bool Parser::atOperator(std::string_view op) const {
  return peek().kind == TokenKind::Operator && peek().text == op;
}

bool Parser::atName(std::string_view name) const {
  return peek().kind == TokenKind::Name && peek().text == name;
}

bool Parser::takeOperator(std::string_view op) {
  if (!atOperator(op)) {
    return false;
  }
  take();
  return true;
}

bool Parser::takeName(std::string_view name) {
  if (!atName(name)) {
    return false;
  }
  take();
  return true;
}

static std::string describe(const Token &token) {
  switch (token.kind) {
  case TokenKind::End:
    return "end of template";
  case TokenKind::BlockEnd:
    return "end of statement block";
  case TokenKind::VariableEnd:
    return "end of print statement";
  default:
    return absl::StrCat("'", token.text, "'");
  }
}

void Parser::expectOperator(std::string_view op) {
  if (!takeOperator(op)) {
    fail(absl::StrCat("expected token '", std::string(op), "', got ",
                      describe(peek())));
  }
}

std::string Parser::expectName() {
  if (peek().kind != TokenKind::Name) {
    fail(absl::StrCat("expected a name, got ", describe(peek())));
    return "";
  }
  return take().text;
}

void Parser::expectBlockEnd() {
  if (peek().kind != TokenKind::BlockEnd) {
    fail(absl::StrCat("expected token 'end of statement block', got ",
                      describe(peek())));
    return;
  }
  take();
}

void Parser::fail(std::string message) {
  if (error.empty()) {
    errorLine = tokens[position].line;
    error = std::move(message);
  }
}

void Parser::noteUnknown(std::string message) {
  if (!conditional) {
    unknown.push_back(std::move(message));
  }
}

void Parser::failOnUnknown() {
  if (!unknown.empty()) {
    fail(unknown.front());
  }
}

ExprPtr Parser::makeExpr(ExprKind kind, std::vector<ExprPtr> operands) {
  auto node = std::make_unique<Expr>();
  node->kind = kind;
  node->line = tokens[position].line;
  node->operands = std::move(operands);
  return finish(std::move(node));
}

ExprPtr Parser::makeConstant(Value value) {
  ExprPtr node = makeExpr(ExprKind::Constant);
  node->value = std::move(value);
  return node;
}

/// Settles the depth of a node whose children are in place.
ExprPtr Parser::finish(ExprPtr node) {
  static constexpr int maximumDepth = 400;
  auto grow = [&](const ExprPtr &child) {
    if (child) {
      node->depth = std::max(node->depth, child->depth + 1);
    }
  };
  std::for_each(node->operands.begin(), node->operands.end(), grow);
  for (const auto &[name, child] : node->keywords) {
    grow(child);
  }
  if (node->depth > maximumDepth) {
    fail("an expression is nested too deeply");
  }
  return node;
}

std::unique_ptr<Stmt> Parser::makeStmt(StmtKind kind) {
  auto node = std::make_unique<Stmt>();
  node->kind = kind;
  node->line = tokens[position].line;
  return node;
}

} // namespace quire::jinja
