// An engine on one self-contained HTML page: summary, memory ledger, kernels.

#ifndef QUIRE_TOOLS_CLI_INSPECTHTML_H
#define QUIRE_TOOLS_CLI_INSPECTHTML_H

#include "nlohmann/json_fwd.hpp"

#include <string>

namespace quire::cli {

struct InspectPage {
  std::string title;
  const nlohmann::ordered_json &summary; // summaryJson
  const nlohmann::ordered_json &memory;  // memoryReport
  const nlohmann::ordered_json &kernels; // kernelsJson
};

std::string inspectHtml(const InspectPage &page);

} // namespace quire::cli

#endif
