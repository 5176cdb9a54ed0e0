#include "ir/reference/Heads.h"

#include <algorithm>

namespace quire::reference {

Rows sliceHeads(const Rows &input, int64_t heads, int64_t begin, int64_t size) {
  Rows out(input.rows, heads * size);
  int64_t width = input.features / heads;
  for (int64_t r = 0; r < input.rows; ++r) {
    for (int64_t head = 0; head < heads; ++head) {
      std::copy_n(input.row(r).data() + head * width + begin, size,
                  out.row(r).data() + head * size);
    }
  }
  return out;
}

Rows concatHeads(const Rows &first, const Rows &second, int64_t heads,
                 bool shared) {
  int64_t before = first.features / heads;
  int64_t after = shared ? second.features : second.features / heads;
  Rows out(first.rows, heads * (before + after));
  for (int64_t r = 0; r < first.rows; ++r) {
    for (int64_t head = 0; head < heads; ++head) {
      float *to = out.row(r).data() + head * (before + after);
      std::copy_n(first.row(r).data() + head * before, before, to);
      std::copy_n(second.row(r).data() + (shared ? 0 : head * after), after,
                  to + before);
    }
  }
  return out;
}

} // namespace quire::reference
