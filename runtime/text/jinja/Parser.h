// From tokens to the syntax tree, by recursive descent in Jinja2's order of
// precedence. Whatever the interpreter cannot do is refused here, with the
// line: a template that loads has no construct we do not implement.
//
// Errors are sticky: after the first one every token reads as the end.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_PARSER_H
#define QUIRE_RUNTIME_TEXT_JINJA_PARSER_H

#include "runtime/text/jinja/Ast.h"
#include "runtime/text/jinja/Lexer.h"

#include "absl/status/statusor.h"

#include <initializer_list>

namespace quire::jinja {

absl::StatusOr<Block> parseTemplate(std::string_view source);

class Parser {
public:
  explicit Parser(std::vector<Token> tokens);
  absl::StatusOr<Block> parse();

private:
  // Tokens.
  const Token &peek() const;
  Token take();
  bool atOperator(std::string_view op) const;
  bool atName(std::string_view name) const;
  bool takeOperator(std::string_view op);
  bool takeName(std::string_view name);
  void expectOperator(std::string_view op);
  std::string expectName();
  void fail(std::string message);
  void noteUnknown(std::string message);
  void failOnUnknown();
  bool failed() const { return !error.empty(); }

  // Statements.
  Block parseBlock(std::initializer_list<std::string_view> until);
  void parseTag(Block &block);
  std::unique_ptr<Stmt> parseFor();
  std::unique_ptr<Stmt> parseIf();
  std::unique_ptr<Stmt> parseSet();
  std::unique_ptr<Stmt> parseMacro();
  std::unique_ptr<Stmt> parseCallBlock();
  std::unique_ptr<Stmt> parseFilterBlock();
  std::unique_ptr<Stmt> parseWith();
  std::unique_ptr<Stmt> parseGeneration();
  std::unique_ptr<Stmt> parseLoopControl();
  void parseSignature(MacroBody &macro);
  void parseMacroBody(MacroBody &macro, std::string_view end);
  /// A body with a scope of its own and no loop to break.
  Block parseInnerBody(std::string_view end);
  void expectBlockEnd();
  std::unique_ptr<Stmt> makeStmt(StmtKind kind);

  // Expressions.
  ExprPtr parseExpression();
  ExprPtr parseConditional();
  ExprPtr parseOr();
  ExprPtr parseAnd();
  ExprPtr parseNot();
  ExprPtr parseCompare();
  ExprPtr parseSum();
  ExprPtr parseConcat();
  ExprPtr parseProduct();
  ExprPtr parsePower();
  ExprPtr parseUnary(bool withFilter = true);
  ExprPtr parsePrimary();
  ExprPtr parseName();
  ExprPtr parseNumber();
  ExprPtr parseList();
  ExprPtr parseDict();
  ExprPtr parsePostfix(ExprPtr node);
  ExprPtr parseFilters(ExprPtr node);
  ExprPtr parseFilter(ExprPtr input);
  ExprPtr parseTest(ExprPtr input);
  ExprPtr parseAttribute(ExprPtr object);
  ExprPtr parseSubscript(ExprPtr object);
  ExprPtr parseCall(ExprPtr callee);
  void parseArguments(Expr &node);
  ExprPtr parseTuple(bool conditional, bool inParentheses = false,
                     std::string_view endName = "");
  ExprPtr parseTarget(bool allowField);
  ExprPtr makeExpr(ExprKind kind, std::vector<ExprPtr> operands = {});
  ExprPtr makeConstant(Value value);
  ExprPtr finish(ExprPtr node);

  /// One level of nesting, while it lives; bounds recursion.
  struct Nesting {
    explicit Nesting(Parser &parser);
    ~Nesting() { --parser.nesting; }
    Parser &parser;
  };

  std::vector<Token> tokens;
  size_t position = 0;
  std::string error;
  int errorLine = 0;
  int nesting = 0;
  int loops = 0;
  /// Inside a conditional an unknown filter or test is an error only when it
  /// is reached. `{{ a if b }}` shows itself late, so complaints wait in
  /// `unknown` until their statement is read.
  bool conditional = false;
  std::vector<std::string> unknown;
  std::vector<MacroBody *> macros;
};

} // namespace quire::jinja

#endif
