// Whole files in and out for the commands: results on stdout, prompts from
// files or stdin. One thread.

#ifndef QUIRE_TOOLS_CLI_FILES_H
#define QUIRE_TOOLS_CLI_FILES_H

#include "absl/status/statusor.h"

#include <optional>
#include <string>
#include <string_view>

namespace quire::cli {

/// Writes all of `text` to stdout at once. When the reader has gone the
/// status ends the process quietly with 0: it has what it wanted.
absl::Status writeOutput(std::string_view text);

/// Where stderr may go on in the last line of what stdout got (both are one
/// file, or a pipe leads to the terminal), starts a new line. The output itself
/// stays as it is.
void separateStderrFromOutput();

/// "-", or no path, reads stdin.
absl::StatusOr<std::string> readInput(const std::string &path);

/// One line of stdin without its end; nullopt at the end of input, or when a
/// signal came while waiting. Holds what it read ahead.
class LineReader {
public:
  std::optional<std::string> next();

private:
  std::string buffer;
  bool ended = false;
};

} // namespace quire::cli

#endif
