// The way to the compiler: another program, found beside this one, so that
// this one starts in milliseconds and needs no compiler to run engines.

#ifndef QUIRE_TOOLS_CLI_COMPILER_H
#define QUIRE_TOOLS_CLI_COMPILER_H

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace quire::cli {

/// Path of quire-compile: beside this binary, in ../libexec, or on PATH.
absl::StatusOr<std::string> findCompiler();

/// Replaces this process by the compiler. Returns only on failure.
absl::Status becomeCompiler(const std::vector<std::string> &arguments);

/// Runs the compiler and waits for it. Its stdout is turned to stderr. When
/// it fails it has said why, and the status ends the process silently with
/// its exit status.
absl::Status callCompiler(const std::vector<std::string> &arguments);

} // namespace quire::cli

#endif
