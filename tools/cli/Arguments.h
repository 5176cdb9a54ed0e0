// The arguments of one command: options bound to variables, filled by parse().
// A thin front over the option library, so that only one file pays for it. The
// bound variables must outlive parse().

#ifndef QUIRE_TOOLS_CLI_ARGUMENTS_H
#define QUIRE_TOOLS_CLI_ARGUMENTS_H

#include "absl/status/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quire::cli {

class Arguments {
public:
  Arguments(const std::string &command, const std::string &description);
  ~Arguments();

  // `names` as in "-n,--new-tokens". A text may be empty; a name of a file or
  // of a choice may not.
  void name(const char *names, std::string &value, const char *help);
  void option(const char *names, std::string &value, const char *help);
  void option(const char *names, int64_t &value, const char *help);
  void option(const char *names, uint64_t &value, const char *help);
  void option(const char *names, double &value, const char *help);
  /// A number whose zero means "not given", and which may not be given so: one
  /// outside [low, high] is refused.
  void setting(const char *names, int64_t &value, int64_t low, int64_t high,
               const char *help);
  /// May be given several times, one value each.
  void repeated(const char *names, std::vector<std::string> &values,
                const char *help);
  /// An option of other builds, which the command refuses: not in the help.
  void refused(const char *names, bool &given);
  void flag(const char *names, bool &value, const char *help);
  void positional(const char *name, std::string &value, const char *help,
                  bool required = true);

  bool given(const char *name) const;

  /// A wrong command line is a usageError. After --help, which is printed
  /// here, a silentEnd(0).
  absl::Status parse(int argc, char **argv);

private:
  struct Parser;
  std::unique_ptr<Parser> parser;
};

/// "1,2,3" as numbers; `name` is the option's, for the error.
absl::Status parseNumbers(const std::string &name, const std::string &text,
                          std::vector<int64_t> &out);

} // namespace quire::cli

#endif
