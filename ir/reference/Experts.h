// Mixtures of experts: lm.route, lm.experts and the grouped form of the latter.
// Routes are rows of (expert, weight) pairs, groups are rows (expert, row) in
// the order of the pairs; numbers are held as the f32 that they are.

#ifndef QUIRE_IR_REFERENCE_EXPERTS_H
#define QUIRE_IR_REFERENCE_EXPERTS_H

#include "ir/reference/Elementwise.h"
#include "ir/reference/Rows.h"

namespace quire::reference {

enum class RouterGate { Softmax, Sigmoid };
enum class GroupScore { Max, Top2 };

/// The attributes of lm.route.
struct Routing {
  RouterGate gate = RouterGate::Softmax;
  int64_t top = 1;
  int64_t groups = 1;
  int64_t topGroups = 1;
  GroupScore groupScore = GroupScore::Max;
  bool normalise = false;
  double scale = 1;
};

/// scores: [rows, experts]; `bias` may be null. [rows, 2 * top].
Rows route(const Routing &routing, const Rows &scores, const Weight *bias);

/// [pairs, 2] of the routes of all rows.
Rows groupRoutes(const Rows &routes);

/// The rows of the pairs.
Rows dispatch(const Rows &x, const Rows &groups);

/// Each pair's row times its expert's matrix.
Rows expertLinear(const Rows &x, const Rows &groups, const Weight &stack);
Rows expertGatedLinear(Nonlinearity kind, const Rows &x, const Rows &groups,
                       const Weight &gate, const Weight &up);

/// The weighted sums of each row's pairs.
Rows combine(const Rows &x, const Rows &routes, const Rows &groups);

struct ExpertStacks {
  const Weight &gate;
  const Weight &up;
  const Weight &down;
};
/// lm.experts, by way of the grouped form.
Rows experts(Nonlinearity kind, const Rows &x, const Rows &routes,
             const ExpertStacks &stacks);

} // namespace quire::reference

#endif
