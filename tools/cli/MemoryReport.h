// The memory ledger of an engine as a document: every buffer with owner,
// formula and bytes, what the weights and the activation arena consist of, and
// what the key/value cache costs per token and per context. The figures are
// those of an engine made with the same options, not an estimate beside it.

#ifndef QUIRE_TOOLS_CLI_MEMORYREPORT_H
#define QUIRE_TOOLS_CLI_MEMORYREPORT_H

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "runtime/Engine.h"

#include <string>

namespace quire::cli {

absl::StatusOr<nlohmann::ordered_json>
memoryReport(const EngineDirectory &directory, const EngineOptions &options);

/// The report as tables for people.
std::string memoryText(const nlohmann::ordered_json &report);

} // namespace quire::cli

#endif
