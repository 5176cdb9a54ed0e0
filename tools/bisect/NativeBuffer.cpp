#include "tools/bisect/NativeBuffer.h"

#include "ir/rt/KernelTable.h"
#include "ir/rt/Layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;

namespace quire::bisect {

using layout::ActivationFormat;
using reference::Rows;

namespace {

Stored storedAs(StringRef field, rt::BufferOp buffer) {
  if (field == "routes") {
    return Stored::Routes;
  }
  if (field == "pairs") {
    return Stored::Pairs;
  }
  return llvm::StringSwitch<Stored>(buffer.getFormat())
      .Case("int8_by_32", Stored::Int8By32)
      .Case("int8_by_256", Stored::Int8By256)
      .Default(Stored::Floats);
}

void addBuffer(rt::PartAttr part, StringRef field, FlatSymbolRefAttr symbol,
               SymbolTable &symbols, std::vector<NativeBuffer> &result) {
  auto buffer = symbols.lookup<rt::BufferOp>(symbol.getAttr());
  auto integer = [&](StringRef name) {
    auto value = part.getArgs().getAs<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  result.push_back(
      {.name = symbol.getValue().str(),
       .writer = part,
       .stored = storedAs(field, buffer),
       .offset = buffer.getOffset() ? int64_t(*buffer.getOffset()) : -1,
       .experts = integer("experts"),
       .top = integer("top")});
}

std::byte *placeOf(const NativeBuffer &buffer, const QuireStep &step) {
  return buffer.offset < 0 ? reinterpret_cast<std::byte *>(step.logits)
                           : step.arena + buffer.offset;
}

template <typename T> T loadAt(const std::byte *place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

/// Int8 activations in memory: groups of 32 values, and what goes with a scale.
class Int8Rows {
public:
  Int8Rows(std::byte *base, ActivationFormat format, int64_t rows,
           int64_t features)
      : base(base), format(format), rows(rows),
        meta(base + layout::activationMetaOffset(format, rows, features)) {}

  int64_t perScale() const {
    return format == ActivationFormat::Int8By256 ? layout::kBlock
                                                 : layout::kGroup;
  }
  int8_t *value(int64_t row, int64_t feature) const {
    int64_t group = feature / layout::kGroup;
    return reinterpret_cast<int8_t *>(base) +
           (group * rows + row) * layout::kGroup + feature % layout::kGroup;
  }
  /// The struct with the scale of values [unit * perScale(), ...).
  std::byte *metaOf(int64_t row, int64_t unit) const {
    size_t bytes = format == ActivationFormat::Int8By256
                       ? sizeof(layout::Int8By256Block)
                       : sizeof(layout::Int8By32Group);
    return meta + (unit * rows + row) * int64_t(bytes);
  }
  float scale(int64_t row, int64_t feature) const {
    return loadAt<float>(metaOf(row, feature / perScale())); // its first field
  }

private:
  std::byte *base;
  ActivationFormat format;
  int64_t rows;
  std::byte *meta;
};

ActivationFormat formatOf(Stored stored) {
  return stored == Stored::Int8By256 ? ActivationFormat::Int8By256
                                     : ActivationFormat::Int8By32;
}

void writeMeta32(const Int8Rows &out, int64_t row, int64_t unit, float scale) {
  int32_t sum = 0;
  for (int64_t i = 0; i < layout::kGroup; ++i) {
    sum += *out.value(row, unit * layout::kGroup + i);
  }
  layout::Int8By32Group meta = {scale, scale * float(sum), -8 * sum, 0};
  std::memcpy(out.metaOf(row, unit), &meta, sizeof(meta));
}

void writeMeta256(const Int8Rows &out, int64_t row, int64_t unit, float scale) {
  layout::Int8By256Block meta = {};
  meta.scale = scale;
  for (int64_t half = 0; half < 16; ++half) {
    int32_t sum = 0;
    for (int64_t i = 0; i < 16; ++i) {
      sum += *out.value(row, unit * layout::kBlock + half * 16 + i);
    }
    // Order 0 2 1 3 within four.
    auto place = [](int64_t i) {
      return (i & ~int64_t(3)) | ((i & 1) << 1) | ((i >> 1) & 1);
    };
    meta.minus32Sum16[half] = -32 * sum;
    meta.sum16[place(half)] = int16_t(sum);
    meta.sum32[place(half / 2)] = int16_t(meta.sum32[place(half / 2)] + sum);
  }
  std::memcpy(out.metaOf(row, unit), &meta, sizeof(meta));
}

/// The values are rounded already: rounding them again finds the same integers.
void writeInt8(const Int8Rows &out, bool by256, const Rows &values) {
  int64_t unit = out.perScale();
  for (int64_t r = 0; r < values.rows; ++r) {
    std::span<const float> row = values.row(r);
    for (int64_t begin = 0; begin < values.features; begin += unit) {
      int64_t count = std::min(unit, values.features - begin);
      float largest = 0;
      for (float value : row.subspan(begin, count)) {
        largest = std::fmax(largest, std::fabs(value));
      }
      float inverse = largest > 0 ? 127.0f / largest : 0.0f;
      for (int64_t i = 0; i < unit; ++i) {
        float value = i < count ? row[begin + i] * inverse : 0.0f;
        *out.value(r, begin + i) = int8_t(std::nearbyint(value));
      }
      (by256 ? writeMeta256 : writeMeta32)(out, r, begin / unit,
                                           largest / 127.0f);
    }
  }
}

Rows readPairs(const NativeBuffer &buffer, const std::byte *base,
               int64_t pairs) {
  layout::PairTable table{buffer.experts, pairs / buffer.top, buffer.top};
  auto at = [&](int64_t word) { return loadAt<int32_t>(base + word * 4); };
  Rows out(pairs, 2);
  int64_t touched = std::clamp<int64_t>(at(0), 0, buffer.experts);
  for (int64_t i = 0; i < touched; ++i) {
    for (int32_t pair = at(table.beginAt() + i);
         pair < at(table.beginAt() + i + 1); ++pair) {
      if (pair >= 0 && pair < pairs) {
        out.row(pair)[0] = float(at(table.expertAt() + i));
        out.row(pair)[1] = float(at(table.rowAt() + pair));
      }
    }
  }
  return out;
}

} // namespace

std::vector<NativeBuffer> buffersWrittenBy(rt::LaunchOp launch,
                                           SymbolTable &symbols) {
  std::vector<NativeBuffer> result;
  for (auto part : launch.getParts().getAsRange<rt::PartAttr>()) {
    for (const rt::KernelField &field :
         rt::findKernel(part.getKernel())->fields) {
      if (!rt::writes(field.access)) {
        continue;
      }
      Attribute argument = part.getArgs().get(field.name);
      if (auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(argument)) {
        addBuffer(part, field.name, symbol, symbols, result);
      } else if (auto list = dyn_cast_or_null<ArrayAttr>(argument)) {
        for (auto each : list.getAsRange<FlatSymbolRefAttr>()) {
          addBuffer(part, field.name, each, symbols, result);
        }
      }
    }
  }
  return result;
}

Rows readBuffer(const NativeBuffer &buffer, const QuireStep &step, int64_t rows,
                int64_t features) {
  std::byte *base = placeOf(buffer, step);
  Rows out(rows, features);
  switch (buffer.stored) {
  case Stored::Floats:
    std::memcpy(out.values.data(), base, out.values.size() * sizeof(float));
    return out;
  case Stored::Int8By32:
  case Stored::Int8By256: {
    Int8Rows in(base, formatOf(buffer.stored), rows, features);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < features; ++i) {
        out.row(r)[i] = float(*in.value(r, i)) * in.scale(r, i);
      }
    }
    return out;
  }
  case Stored::Routes:
    for (int64_t i = 0; i < rows * features / 2; ++i) {
      auto route =
          loadAt<layout::Route>(base + i * int64_t(sizeof(layout::Route)));
      out.values[2 * i] = float(route.expert);
      out.values[2 * i + 1] = route.weight;
    }
    return out;
  case Stored::Pairs:
    return readPairs(buffer, base, rows);
  }
  return out;
}

void writeBuffer(const NativeBuffer &buffer, const QuireStep &step,
                 const Rows &values) {
  std::byte *base = placeOf(buffer, step);
  switch (buffer.stored) {
  case Stored::Floats:
    std::memcpy(base, values.values.data(),
                values.values.size() * sizeof(float));
    return;
  case Stored::Int8By32:
  case Stored::Int8By256:
    writeInt8({base, formatOf(buffer.stored), values.rows, values.features},
              buffer.stored == Stored::Int8By256, values);
    return;
  case Stored::Routes:
    for (size_t i = 0; i < values.values.size() / 2; ++i) {
      layout::Route route = {int32_t(values.values[2 * i]),
                             values.values[2 * i + 1]};
      std::memcpy(base + i * sizeof(route), &route, sizeof(route));
    }
    return;
  case Stored::Pairs:
    return;
  }
}

} // namespace quire::bisect
