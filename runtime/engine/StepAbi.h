// The binary interface between an engine's generated code and the runtime:
// plain structs and function pointers, no C++ types with a layout of their
// own. Changing anything here raises kStepAbiVersion; an engine with another
// version is refused when it is opened.
//
// One step is one SPMD function: every worker calls it with the same
// arguments and walks the same sequence of launches. Control flow never
// depends on what the step's arrays hold, so that a worker that lost its core
// for a whole step can walk through late, find every tile taken, and leave
// without having read memory that already serves the next step.

#ifndef QUIRE_RUNTIME_ENGINE_STEPABI_H
#define QUIRE_RUNTIME_ENGINE_STEPABI_H

#include <cstddef>
#include <cstdint>

extern "C" {

/// The rows of one step as flat arrays; the only thing kernels learn about
/// sequences. A row is one token of one sequence.
///
/// A row attends, in this order, to: the committed tokens at positions
/// [first, context) through its sequence's page table, where `first` follows
/// from the layer's window; its uncommitted ancestors in position order
/// (positions [context, position)); itself. A prompt chunk or a decoded token
/// has context == position and no ancestors: earlier rows of the same step
/// stand in the pages already when attention runs. Only rows of a draft tree
/// have ancestors.
struct QuireBatch {
  int32_t rows;            // rows in this step, dead ones included
  int32_t logitRows;       // rows whose logits are wanted
  int32_t sequences;       // page-table rows in use
  int32_t maxPages;        // entries per page-table row
  const int32_t *token;    // [rows]; dead rows hold 0
  const int32_t *position; // [rows]
  const int32_t *sequence; // [rows] page-table row
  const int32_t *context;  // [rows] committed tokens before this row
  const uint8_t *role;     // [rows] QuireRole
  const int32_t *logitRow; // [logitRows] ascending row numbers
  // By QuireForm: the rows whose latent attention takes that form. Every row
  // is in one of the two lists; dead rows are latent.
  int32_t formRows[2];
  const int32_t *formRow[2]; // [formRows[form]] ascending row numbers
  // Per cache group g: arrays of arrays, so that groups may differ.
  const int32_t *const *slot;      // [groups][rows] page * pageSize + offset;
                                   // -1: a dead row, nothing is written
  const int32_t *const *pageTable; // [groups][sequences * maxPages]; entry i
                                   // holds positions [i*pageSize, ...);
                                   // -1: released (outside the window)
  const int32_t *ancestorBegin;    // [rows + 1] into ancestor[g]
  const int32_t *const *ancestor;  // [groups][ancestorBegin[rows]] slots
};

enum QuireRole : uint8_t { kQuirePrompt = 0, kQuireGenerated = 1 };

/// How a row attends where a model has latent attention: on the latents
/// themselves, or on keys and values raised from them. It follows from the
/// row's request alone, so that batching never changes a number.
enum QuireForm : uint8_t { kQuireLatent = 0, kQuireMaterialised = 1 };

/// Everything a step function may touch.
struct QuireStep {
  const QuireBatch *batch;
  const std::byte *weights; // the mapped weight file
  std::byte *arena;         // activations, manifest's arena_bytes
  std::byte *const *caches; // [groups] first byte of page 0
  float *logits;            // [logitRows, vocabulary]
};

/// Where the current layer's weights lie: byte offsets into the weight file,
/// one per weight slot of the layer's kind, from the generated tables.
struct QuireLayer {
  const int64_t *weightOffsets;
  int64_t index;        // the layer's number in the model
  int64_t indexInGroup; // the layer's number in its cache group
};

struct QuireWorker; // the runtime's; opaque to generated code

/// Number of tiles of a launch, and the work of one tile. `scratch` is the
/// calling worker's own, manifest's scratch_bytes, 64-byte aligned, contents
/// undefined on entry.
typedef int64_t (*QuireTileCountFn)(const QuireStep *, const QuireLayer *);
typedef void (*QuireTileFn)(const QuireStep *, const QuireLayer *, int64_t tile,
                            std::byte *scratch);

/// What generated code asks of the runtime.
struct QuireWorkerApi {
  /// Runs tiles of one launch: first this worker's own share, then others'.
  /// Returns when none is left to take; some may still run elsewhere.
  /// `launch` names the launch for profiles: its number in the manifest.
  void (*launch)(QuireWorker *, int32_t launch, QuireTileCountFn, QuireTileFn,
                 const QuireStep *, const QuireLayer *);
  /// Waits until every tile of all launches so far has finished.
  void (*barrier)(QuireWorker *);
};

/// An engine's step: `quire_step` in its code object.
typedef void (*QuireStepFn)(const QuireStep *, const QuireWorkerApi *,
                            QuireWorker *);

/// `quire_abi_version` in the code object.
typedef int32_t (*QuireAbiVersionFn)(void);

} // extern "C"

namespace quire {
inline constexpr int32_t kStepAbiVersion = 2;
inline constexpr const char kStepSymbol[] = "quire_step";
inline constexpr const char kAbiVersionSymbol[] = "quire_abi_version";
} // namespace quire

#endif
