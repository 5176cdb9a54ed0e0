// What a bisection came to, as a table for people and as JSON.

#ifndef QUIRE_TOOLS_BISECT_BISECTREPORT_H
#define QUIRE_TOOLS_BISECT_BISECTREPORT_H

#include "tools/bisect/LaunchBisect.h"
#include "tools/bisect/PassBisect.h"

#include "nlohmann/json.hpp"

#include <span>
#include <string>

namespace quire::bisect {

std::string passTable(std::span<const PassChange> changes);
/// A row for each pass; numbers that are none become null.
nlohmann::ordered_json passJson(std::span<const PassChange> changes);
/// The sentence that names a wrong pass and says what to do.
std::string describe(const PassChange &wrong);

/// A row for each launch of the module: its worst layer.
std::string launchTable(std::span<const LaunchChange> changes);
/// A row for each launch that ran.
nlohmann::ordered_json launchJson(std::span<const LaunchChange> changes);
std::string describe(const LaunchChange &wrong);

} // namespace quire::bisect

#endif
