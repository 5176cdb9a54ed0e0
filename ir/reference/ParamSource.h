// Where the interpreter gets the values of parameters.

#ifndef QUIRE_IR_REFERENCE_PARAMSOURCE_H
#define QUIRE_IR_REFERENCE_PARAMSOURCE_H

#include "ir/lm/Lm.h"
#include "ir/reference/Rows.h"

namespace quire::reference {

class ParamSource {
public:
  virtual ~ParamSource() = default;

  /// The f32 values of a parameter in `layer` (ignored where it has no
  /// layers), of the parameter's shape. On failure an error was reported at
  /// the parameter.
  virtual llvm::FailureOr<Weight> load(lm::ParamOp param, int64_t layer) = 0;
};

} // namespace quire::reference

#endif
