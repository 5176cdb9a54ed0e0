#include "tools/bisect/BisectReport.h"

#include "absl/strings/str_format.h"
#include "frontends/formats/Counted.h"
#include "frontends/formats/StrCat.h"

#include <algorithm>
#include <vector>

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

static std::string whereOf(const LaunchChange &change) {
  return change.layer < 0 ? "" : strCat(" of layer ", change.layer);
}

std::string launchTable(std::span<const LaunchChange> changes) {
  // Wrong before sound, then by error.
  auto isWorse = [](const LaunchChange &a, const LaunchChange &b) {
    return a.isSound() != b.isSound() ? !a.isSound() : a.error > b.error;
  };
  std::vector<const LaunchChange *> rows; // in the order of first runs
  std::vector<int64_t> wrong;
  for (const LaunchChange &change : changes) {
    auto known = std::ranges::find(rows, change.number, &LaunchChange::number);
    if (known == rows.end()) {
      known = rows.insert(rows.end(), &change);
      wrong.push_back(0);
    }
    wrong[size_t(known - rows.begin())] += !change.isSound();
    *known = isWorse(change, **known) ? &change : *known;
  }
  std::string text = absl::StrFormat("%-32s %6s %9s %9s  %s\n", "launch",
                                     "layer", "worst", "bar", "kernel");
  for (size_t i = 0; i < rows.size(); ++i) {
    const LaunchChange &row = *rows[i];
    strAppend(text,
              absl::StrFormat(
                  "%-32s %6s %9.1e %9.1e  %s%s\n", row.launch,
                  row.layer < 0 ? "" : strCat(row.layer), row.error, row.bar,
                  row.kernel,
                  wrong[i] == 0 ? "" : "  wrong " + counted(wrong[i], "time")));
  }
  return text;
}

ordered_json launchJson(std::span<const LaunchChange> changes) {
  ordered_json rows = ordered_json::array();
  for (const LaunchChange &row : changes) {
    rows.push_back({{"launch", row.launch},
                    {"layer", row.layer},
                    {"kernel", row.kernel},
                    {"buffer", row.buffer},
                    {"tensors", row.tensors},
                    {"error", row.error},
                    {"unit", row.unit},
                    {"bar", row.bar},
                    {"sound", row.isSound()}});
  }
  return rows;
}

std::string describe(const LaunchChange &wrong) {
  std::string text =
      strCat("launch ", wrong.launch, whereOf(wrong), " (", wrong.kernel,
             ") leaves ", wrong.buffer,
             absl::StrFormat(" off by %.1e %s, %.1e is allowed", wrong.error,
                             wrong.unit, wrong.bar));
  if (wrong.tensors.empty()) {
    return text + "; its kernel or generated code is wrong";
  }
  strAppend(text, "; it reads ");
  for (size_t i = 0; i < wrong.tensors.size(); ++i) {
    strAppend(text, i == 0 ? "" : ", ", wrong.tensors[i]);
  }
  return text + ": check the weights with quire inspect --verify, then the "
                "kernel";
}

} // namespace quire::bisect
