// How bytes lie in buffers, packed weights and cache pages: the formulas that
// the memory plan, the weight packer and the kernels share, so that they
// cannot disagree. No MLIR here: kernels include this file when they are
// compiled to bitcode.

#ifndef QUIRE_IR_RT_LAYOUT_H
#define QUIRE_IR_RT_LAYOUT_H

#include <cstdint>

namespace quire::layout {

/// Buffers, weights and pages start on cache lines.
inline constexpr int64_t kAlignment = 64;

inline constexpr int64_t alignUp(int64_t value, int64_t to = kAlignment) {
  return (value + to - 1) / to * to;
}

/// How an activation is stored for the products that read it.
enum class ActivationFormat : uint8_t {
  F32,      // [rows, features] f32
  Int8By32, // int8 with an f32 scale per 32 features of a row
  Int8By256 // int8 with an f32 scale per 256 features of a row
};

/// A cache page of one group holds, layer after layer of that group, keys
/// [kvHeads, pageSize, keyDim] and then values [kvHeads, pageSize, valueDim],
/// each element elementBytes wide, each layer's part on a cache line.
struct KvPage {
  int64_t kvHeads;
  int64_t keyDim;
  int64_t valueDim;
  int64_t elementBytes;
  int64_t pageSize; // tokens
  int64_t layers;   // of this group

  constexpr int64_t keyBytes() const {
    return kvHeads * pageSize * keyDim * elementBytes;
  }
  constexpr int64_t valueBytes() const {
    return kvHeads * pageSize * valueDim * elementBytes;
  }
  constexpr int64_t layerBytes() const {
    return alignUp(keyBytes() + valueBytes());
  }
  constexpr int64_t pageBytes() const { return layers * layerBytes(); }
};

} // namespace quire::layout

#endif
