// route: each row's experts by the rules of lm.route. Ties go to the lower
// number, sums run in ascending order of expert. A row with scores that are no
// numbers still gets `top` different experts.

#include "codegen/cpu/kernels/Math.h"
#include "codegen/cpu/kernels/Rows.h"

namespace QUIRE_KERNEL_NAMESPACE {

/// One row's columns in scratch.
struct RouteScratch {
  float *weight;  // [experts] gated scores
  float *choice;  // [experts] what they rank by
  int32_t *state; // [experts] RouteState
  float *worth;   // [groups]
};

enum RouteState : int32_t { kClosed = 0, kOpen = 1, kTaken = 2 };

QUIRE_INLINE RouteScratch routeScratch(std::byte *scratch, int64_t experts) {
  const int64_t column = layout::alignUp(experts * 4);
  return {reinterpret_cast<float *>(scratch),
          reinterpret_cast<float *>(scratch + column),
          reinterpret_cast<int32_t *>(scratch + 2 * column),
          reinterpret_cast<float *>(scratch + 3 * column)};
}

QUIRE_INLINE void softmaxScores(const float *scores, int64_t count,
                                float *out) {
  float most = scores[0];
  for (int64_t e = 1; e < count; ++e) {
    most = scores[e] > most ? scores[e] : most;
  }
  double sum = 0;
  for (int64_t e = 0; e < count; ++e) {
    out[e] = exp(scores[e] - most);
    sum += static_cast<double>(out[e]);
  }
  for (int64_t e = 0; e < count; ++e) {
    out[e] = static_cast<float>(static_cast<double>(out[e]) / sum);
  }
}

/// The open entry of largest value, the first of equal ones; one is open.
QUIRE_INLINE int64_t bestOpen(const float *values, const int32_t *state,
                              int64_t count) {
  int64_t best = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (state[i] == kOpen && (best < 0 || values[i] > values[best])) {
      best = i;
    }
  }
  return best;
}

/// Takes the `count` best of `all` entries that are open.
QUIRE_INLINE void takeBest(const float *values, int32_t *state, int64_t all,
                           int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    state[bestOpen(values, state, all)] = kTaken;
  }
}

QUIRE_INLINE float groupWorth(const float *choice, int64_t size,
                              int64_t score) {
  float first = choice[0];
  float second = -__builtin_inff();
  for (int64_t i = 1; i < size; ++i) {
    const float value = choice[i];
    if (value > first) {
      second = first;
      first = value;
    } else if (value > second) {
      second = value;
    }
  }
  return score == kGroupTopTwo ? first + second : first;
}

/// Leaves the experts of the best groups open.
QUIRE_INLINE void openBestGroups(const RouteArgs &args,
                                 const RouteScratch &row) {
  const int64_t size = args.experts / args.groups;
  for (int64_t g = 0; g < args.groups; ++g) {
    row.worth[g] = groupWorth(row.choice + g * size, size, args.groupScore);
    row.state[g] = kOpen;
  }
  takeBest(row.worth, row.state, args.groups, args.topGroups);
  // From the last expert down: a group's state stands at its own number, which
  // no expert before it has overwritten.
  for (int64_t e = args.experts - 1; e >= 0; --e) {
    row.state[e] = row.state[e / size] == kTaken ? kOpen : kClosed;
  }
}

struct RouteRows {
  static QUIRE_INLINE int64_t tiles(const RouteArgs &args) {
    return rowTiles(args.step->batch->rows);
  }

  static QUIRE_INLINE void tile(const RouteArgs &args, int64_t tile,
                                std::byte *scratch) {
    const RouteScratch row = routeScratch(scratch, args.experts);
    forRows(args.step->batch->rows, tile, [&](int64_t r) {
      rank(args, args.scores + r * args.experts, row);
      if (args.groups > 1) {
        openBestGroups(args, row);
      } else {
        for (int64_t e = 0; e < args.experts; ++e) {
          row.state[e] = kOpen;
        }
      }
      takeBest(row.choice, row.state, args.experts, args.top);
      write(args, row,
            reinterpret_cast<layout::Route *>(args.routes) + r * args.top);
    });
  }

  static QUIRE_INLINE void rank(const RouteArgs &args, const float *scores,
                                const RouteScratch &row) {
    if (args.gate == kSoftmaxGate) {
      softmaxScores(scores, args.experts, row.weight);
    } else {
      for (int64_t e = 0; e < args.experts; ++e) {
        row.weight[e] = sigmoid(scores[e]);
      }
    }
    for (int64_t e = 0; e < args.experts; ++e) {
      row.choice[e] = args.bias ? row.weight[e] + args.bias[e] : row.weight[e];
    }
  }

  static QUIRE_INLINE void write(const RouteArgs &args, const RouteScratch &row,
                                 layout::Route *routes) {
    float sum = 1e-20f;
    int64_t count = 0;
    for (int64_t e = 0; e < args.experts; ++e) {
      if (row.state[e] == kTaken) {
        routes[count++] = {static_cast<int32_t>(e), row.weight[e]};
        sum += row.weight[e];
      }
    }
    const float scale = static_cast<float>(args.scale);
    for (int64_t i = 0; i < count; ++i) {
      const float weight = routes[i].weight;
      routes[i].weight = (args.normalise != 0 ? weight / sum : weight) * scale;
    }
  }
};

} // namespace QUIRE_KERNEL_NAMESPACE

namespace quire::cpu {
QUIRE_DEFINE_KERNEL(route, RouteArgs, QUIRE_KERNEL_LEVEL::RouteRows)
} // namespace quire::cpu
