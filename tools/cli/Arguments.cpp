#include "tools/cli/Arguments.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"
#include "tools/cli/Report.h"

#include "CLI/CLI.hpp"

#include <charconv>
#include <cstdio>

namespace quire::cli {

struct Arguments::Parser {
  Parser(const std::string &command, const std::string &description)
      : command(command), app(description, command) {}
  std::string command;
  CLI::App app;
};

Arguments::Arguments(const std::string &command, const std::string &description)
    : parser(std::make_unique<Parser>(command, description)) {}

Arguments::~Arguments() = default;

void Arguments::option(const char *names, std::string &value,
                       const char *help) {
  parser->app.add_option(names, value, help);
}

void Arguments::refused(const char *names, bool &given) {
  auto note = [&given](const std::string &) { given = true; };
  parser->app.add_option_function<std::string>(names, note)
      ->expected(0, 1)
      ->group("");
}

void Arguments::name(const char *names, std::string &value, const char *help) {
  CLI::callback_t read = [&value](const CLI::results_t &words) {
    value = words.front();
    return !value.empty();
  };
  parser->app.add_option(names, read, help)->expected(1)->type_name("NAME");
}

// Numbers are read here: the library's own reader saturates and wraps what
// does not fit.
template <typename Number>
static CLI::Option *addNumber(CLI::App &app, const char *names, Number &value,
                              const char *help) {
  CLI::callback_t read = [&value](const CLI::results_t &words) {
    const std::string &word = words.front();
    const char *end = word.data() + word.size();
    auto [rest, error] = std::from_chars(word.data(), end, value);
    return error == std::errc() && rest == end;
  };
  return app.add_option(names, read, help)->expected(1)->type_name("NUMBER");
}

void Arguments::option(const char *names, int64_t &value, const char *help) {
  addNumber(parser->app, names, value, help);
}
void Arguments::option(const char *names, uint64_t &value, const char *help) {
  addNumber(parser->app, names, value, help);
}
void Arguments::option(const char *names, double &value, const char *help) {
  addNumber(parser->app, names, value, help);
}

void Arguments::setting(const char *names, int64_t &value, int64_t low,
                        int64_t high, const char *help) {
  addNumber(parser->app, names, value, help)->check(CLI::Range(low, high));
}

void Arguments::repeated(const char *names, std::vector<std::string> &values,
                         const char *help) {
  // Bound to a function, not to the vector: the library would split a value
  // in brackets into a list.
  auto add = [&values](const std::string &value) { values.push_back(value); };
  parser->app.add_option_function<std::string>(names, add, help)
      ->trigger_on_parse();
}

void Arguments::flag(const char *names, bool &value, const char *help) {
  parser->app.add_flag(names, value, help);
}

void Arguments::positional(const char *name, std::string &value,
                           const char *help, bool required) {
  parser->app.add_option(name, value, help)->required(required);
}

bool Arguments::given(const char *name) const {
  return parser->app.count(name) > 0;
}

absl::Status Arguments::parse(int argc, char **argv) {
  try {
    parser->app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      std::fputs(parser->app.help().c_str(), stdout);
      std::fflush(stdout);
      return silentEnd(0);
    }
    return usageError(
        strCat(printable(error.what()), "; see ", parser->command, " --help"));
  } catch (const std::exception &error) {
    return usageError(strCat("the command line cannot be read (",
                             printable(error.what()), "); see ",
                             parser->command, " --help"));
  }
  return absl::OkStatus();
}

absl::Status parseNumbers(const std::string &name, const std::string &text,
                          std::vector<int64_t> &out) {
  out.clear();
  const char *at = text.data();
  const char *end = at + text.size();
  while (true) {
    while (at != end && *at == ' ') {
      ++at;
    }
    int64_t value = 0;
    auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != ',')) {
      return usageError(strCat(name,
                               " wants numbers with commas between, got '",
                               printable(text), "'"));
    }
    out.push_back(value);
    if (next == end) {
      return absl::OkStatus();
    }
    at = next + 1;
  }
}

} // namespace quire::cli
