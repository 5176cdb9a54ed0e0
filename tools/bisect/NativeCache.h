// The cache entries of a step's rows in one layer, out of native pages and out
// of the interpreter's, as plain rows. Pure functions over their memory.

#ifndef QUIRE_TOOLS_BISECT_NATIVECACHE_H
#define QUIRE_TOOLS_BISECT_NATIVECACHE_H

#include "ir/reference/KvCache.h"
#include "ir/reference/Rows.h"
#include "ir/rt/Rt.h"
#include "runtime/engine/StepAbi.h"

namespace quire::bisect {

/// Each row's key and value, all heads side by side.
struct CacheRows {
  reference::Rows keys;   // [rows, heads * keyDim]
  reference::Rows values; // [rows, heads * valueDim]
};

/// What stands in the slots of the step's rows. `layer` counts in the group.
CacheRows readCache(rt::CacheGroupOp group, int64_t layer,
                    const QuireStep &step);
void writeCache(rt::CacheGroupOp group, int64_t layer, const QuireStep &step,
                const CacheRows &rows);

/// The interpreter's, for a sequence whose slots are its positions.
CacheRows readCache(const reference::KvCache &cache, int64_t layer,
                    int64_t rows);

} // namespace quire::bisect

#endif
