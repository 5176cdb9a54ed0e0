// How far a buffer is from what it should hold, in a unit that fits how its
// values are stored.

#ifndef QUIRE_TOOLS_BISECT_LAUNCHERROR_H
#define QUIRE_TOOLS_BISECT_LAUNCHERROR_H

#include "tools/bisect/NativeBuffer.h"

namespace quire::bisect {

/// The worst element. Floats: in root mean squares of the expected row. Int8
/// activations: in steps of rounding. Routes: as floats, but infinite where
/// another expert was chosen; pairs: infinite where any differs. Infinite also
/// where a number is none.
double errorOf(Stored stored, const reference::Rows &got,
               const reference::Rows &expected);

/// What the error counts in, for people.
const char *unitOf(Stored stored);
/// The most that a sound launch may be off.
double barOf(Stored stored);
/// The same of cache entries, which are rounded by one function everywhere.
inline constexpr double kCacheBar = 1e-6;

} // namespace quire::bisect

#endif
