// What a weight slot holds: the `lm` weight ops in its region, read once per
// layer (and matrix of a stack) into plain data, and evaluated row by row. Rows
// that are only moved keep their stored blocks bit for bit; anything else is
// computed in f32.
// Reading touches the IR (one thread); evaluating does not (any thread).

#ifndef QUIRE_CODEGEN_WEIGHTS_EVALUATE_H
#define QUIRE_CODEGEN_WEIGHTS_EVALUATE_H

#include "frontends/formats/Checkpoint.h"
#include "ir/lm/Lm.h"
#include "ir/rt/Rt.h"

#include "mlir/IR/SymbolTable.h"

#include <memory>
#include <span>
#include <vector>

namespace quire {

/// value * scale + offset in f32, then rounded to `format`.
struct WeightStep {
  float scale = 1;
  float offset = 0;
  NumberFormat format = NumberFormat::F32;
};

/// Where rows of a result lie in what they were moved from: each head of
/// `rows` rows is rows [begin, begin + rows) of a head of `sourceRows`.
struct RowMove {
  int64_t rows;
  int64_t sourceRows;
  int64_t begin;
  bool interleaved; // there; in half-split order here

  int64_t sourceRow(int64_t row) const;
};

struct WeightFold; // FoldWeights.h

struct WeightExpression {
  std::span<const std::byte> source;      // of all rows; empty for a fold
  std::shared_ptr<const WeightFold> fold; // in the source's place
  NumberFormat sourceFormat;
  int64_t sourceRowBytes;
  int64_t rows;    // of the result
  int64_t columns; // 1 for a vector: each feature is a row
  bool isVector;
  NumberFormat format;        // of the result
  std::vector<RowMove> moves; // in the order of the ops
  /// Nothing here and equal formats: stored blocks pass through.
  std::vector<WeightStep> steps;

  bool passesThrough() const {
    return !fold && steps.empty() && sourceFormat == format;
  }
  /// True where result rows follow each other in the source, too.
  bool keepsOrder() const { return !fold && moves.empty(); }
  /// The row of the source that becomes row `row`.
  int64_t sourceRow(int64_t row) const;
  std::span<const std::byte> storedRow(int64_t row) const;
};

/// Which value of a slot: the layer, and the number of the matrix in its stack
/// (0 for a matrix or vector).
struct WeightPlace {
  int64_t layer;
  int64_t matrix;
};

/// Reads a slot's region for one layer and matrix. Diagnostics name the slot
/// and say what of the checkpoint or the region does not fit.
mlir::FailureOr<WeightExpression>
readWeightExpression(rt::WeightOp slot, WeightPlace place,
                     mlir::SymbolTable &symbols, const Checkpoint &checkpoint);

/// Rows [firstRow, firstRow + count) one after the other, as stored.
void gatherStoredRows(const WeightExpression &expression, int64_t firstRow,
                      int64_t count, std::span<std::byte> out);

/// The same rows as values, ready to be rounded to the result's format.
/// `out` holds count * columns.
void evaluateRows(const WeightExpression &expression, int64_t firstRow,
                  int64_t count, std::span<float> out);

} // namespace quire

#endif
