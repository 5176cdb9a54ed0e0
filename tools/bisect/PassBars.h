// How far a pass may move the logits before it counts as wrong.

#ifndef QUIRE_TOOLS_BISECT_PASSBARS_H
#define QUIRE_TOOLS_BISECT_PASSBARS_H

#include "passes/Pipeline.h"

namespace quire::bisect {

/// The most that the root mean square of the logits' change may be, in
/// deviations of the logits.
double barOf(Rounds rounds, const PipelineOptions &options);

/// The same for a pass by its name; that of a rewrite for an unknown one.
double barOf(std::string_view pass, const PipelineOptions &options);

} // namespace quire::bisect

#endif
