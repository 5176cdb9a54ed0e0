#include "runtime/text/jinja/Parser.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace quire::jinja {

namespace {

/// Sets a variable for as long as it lives.
template <typename T> class Override {
public:
  Override(T &variable, T value) : variable(variable), saved(variable) {
    variable = value;
  }
  ~Override() { variable = saved; }

private:
  T &variable;
  T saved;
};

} // namespace

/// Statements up to a tag named in `until`, which is left as the next token
/// (its opening delimiter taken). With no names: up to the end.
Block Parser::parseBlock(std::initializer_list<std::string_view> until) {
  Nesting level(*this);
  Block block;
  while (!failed()) {
    switch (peek().kind) {
    case TokenKind::End:
      if (until.size() > 0) {
        fail(absl::StrCat("unexpected end of template, expected '",
                          std::string(*until.begin()), "'"));
      }
      return block;
    case TokenKind::Data: {
      auto node = makeStmt(StmtKind::Data);
      node->text = Text(take().text);
      block.push_back(std::move(node));
      break;
    }
    case TokenKind::VariableBegin: {
      auto node = makeStmt(StmtKind::Print);
      take();
      node->value = parseTuple(true);
      failOnUnknown();
      if (peek().kind != TokenKind::VariableEnd) {
        fail("expected token 'end of print statement', got '" + peek().text +
             "'");
      }
      take();
      block.push_back(std::move(node));
      break;
    }
    case TokenKind::BlockBegin:
      take();
      if (peek().kind == TokenKind::Name &&
          std::find(until.begin(), until.end(), peek().text) != until.end()) {
        return block;
      }
      parseTag(block);
      break;
    default:
      fail("unexpected '" + peek().text + "'");
    }
  }
  return block;
}

void Parser::parseTag(Block &block) {
  if (peek().kind != TokenKind::Name) {
    fail("tag name expected");
    return;
  }
  const std::string tag = peek().text;
  std::unique_ptr<Stmt> node;
  if (tag == "for") {
    node = parseFor();
  } else if (tag == "if") {
    node = parseIf();
  } else if (tag == "set") {
    node = parseSet();
  } else if (tag == "macro") {
    node = parseMacro();
  } else if (tag == "call") {
    node = parseCallBlock();
  } else if (tag == "filter") {
    node = parseFilterBlock();
  } else if (tag == "with") {
    node = parseWith();
  } else if (tag == "generation") {
    node = parseGeneration();
  } else if (tag == "break" || tag == "continue") {
    node = parseLoopControl();
  } else if (tag == "print") {
    node = makeStmt(StmtKind::Print);
    take();
    node->value = parseExpression();
    expectBlockEnd();
  } else if (tag == "include" || tag == "import" || tag == "from" ||
             tag == "extends" || tag == "block" || tag == "autoescape") {
    fail(absl::StrCat("the tag '", tag, "' is not supported"));
  } else {
    fail(absl::StrCat("Encountered unknown tag '", tag, "'."));
  }
  failOnUnknown();
  if (node) {
    block.push_back(std::move(node));
  }
}

std::unique_ptr<Stmt> Parser::parseFor() {
  auto node = makeStmt(StmtKind::For);
  take();
  node->target = parseTarget(false);
  if (!takeName("in")) {
    fail("expected 'in' in a for loop, got '" + peek().text + "'");
  }
  node->value = parseTuple(false, false, "recursive");
  Override<bool> plain(conditional, false);
  if (takeName("if")) {
    node->condition = parseExpression();
  }
  node->recursive = takeName("recursive");
  expectBlockEnd();
  ++loops;
  node->body = parseBlock({"endfor", "else"});
  --loops;
  if (take().text == "else") {
    expectBlockEnd();
    node->orElse = parseBlock({"endfor"});
    take();
  }
  expectBlockEnd();
  return node;
}

std::unique_ptr<Stmt> Parser::parseIf() {
  auto node = makeStmt(StmtKind::If);
  Override<bool> soft(conditional, true);
  take();
  while (!failed()) {
    Branch branch;
    branch.condition = parseTuple(false);
    expectBlockEnd();
    branch.body = parseBlock({"elif", "else", "endif"});
    node->branches.push_back(std::move(branch));
    std::string next = take().text;
    if (next == "elif") {
      continue;
    }
    if (next == "else") {
      expectBlockEnd();
      node->orElse = parseBlock({"endif"});
      take();
    }
    break;
  }
  expectBlockEnd();
  return node;
}

std::unique_ptr<Stmt> Parser::parseSet() {
  auto node = makeStmt(StmtKind::Set);
  take();
  node->target = parseTarget(true);
  if (takeOperator("=")) {
    node->value = parseTuple(true);
    expectBlockEnd();
    return node;
  }
  node->kind = StmtKind::SetBlock;
  if (atOperator("|")) {
    node->value = parseFilters(nullptr);
  }
  expectBlockEnd();
  node->body = parseInnerBody("endset");
  return node;
}

std::unique_ptr<Stmt> Parser::parseMacro() {
  auto node = makeStmt(StmtKind::Macro);
  take();
  node->macro = std::make_unique<MacroBody>();
  node->macro->name = expectName();
  parseSignature(*node->macro);
  expectBlockEnd();
  parseMacroBody(*node->macro, "endmacro");
  return node;
}

std::unique_ptr<Stmt> Parser::parseCallBlock() {
  auto node = makeStmt(StmtKind::CallBlock);
  take();
  node->macro = std::make_unique<MacroBody>();
  node->macro->name = "caller";
  if (atOperator("(")) {
    parseSignature(*node->macro);
  }
  node->value = parseExpression();
  if (node->value && node->value->kind != ExprKind::Call) {
    fail("expected call");
  }
  expectBlockEnd();
  parseMacroBody(*node->macro, "endcall");
  return node;
}

void Parser::parseSignature(MacroBody &macro) {
  expectOperator("(");
  bool defaulted = false;
  while (!failed() && !atOperator(")")) {
    if (!macro.parameters.empty()) {
      expectOperator(",");
      if (atOperator(")")) {
        break;
      }
    }
    macro.parameters.push_back(expectName());
    macro.defaults.emplace_back();
    if (takeOperator("=")) {
      defaulted = true;
      macro.defaults.back() = parseExpression();
    } else if (defaulted) {
      fail("non-default argument follows default argument");
    }
  }
  expectOperator(")");
}

void Parser::parseMacroBody(MacroBody &macro, std::string_view end) {
  macros.push_back(&macro);
  macro.body = parseInnerBody(end);
  macros.pop_back();
}

Block Parser::parseInnerBody(std::string_view end) {
  Override<int> noLoop(loops, 0);
  Override<bool> plain(conditional, false);
  Block body = parseBlock({end});
  take();
  expectBlockEnd();
  return body;
}

std::unique_ptr<Stmt> Parser::parseFilterBlock() {
  auto node = makeStmt(StmtKind::Filter);
  take();
  ExprPtr first = parseFilter(nullptr);
  node->value = parseFilters(std::move(first));
  expectBlockEnd();
  node->body = parseInnerBody("endfilter");
  return node;
}

std::unique_ptr<Stmt> Parser::parseWith() {
  auto node = makeStmt(StmtKind::With);
  take();
  node->macro = std::make_unique<MacroBody>();
  while (!failed() && peek().kind != TokenKind::BlockEnd) {
    if (!node->macro->parameters.empty()) {
      expectOperator(",");
    }
    node->macro->parameters.push_back(expectName());
    expectOperator("=");
    node->macro->defaults.push_back(parseExpression());
  }
  expectBlockEnd();
  Override<bool> plain(conditional, false);
  node->body = parseBlock({"endwith"});
  take();
  expectBlockEnd();
  return node;
}

std::unique_ptr<Stmt> Parser::parseGeneration() {
  auto node = makeStmt(StmtKind::Scope);
  take();
  expectBlockEnd();
  node->body = parseInnerBody("endgeneration");
  return node;
}

std::unique_ptr<Stmt> Parser::parseLoopControl() {
  bool isBreak = peek().text == "break";
  auto node = makeStmt(isBreak ? StmtKind::Break : StmtKind::Continue);
  if (loops == 0) {
    fail(absl::StrCat("'", peek().text, "' outside loop"));
  }
  take();
  expectBlockEnd();
  return node;
}

} // namespace quire::jinja
