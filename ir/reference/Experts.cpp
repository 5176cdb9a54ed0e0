#include "ir/reference/Experts.h"

#include "ir/reference/Linear.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quire::reference {

static std::vector<float> softmax(std::span<const float> scores) {
  float most = *std::ranges::max_element(scores);
  std::vector<float> p;
  double sum = 0;
  for (float score : scores) {
    p.push_back(std::exp(score - most));
    sum += p.back();
  }
  for (float &value : p) {
    value = static_cast<float>(value / sum);
  }
  return p;
}

static std::vector<float> gated(RouterGate gate,
                                std::span<const float> scores) {
  if (gate == RouterGate::Softmax) {
    return softmax(scores);
  }
  std::vector<float> p;
  for (float score : scores) {
    p.push_back(static_cast<float>(1.0 / (1.0 + std::exp(-double(score)))));
  }
  return p;
}

/// The numbers of the `count` largest values, ascending; of equal ones the
/// lower numbers. Where values are no numbers, some different ones.
static std::vector<int64_t> largest(std::span<const float> values,
                                    int64_t count) {
  std::vector<bool> taken(values.size());
  for (int64_t i = 0; i < count; ++i) {
    size_t best = std::ranges::find(taken, false) - taken.begin();
    for (size_t j = best; j < values.size(); ++j) {
      if (!taken[j] && values[j] > values[best]) {
        best = j;
      }
    }
    taken[best] = true;
  }
  std::vector<int64_t> result;
  for (size_t j = 0; j < values.size(); ++j) {
    if (taken[j]) {
      result.push_back(static_cast<int64_t>(j));
    }
  }
  return result;
}

/// What a group is worth.
static float groupScore(GroupScore kind, std::span<const float> choice) {
  float sum = 0;
  for (int64_t i : largest(choice, kind == GroupScore::Top2 ? 2 : 1)) {
    sum += choice[i];
  }
  return sum;
}

/// Experts outside the best groups can no longer be chosen.
static void keepBestGroups(const Routing &routing, std::span<float> choice) {
  size_t size = choice.size() / routing.groups;
  std::vector<float> scores;
  for (int64_t g = 0; g < routing.groups; ++g) {
    scores.push_back(
        groupScore(routing.groupScore, choice.subspan(g * size, size)));
  }
  std::vector<int64_t> kept = largest(scores, routing.topGroups);
  for (int64_t g = 0; g < routing.groups; ++g) {
    if (!std::ranges::binary_search(kept, g)) {
      std::ranges::fill(choice.subspan(g * size, size),
                        -std::numeric_limits<float>::infinity());
    }
  }
}

Rows route(const Routing &routing, const Rows &scores, const Weight *bias) {
  Rows out(scores.rows, 2 * routing.top);
  for (int64_t r = 0; r < scores.rows; ++r) {
    std::vector<float> p = gated(routing.gate, scores.row(r));
    std::vector<float> choice = p;
    for (size_t e = 0; bias && e < choice.size(); ++e) {
      choice[e] += bias->values[e];
    }
    if (routing.groups > 1) {
      keepBestGroups(routing, choice);
    }
    std::vector<int64_t> chosen = largest(choice, routing.top);
    float sum = 1e-20f;
    for (int64_t e : chosen) {
      sum += p[e];
    }
    std::span<float> to = out.row(r);
    for (size_t i = 0; i < chosen.size(); ++i) {
      float weight = p[chosen[i]];
      to[2 * i] = static_cast<float>(chosen[i]);
      to[2 * i + 1] = (routing.normalise ? weight / sum : weight) *
                      static_cast<float>(routing.scale);
    }
  }
  return out;
}

Rows groupRoutes(const Rows &routes) {
  int64_t top = routes.features / 2;
  std::vector<std::pair<float, float>> pairs; // (expert, row)
  for (int64_t r = 0; r < routes.rows; ++r) {
    for (int64_t i = 0; i < top; ++i) {
      pairs.emplace_back(routes.row(r)[2 * i], static_cast<float>(r));
    }
  }
  std::ranges::sort(pairs);
  Rows out(static_cast<int64_t>(pairs.size()), 2);
  for (size_t i = 0; i < pairs.size(); ++i) {
    out.row(i)[0] = pairs[i].first;
    out.row(i)[1] = pairs[i].second;
  }
  return out;
}

static int64_t expertOf(const Rows &groups, int64_t pair) {
  return static_cast<int64_t>(groups.row(pair)[0]);
}
static int64_t rowOf(const Rows &groups, int64_t pair) {
  return static_cast<int64_t>(groups.row(pair)[1]);
}

Rows dispatch(const Rows &x, const Rows &groups) {
  Rows out(groups.rows, x.features);
  for (int64_t pair = 0; pair < groups.rows; ++pair) {
    std::ranges::copy(x.row(rowOf(groups, pair)), out.row(pair).begin());
  }
  return out;
}

/// Calls product(expert, rows of the expert's pairs) and puts its rows back in
/// the pairs' places.
template <typename Product>
static Rows byExpert(const Rows &x, const Rows &groups, int64_t outputs,
                     Product product) {
  Rows out(x.rows, outputs);
  for (int64_t begin = 0, end = 0; begin < x.rows; begin = end) {
    int64_t expert = expertOf(groups, begin);
    while (end < x.rows && expertOf(groups, end) == expert) {
      ++end;
    }
    Rows part(end - begin, x.features);
    std::copy(x.values.begin() + begin * x.features,
              x.values.begin() + end * x.features, part.values.begin());
    Rows result = product(expert, part);
    std::ranges::copy(result.values, out.values.begin() + begin * outputs);
  }
  return out;
}

Rows expertLinear(const Rows &x, const Rows &groups, const Weight &stack) {
  return byExpert(x, groups, stack.shape[1],
                  [&](int64_t expert, const Rows &rows) {
                    return linear(rows, stack.matrix(expert), nullptr);
                  });
}

Rows expertGatedLinear(Nonlinearity kind, const Rows &x, const Rows &groups,
                       const Weight &gate, const Weight &up) {
  return byExpert(
      x, groups, gate.shape[1], [&](int64_t expert, const Rows &rows) {
        return gatedLinear(kind, rows, gate.matrix(expert), up.matrix(expert));
      });
}

Rows combine(const Rows &x, const Rows &routes, const Rows &groups) {
  Rows out(routes.rows, x.features);
  // Pairs are in ascending order of expert, as a row's routes are.
  std::vector<int64_t> seen(routes.rows, 0);
  for (int64_t pair = 0; pair < groups.rows; ++pair) {
    int64_t row = rowOf(groups, pair);
    float weight = routes.row(row)[2 * seen[row]++ + 1];
    for (int64_t i = 0; i < x.features; ++i) {
      out.row(row)[i] += weight * x.row(pair)[i];
    }
  }
  return out;
}

Rows experts(Nonlinearity kind, const Rows &x, const Rows &routes,
             const ExpertStacks &stacks) {
  Rows groups = groupRoutes(routes);
  Rows inner = expertGatedLinear(kind, dispatch(x, groups), groups, stacks.gate,
                                 stacks.up);
  return combine(expertLinear(inner, groups, stacks.down), routes, groups);
}

} // namespace quire::reference
