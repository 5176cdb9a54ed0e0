#include "tools/cli/JsonOutput.h"

#include "tools/cli/Files.h"

#include "nlohmann/json.hpp"

namespace quire::cli {

using nlohmann::ordered_json;

static std::string dump(const ordered_json &json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

std::string jsonLine(const ordered_json &json) { return dump(json, -1); }

std::string jsonDocument(const ordered_json &json) { return dump(json, 1); }

absl::Status writeJsonLine(const ordered_json &json) {
  return writeOutput(jsonLine(json));
}

} // namespace quire::cli
