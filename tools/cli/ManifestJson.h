// A manifest as JSON: all of it for --manifest, and the few figures that the
// other views of an engine share.

#ifndef QUIRE_TOOLS_CLI_MANIFESTJSON_H
#define QUIRE_TOOLS_CLI_MANIFESTJSON_H

#include "nlohmann/json.hpp"
#include "runtime/engine/manifest.pb.h"

namespace quire::cli {

nlohmann::ordered_json manifestJson(const manifest::Manifest &manifest);

/// Who the model is, how large, for what code; no lists.
nlohmann::ordered_json summaryJson(const manifest::Manifest &manifest);

/// One object a launch of every program.
nlohmann::ordered_json kernelsJson(const manifest::Manifest &manifest);

} // namespace quire::cli

#endif
