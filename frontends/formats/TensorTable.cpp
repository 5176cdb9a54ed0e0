#include "frontends/formats/TensorTable.h"

#include "frontends/formats/StrCat.h"
#include "frontends/formats/Utf8.h"

#include "absl/strings/str_join.h"

#include <algorithm>

namespace quire {

std::string shapeText(std::span<const int64_t> shape) {
  return strCat("[", absl::StrJoin(shape, ", "), "]");
}

absl::StatusOr<int64_t> tensorBytes(NumberFormat format,
                                    std::span<const int64_t> shape) {
  const NumberFormatInfo &info = numberFormatInfo(format);
  if (info.blockValues <= 0) {
    return absl::InternalError(
        strCat("the format ", info.name, " is not a stream of blocks"));
  }
  int64_t row = shape.empty() ? 1 : shape.back();
  if (row % info.blockValues != 0) {
    return absl::InvalidArgumentError(strCat(
        "the shape ", shapeText(shape), " has rows of ", row, " values, but ",
        info.name, " stores blocks of ", info.blockValues));
  }
  bool empty = false;
  bool overflow = false;
  int64_t values = 1;
  for (int64_t dimension : shape) {
    if (dimension < 0) {
      return absl::InvalidArgumentError(
          strCat("the shape ", shapeText(shape), " has a negative dimension"));
    }
    empty |= dimension == 0;
    overflow |= __builtin_mul_overflow(values, dimension, &values);
  }
  if (empty) {
    return 0;
  }
  int64_t bytes = 0;
  // Whole rows of whole blocks, so the quotient is exact.
  overflow |= __builtin_mul_overflow(values / info.blockValues, info.blockBytes,
                                     &bytes);
  if (overflow) {
    return absl::InvalidArgumentError(
        strCat("the shape ", shapeText(shape), " in ", info.name,
               " needs more bytes than a file can have"));
  }
  return bytes;
}

absl::Status checkDisjoint(std::span<const TensorView> tensors) {
  std::vector<const TensorView *> order;
  order.reserve(tensors.size());
  for (const TensorView &tensor : tensors) {
    if (!tensor.bytes.empty()) {
      order.push_back(&tensor);
    }
  }
  std::sort(order.begin(), order.end(),
            [](const TensorView *a, const TensorView *b) {
              return a->bytes.data() < b->bytes.data();
            });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorView &before = *order[i - 1];
    if (before.bytes.data() + before.bytes.size() > order[i]->bytes.data()) {
      return absl::InvalidArgumentError(
          strCat("the tensors '", printable(before.name), "' and '",
                 printable(order[i]->name), "' overlap in the file"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorTable>
TensorTable::build(std::vector<TensorView> tensors) {
  TensorTable table;
  table.tensors = std::move(tensors);
  table.positions.reserve(table.tensors.size());
  for (size_t i = 0; i < table.tensors.size(); ++i) {
    const std::string &name = table.tensors[i].name;
    if (!table.positions.emplace(name, i).second) {
      return absl::InvalidArgumentError(
          strCat("the tensor '", printable(name), "' is there twice"));
    }
  }
  return table;
}

const TensorView *TensorTable::find(std::string_view name) const {
  auto entry = positions.find(name);
  return entry == positions.end() ? nullptr : &tensors[entry->second];
}

} // namespace quire
