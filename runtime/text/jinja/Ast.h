// The syntax tree of a template: two node types, told apart by their kind, so
// that the interpreter is one switch for expressions and one for statements.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_AST_H
#define QUIRE_RUNTIME_TEXT_JINJA_AST_H

#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Value.h"

#include <memory>
#include <string>
#include <vector>

namespace quire::jinja {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// What each kind keeps in `operands` and `name` stands beside it.
enum class ExprKind {
  Constant,    ///< value
  Name,        ///< name
  Field,       ///< namespace field as a target of set: operand.name
  Tuple,       ///< operands
  List,        ///< operands
  Dict,        ///< key, value, key, value, ...
  Negate,      ///< operand
  Plus,        ///< operand
  Not,         ///< operand
  And,         ///< left, right
  Or,          ///< left, right
  Binary,      ///< left, right; name: the operator
  Compare,     ///< first, then one operand per entry of `operators`
  Concat,      ///< operands
  Conditional, ///< condition, then, else (null: undefined)
  Attribute,   ///< object; name
  Subscript,   ///< object, key
  Slice,       ///< object, start, stop, step (each but the first may be null)
  Filter,      ///< input (null: the text of a block), arguments; name, builtin
  Test,        ///< input, arguments; name, builtin
  Call         ///< callee, arguments
};

struct Expr {
  ExprKind kind;
  int line;
  /// Longest path to a leaf; the parser bounds it, so recursion is bounded.
  int depth = 1;
  std::string name;
  Value value;
  std::vector<ExprPtr> operands;
  std::vector<std::string> operators;
  std::vector<std::pair<std::string, ExprPtr>> keywords;
  /// Null for a filter or test nobody knows inside a conditional: an error
  /// only if it is reached.
  Builtin builtin = nullptr;
};

struct Stmt;
using Block = std::vector<std::unique_ptr<Stmt>>;

enum class StmtKind {
  Data,      ///< text
  Print,     ///< value
  If,        ///< branches, orElse
  For,       ///< target in value if condition; body, orElse
  Set,       ///< target = value
  SetBlock,  ///< target = body, through the filters of `value` if any
  Macro,     ///< macro
  CallBlock, ///< value: the call; macro: the body as `caller`
  Filter,    ///< body through the filters of `value`
  With,      ///< names of `macro` bound to its defaults, around body
  Scope,     ///< body in a scope of its own (`generation`)
  Break,
  Continue
};

/// Something callable with a body: a macro or the block of a call.
struct MacroBody {
  std::string name;
  std::vector<std::string> parameters;
  /// One per parameter; null where it has none.
  std::vector<ExprPtr> defaults;
  Block body;
  bool usesCaller = false;
  bool usesVarargs = false;
  bool usesKwargs = false;
};

struct Branch {
  ExprPtr condition;
  Block body;
};

struct Stmt {
  StmtKind kind;
  int line;
  Text text;
  ExprPtr target;
  ExprPtr value;
  ExprPtr condition;
  bool recursive = false;
  Block body;
  Block orElse;
  std::vector<Branch> branches;
  std::unique_ptr<MacroBody> macro;
};

} // namespace quire::jinja

#endif
