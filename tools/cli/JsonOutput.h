// JSON on stdout.

#ifndef QUIRE_TOOLS_CLI_JSONOUTPUT_H
#define QUIRE_TOOLS_CLI_JSONOUTPUT_H

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

#include <string>

namespace quire::cli {

/// On one line, bytes that are no UTF-8 mended.
std::string jsonLine(const nlohmann::ordered_json &json);
/// Indented, for documents that people read, too.
std::string jsonDocument(const nlohmann::ordered_json &json);

absl::Status writeJsonLine(const nlohmann::ordered_json &json);

} // namespace quire::cli

#endif
