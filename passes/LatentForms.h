// What the three forms of latent attention cost on a machine: bytes and
// multiply-adds of the launches that differ between them, from the query's
// product to the attention's output. Plain arithmetic; printed by --explain.

#ifndef QUIRE_PASSES_LATENTFORMS_H
#define QUIRE_PASSES_LATENTFORMS_H

#include "passes/CostModel.h"

#include <optional>

namespace quire {

enum class LatentForm { Materialised, Factored, Folded };
inline constexpr LatentForm kLatentForms[] = {
    LatentForm::Materialised, LatentForm::Factored, LatentForm::Folded};

llvm::StringRef nameOf(LatentForm form);
std::optional<LatentForm> latentFormNamed(llvm::StringRef name);

/// One layer's latent attention, with its weights in the formats they will
/// have.
struct LatentShape {
  int64_t heads = 0;
  int64_t rotary = 0;         // rotary channels of a head's query
  lm::WeightType query;       // [heads * content, inputs]
  lm::WeightType keyUp;       // [heads, content, rank]
  lm::WeightType valueUp;     // [heads, value, rank]
  lm::WeightType output;      // [outputs, heads * value]
  lm::WeightType foldedKey;   // [heads * rank, inputs]
  lm::WeightType foldedValue; // [outputs, heads * rank]
  int64_t cacheElementBytes = 2;

  bool operator==(const LatentShape &) const = default;

  int64_t content() const { return keyUp.getRows(); }
  int64_t value() const { return valueUp.getRows(); }
  int64_t rank() const { return keyUp.getColumns(); }
  int64_t cacheBytesPerToken() const {
    return (rank() + rotary) * cacheElementBytes;
  }
};

/// One launch of a form: KernelCost counts what rows do; a cached token costs
/// its own bytes and work once for the launch, and work for every row.
struct LatentLaunch {
  KernelCost cost;
  double bytesPerToken = 0;
  double addsPerToken = 0;    // raising
  double addsPerRowToken = 0; // scores and weighted sums
};

/// The launches of a form, first to last.
llvm::SmallVector<LatentLaunch> launchesOf(LatentForm form,
                                           const LatentShape &shape);

/// Totals over the launches.
struct FormTotals {
  double weightValues = 0;
  double weightBytes = 0;
  double addsPerRow = 0;
  double addsPerRowToken = 0;
  double addsPerToken = 0;
};
FormTotals totalsOf(LatentForm form, const LatentShape &shape);

/// Microseconds of `rows` rows of one sequence behind `depth` cached tokens.
double latentTime(LatentForm form, const LatentShape &shape,
                  const MachineProfile &machine, int64_t rows, int64_t depth);

/// The least number up to `limit` for which `holds`, which stays true once it
/// is; none where it is false at the limit.
template <typename Predicate>
std::optional<int64_t> leastThat(int64_t limit, Predicate holds) {
  if (!holds(limit)) {
    return std::nullopt;
  }
  int64_t low = 0; // false here, or nothing below is asked for
  int64_t high = limit;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

} // namespace quire

#endif
