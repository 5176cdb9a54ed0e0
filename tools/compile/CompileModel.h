// `quire compile`: checkpoint -> lm -> passes -> rt -> engine, with progress on
// stderr and what the user asked to see on stdout.

#ifndef QUIRE_TOOLS_COMPILE_COMPILEMODEL_H
#define QUIRE_TOOLS_COMPILE_COMPILEMODEL_H

#include "tools/compile/CompileOptions.h"

namespace quire {

/// Returns the exit status; errors are printed as one sentence each.
int compileModel(const CompileOptions &options);

} // namespace quire

#endif
