#include "runtime/text/StopMatcher.h"

#include <algorithm>

namespace quire {

StopMatcher::StopMatcher(const std::vector<std::string> &texts) {
  for (const std::string &text : texts) {
    if (text.empty()) {
      continue;
    }
    Stop stop{text, std::vector<size_t>(text.size() + 1, 0), 0};
    for (size_t i = 1, border = 0; i < text.size(); ++i) {
      while (border > 0 && text[i] != text[border]) {
        border = stop.fallback[border];
      }
      border += text[i] == text[border];
      stop.fallback[i + 1] = border;
    }
    stops.push_back(std::move(stop));
  }
}

void StopMatcher::Stop::advance(char c) {
  while (matched > 0 && (matched == text.size() || text[matched] != c)) {
    matched = fallback[matched];
  }
  matched += text[matched] == c;
}

std::string StopMatcher::push(std::string_view chunk) {
  if (done) {
    return {};
  }
  for (char c : chunk) {
    held += c;
    size_t complete = 0; // length of the longest stop that ends here
    for (Stop &stop : stops) {
      stop.advance(c);
      if (stop.matched == stop.text.size()) {
        complete = std::max(complete, stop.matched);
      }
    }
    if (complete > 0) {
      done = true;
      std::string out = held.substr(0, held.size() - complete);
      held.clear();
      return out;
    }
  }
  size_t keep = 0;
  for (const Stop &stop : stops) {
    keep = std::max(keep, stop.matched);
  }
  std::string out = held.substr(0, held.size() - keep);
  held.erase(0, out.size());
  return out;
}

std::string StopMatcher::finish() {
  std::string out = std::move(held);
  held.clear();
  return done ? std::string() : out;
}

} // namespace quire
