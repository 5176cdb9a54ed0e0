#include "runtime/text/jinja/Text.h"

#include <algorithm>

namespace quire::jinja {

Text::Text(std::string_view text, bool fromData) { append(text, fromData); }

bool Text::fromDataAt(size_t position) const {
  auto run = std::upper_bound(
      provenance.begin(), provenance.end(), position,
      [](size_t place, const Run &r) { return place < r.end; });
  return run != provenance.end() && run->fromData;
}

void Text::append(std::string_view more, bool fromData) {
  if (more.empty()) {
    return;
  }
  bytes.append(more);
  if (!provenance.empty() && provenance.back().fromData == fromData) {
    provenance.back().end = bytes.size();
  } else {
    provenance.push_back({bytes.size(), fromData});
  }
}

void Text::append(const Text &more, size_t begin, size_t end) {
  auto run = std::upper_bound(
      more.provenance.begin(), more.provenance.end(), begin,
      [](size_t place, const Run &r) { return place < r.end; });
  std::string_view view = more.bytes;
  while (begin < end && run != more.provenance.end()) {
    size_t stop = std::min(end, run->end);
    append(view.substr(begin, stop - begin), run->fromData);
    begin = stop;
    ++run;
  }
}

Text Text::slice(size_t begin, size_t end) const {
  Text result;
  result.append(*this, begin, end);
  return result;
}

} // namespace quire::jinja
