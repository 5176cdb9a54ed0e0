// Finds which of a sorted list of texts begin a given text, by narrowing the
// range that shares the bytes read so far: nothing is built beyond one range
// per first byte. The texts live elsewhere and must outlive the index.
// Immutable; any thread.

#ifndef QUIRE_RUNTIME_TEXT_PREFIXINDEX_H
#define QUIRE_RUNTIME_TEXT_PREFIXINDEX_H

#include <array>
#include <cstddef>
#include <string_view>

namespace quire {

/// `textAt(i)` gives the i-th text; none is empty; they are in byte order.
template <typename TextAt> class PrefixIndex {
public:
  PrefixIndex(size_t count, TextAt textAt) : textAt(textAt) {
    for (size_t byte = 0, i = 0; byte <= 256; ++byte) {
      while (i < count && static_cast<unsigned char>(textAt(i)[0]) < byte) {
        ++i;
      }
      firstByte[byte] = i;
    }
  }

  /// Calls `found(i)` for each text that `input` begins with, short before
  /// long; equal texts in their order.
  template <typename Found>
  void forEachPrefix(std::string_view input, Found found) const {
    auto byteAt = [&](size_t i, size_t depth) {
      return static_cast<unsigned char>(textAt(i)[depth]);
    };
    size_t low = 0, high = 0;
    for (size_t depth = 0; depth < input.size(); ++depth) {
      auto byte = static_cast<unsigned char>(input[depth]);
      if (depth == 0) {
        low = firstByte[byte];
        high = firstByte[byte + 1];
      } else {
        low = partition(low, high,
                        [&](size_t i) { return byteAt(i, depth) < byte; });
        high = partition(low, high,
                         [&](size_t i) { return byteAt(i, depth) == byte; });
      }
      // Those that end here come first in the range.
      for (; low < high && textAt(low).size() == depth + 1; ++low) {
        found(low);
      }
      if (low == high) {
        return;
      }
    }
  }

private:
  /// First index in [low, high) for which `before` no longer holds.
  template <typename Before>
  static size_t partition(size_t low, size_t high, Before before) {
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (before(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  TextAt textAt;
  std::array<size_t, 257> firstByte{};
};

} // namespace quire

#endif
