// A stable sort for orderings that cannot be trusted: one that stops half-way
// (the template compared text with a number) or contradicts itself (NaN). The
// standard algorithms may run out of bounds on those; a merge never does.

#ifndef QUIRE_RUNTIME_TEXT_JINJA_MERGESORT_H
#define QUIRE_RUNTIME_TEXT_JINJA_MERGESORT_H

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace quire::jinja {

template <typename T, typename Less>
void mergeSort(std::vector<T> &items, Less less) {
  std::vector<T> merged(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t middle = std::min(begin + width, items.size());
      size_t end = std::min(begin + 2 * width, items.size());
      size_t left = begin;
      size_t right = middle;
      for (size_t out = begin; out < end; ++out) {
        bool takeRight =
            left == middle || (right < end && less(items[right], items[left]));
        merged[out] = std::move(takeRight ? items[right++] : items[left++]);
      }
    }
    items.swap(merged);
  }
}

} // namespace quire::jinja

#endif
