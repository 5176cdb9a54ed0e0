// What a command came to. Work returns absl::Status; a few extra kinds say
// how the process ends: a wrong command line (2), an interruption (130), or an
// end about which nothing more need be said. Notes go to stderr.

#ifndef QUIRE_TOOLS_CLI_REPORT_H
#define QUIRE_TOOLS_CLI_REPORT_H

#include "absl/status/status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace quire::cli {

/// The command line was wrong; one sentence, what to do included.
absl::Status usageError(std::string_view sentence);
/// The user pressed Ctrl-C.
absl::Status interruptedError();
/// The process ends with `exitStatus`; everything was said already.
absl::Status silentEnd(int exitStatus);

/// Prints the error, if there is one to print, and returns the exit status.
int exitStatusOf(const absl::Status &status);

/// "quire: <text>" on stderr.
void note(std::string_view text);
/// "quire: warning: <text>" on stderr.
void warn(std::string_view text);

/// Most physical memory the process ever used, mapped files included, bytes.
int64_t peakMemoryBytes();

/// "1.2 GiB", for people.
std::string readableBytes(int64_t bytes);

} // namespace quire::cli

#endif
