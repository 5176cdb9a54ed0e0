#include "tools/bisect/BisectReport.h"

#include "absl/strings/str_format.h"
#include "frontends/formats/StrCat.h"

namespace quire::bisect {

using nlohmann::ordered_json;

std::string passTable(std::span<const PassChange> changes) {
  std::string text =
      absl::StrFormat("%-10s %-20s %9s %9s %9s %12s\n", "phase", "pass",
                      "change", "worst", "bar", "from import");
  for (const PassChange &row : changes) {
    strAppend(text,
              absl::StrFormat("%-10s %-20s %9.1e %9.1e %9.1e %12.1e%s\n",
                              row.phase, row.pass, row.change.typical,
                              row.change.worst, row.bar, row.fromImport.typical,
                              row.isSound() ? "" : "  wrong"));
  }
  return text;
}

static ordered_json errorJson(const reference::LogitError &error) {
  return {{"typical", error.typical}, {"worst", error.worst}};
}

ordered_json passJson(std::span<const PassChange> changes) {
  ordered_json rows = ordered_json::array();
  for (const PassChange &row : changes) {
    rows.push_back({{"phase", row.phase},
                    {"pass", row.pass},
                    {"change", errorJson(row.change)},
                    {"bar", row.bar},
                    {"from_import", errorJson(row.fromImport)},
                    {"sound", row.isSound()}});
  }
  return rows;
}

std::string describe(const PassChange &wrong) {
  return strCat("pass ", wrong.pass, " changes the logits by ",
                absl::StrFormat("%.1e deviations, %.1e is allowed; compare the "
                                "modules around it with quire compile "
                                "--dump-ir-after ",
                                wrong.change.typical, wrong.bar),
                wrong.pass);
}

} // namespace quire::bisect
