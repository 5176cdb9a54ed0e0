// Runs a template's syntax tree. One Interpreter is one rendering: it owns the
// scopes, writes the output, and recurses no deeper than the Context allows.
//
// Scopes are as Jinja2 compiles them: a loop iteration, a macro call and the
// body of a block have their own, `if` has none; names are looked up outward,
// then among the inputs, then among the globals. A macro sees the scopes
// around its definition, not those of its caller.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_INTERPRETER_H
#define QUIRE_RUNTIME_TEXT_JINJA_INTERPRETER_H

#include "runtime/text/jinja/Ast.h"
#include "runtime/text/jinja/Context.h"

#include <map>
#include <memory>

namespace quire::jinja {

class Interpreter {
public:
  Interpreter(Context &context, std::map<std::string, Value> inputs)
      : context(context), inputs(std::move(inputs)) {}

  /// The rendered text; meaningless if the context failed.
  Text render(const Block &block);

private:
  struct Scope {
    Scope *parent = nullptr;
    /// A macro may see this scope after it is left.
    bool captured = false;
    std::vector<std::pair<std::string_view, Value>> variables;
    void set(std::string_view name, Value value);
  };

  /// How a block ended.
  enum class Flow { Next, Break, Continue };

  // Statements.
  Flow run(const Block &block);
  Flow run(const Stmt &stmt);
  Flow runIf(const Stmt &stmt);
  void runFor(const Stmt &stmt, const Value &iterable, int level);
  std::vector<Value> loopItems(const Stmt &stmt, const Value &iterable);
  void runSetBlock(const Stmt &stmt);
  void runCallBlock(const Stmt &stmt);
  void runFilterBlock(const Stmt &stmt);
  void runWith(const Stmt &stmt);
  void assign(const Expr &target, const Value &value);
  /// The output of a block in a scope of its own.
  Text capture(const Block &block);
  void captureScopes();
  Value defineMacro(const MacroBody &macro);
  Value invoke(const MacroBody &macro, Scope *closure,
               const Arguments &arguments);
  void bind(const MacroBody &macro, const Arguments &arguments);

  // Expressions.
  Value eval(const Expr &expr);
  Value evalKind(const Expr &expr);
  Value evalName(const std::string &name);
  Value evalLogic(const Expr &expr);
  Value evalCompare(const Expr &expr);
  Value evalConcat(const Expr &expr);
  Value evalDict(const Expr &expr);
  Value evalSlice(const Expr &expr);
  Value evalConditional(const Expr &expr);
  Value evalFilter(const Expr &expr, const Value *blockText);
  Value evalTest(const Expr &expr);
  Value evalCall(const Expr &expr, const Value *caller);
  std::vector<Value> evalAll(const std::vector<ExprPtr> &list, size_t from);
  Arguments evalArguments(const Expr &expr);

  /// Opens a scope while it lives.
  class InScope {
  public:
    InScope(Interpreter &interpreter, Scope *parent);
    ~InScope();

  private:
    Interpreter &interpreter;
    Scope *saved;
  };
  friend class InScope;

  Context &context;
  std::map<std::string, Value> inputs;
  /// A stack; captured scopes are moved to `kept` when left.
  std::vector<std::unique_ptr<Scope>> scopes;
  std::vector<std::unique_ptr<Scope>> kept;
  Scope *scope = nullptr;
  Text *output = nullptr;
};

} // namespace quire::jinja

#endif
