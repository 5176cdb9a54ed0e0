#include "tools/cli/StepCost.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace quire::cli {

namespace {

/// Norms and biases: read, but no product.
bool isVector(const manifest::WeightEntry &entry) {
  return std::min(entry.rows(), entry.columns()) <= 1;
}

bool isTable(const manifest::WeightEntry &entry) {
  return entry.layer() < 0 &&
         std::string_view(entry.name()).find("embed") != std::string_view::npos;
}

bool isFloat(std::string_view format) {
  return format == "f32" || format == "bf16" || format == "f16";
}

/// A token table beside a head of its own is only looked into: one row a
/// token, which is nothing.
bool hasSeparateHead(const manifest::Manifest &manifest) {
  return std::any_of(manifest.weights().entries().begin(),
                     manifest.weights().entries().end(),
                     [&](const manifest::WeightEntry &entry) {
                       return entry.layer() < 0 && !isTable(entry) &&
                              !isVector(entry) &&
                              std::max(entry.rows(), entry.columns()) >=
                                  manifest.model().vocabulary();
                     });
}

/// The part of an entry's bytes that a step of `rows` rows reads. Of experts,
/// which rows choose is not known: the mean of rows that choose evenly, which
/// for one row is exact.
double shareRead(const manifest::WeightEntry &entry, int64_t rows) {
  if (entry.matrices_per_row() == 0) {
    return 1;
  }
  double perRow = static_cast<double>(entry.matrices_per_row()) /
                  static_cast<double>(entry.matrices());
  return 1 - std::pow(1 - perRow, static_cast<double>(rows));
}

/// The part of an entry's values that one row is multiplied with.
double shareOfRow(const manifest::WeightEntry &entry) {
  return shareRead(entry, 1);
}

} // namespace

StepCost stepCost(const manifest::Manifest &manifest, const StepShape &shape) {
  StepCost cost;
  bool separateHead = hasSeparateHead(manifest);
  for (const manifest::WeightEntry &entry : manifest.weights().entries()) {
    if (isTable(entry) && separateHead) {
      continue;
    }
    cost.bytes += std::llround(static_cast<double>(entry.bytes()) *
                               shareRead(entry, shape.rows));
    if (isVector(entry)) {
      continue;
    }
    int64_t rows = entry.layer() < 0 ? shape.logitRows : shape.rows;
    double ops = 2.0 * shareOfRow(entry) * static_cast<double>(rows) *
                 static_cast<double>(entry.rows()) *
                 static_cast<double>(entry.columns());
    (isFloat(entry.format()) ? cost.f32Ops : cost.int8Ops) += ops;
  }
  for (const manifest::CacheGroup &group : manifest.cache_groups()) {
    int64_t kept = group.window() > 0 ? std::min(shape.depth, group.window())
                                      : shape.depth;
    cost.bytes += shape.sequences * kept * group.bytes_per_token();
  }
  return cost;
}

Roof roofOf(const StepCost &cost, const MachineRoof &machine) {
  double read = static_cast<double>(cost.bytes) / machine.readBytesPerSecond;
  double int8 = cost.int8Ops / machine.int8OpsPerSecond;
  double f32 = cost.f32Ops / machine.f32OpsPerSecond;
  // The two kinds of products follow each other on the same units.
  if (int8 + f32 > read) {
    return {int8 >= f32 ? "int8" : "f32", int8 + f32};
  }
  return {"read", read};
}

} // namespace quire::cli
