// A step's profile for people and as JSON.

#ifndef QUIRE_TOOLS_CLI_PROFILEREPORT_H
#define QUIRE_TOOLS_CLI_PROFILEREPORT_H

#include "nlohmann/json_fwd.hpp"
#include "runtime/engine/manifest.pb.h"
#include "tools/cli/StepProfile.h"

#include <string>

namespace quire::cli {

std::string profileText(const StepProfile &profile, const std::string &title,
                        const manifest::Manifest &manifest);

nlohmann::ordered_json profileJson(const StepProfile &profile,
                                   const manifest::Manifest &manifest);

} // namespace quire::cli

#endif
