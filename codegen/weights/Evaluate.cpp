#include "codegen/weights/Evaluate.h"

#include "codegen/weights/FoldWeights.h"
#include "codegen/weights/PackWeights.h"
#include "codegen/weights/QuantizeRows.h"
#include "frontends/formats/Dequantize.h"

#include <cstring>

namespace quire {

int64_t RowMove::sourceRow(int64_t row) const {
  int64_t head = row / rows;
  int64_t inHead = row % rows;
  if (interleaved) {
    int64_t half = rows / 2;
    inHead = 2 * (inHead % half) + inHead / half;
  }
  return head * sourceRows + begin + inHead;
}

int64_t WeightExpression::sourceRow(int64_t row) const {
  // From the last op back to the parameter.
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    row = move->sourceRow(row);
  }
  return row;
}

std::span<const std::byte> WeightExpression::storedRow(int64_t row) const {
  return source.subspan(static_cast<size_t>(sourceRow(row) * sourceRowBytes),
                        static_cast<size_t>(sourceRowBytes));
}

void gatherStoredRows(const WeightExpression &expression, int64_t firstRow,
                      int64_t count, std::span<std::byte> out) {
  for (int64_t row = 0; row < count; ++row) {
    std::span<const std::byte> stored = expression.storedRow(firstRow + row);
    std::memcpy(out.data() + row * expression.sourceRowBytes, stored.data(),
                stored.size());
  }
}

/// Rounds a row to a format that it does not stay in.
static void roundRow(NumberFormat format, std::span<float> row) {
  if (format == NumberFormat::F32) {
    return;
  }
  std::vector<std::byte> stored(static_cast<size_t>(
      storedRowBytes(format, static_cast<int64_t>(row.size()))));
  quantizeRow(format, row, stored);
  if (format == NumberFormat::Int8Row) {
    dequantizeInt8Row(stored, row);
  } else {
    dequantize(format, stored, row);
  }
}

void evaluateRows(const WeightExpression &expression, int64_t firstRow,
                  int64_t count, std::span<float> out) {
  auto columns = static_cast<size_t>(expression.columns);
  if (expression.fold) {
    evaluateFold(*expression.fold, firstRow, count, out);
  }
  for (int64_t row = 0; row < count; ++row) {
    std::span<float> values =
        out.subspan(static_cast<size_t>(row) * columns, columns);
    if (!expression.fold) {
      dequantize(expression.sourceFormat, expression.storedRow(firstRow + row),
                 values);
    }
    for (const WeightStep &step : expression.steps) {
      for (float &value : values) {
        value = value * step.scale + step.offset;
      }
      roundRow(step.format, values);
    }
  }
}

} // namespace quire
