// Mixtures of experts: the choice of experts, their products as the model means
// them, and the grouped form that kernels run.

#ifndef QUIRE_IR_LM_EXPERTOPS_TD
#define QUIRE_IR_LM_EXPERTOPS_TD

include "ir/lm/LmTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Lm_RouteOp : Lm_Op<"route", [Pure]> {
  let summary = "each row's experts and their weights";
  let description = [{
    Per row, with p = softmax or sigmoid of the scores and choice c = p + bias
    (c = p without a bias):

    1. Where `groups` > 1, consecutive experts form groups of equal size; a
       group's score is its largest c (`max`) or the sum of its two largest
       (`top2`), and only experts of the `top_groups` best groups remain.
    2. The `top` remaining experts of largest c are taken; ties of groups and
       of experts go to the lower number.
    3. Expert e weighs p[e]; with `normalise` divided by (the sum of those
       taken + 1e-20); then times `scale`.

    The result holds (expert, weight) pairs in ascending order of expert. All
    in f32.

    - C1: the scores have one feature an expert; so has a bias.
    - C2: groups divide the experts evenly, and top_groups is 1 to groups.
    - C3: `top` is at least 1 and at most the experts of top_groups groups.
    - C4: `top2` needs groups of two experts or more.

    Example:
    ```mlir
    %r = lm.route softmax %s {normalise} : tensor<?x128xf32> -> !lm.routes<128, 8>
    %t = lm.route sigmoid %s bias %b by top2 {groups = 8 : i64, top_groups = 4 : i64, normalise, scale = 2.5 : f64}
      : tensor<?x256xf32>, !lm.weight<[256], f32> -> !lm.routes<256, 8>
    ```
  }];
  let arguments = (ins Lm_RouterGate:$gate, Lm_Rows:$scores,
                       Optional<Lm_Weight>:$bias,
                       DefaultValuedAttr<Lm_GroupScore, "GroupScore::Max">:$group_score,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$top_groups,
                       UnitAttr:$normalise,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs Lm_Routes:$routes);
  let assemblyFormat = [{
    $gate $scores (`bias` $bias^)? (`by` $group_score^)? attr-dict `:` type($scores)
    (`,` qualified(type($bias))^)? `->` qualified(type($routes))
  }];
  let hasVerifier = 1;
}

def Lm_ExpertsOp : Lm_Op<"experts", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "the weighted sum of a row's experts, each a gated MLP";
  let description = [{
    Row r becomes the sum over its pairs (e, w), in ascending order of e, of
    w * (f(x Wg[e]^T) * (x Wu[e]^T)) Wd[e]^T. This is what the model means; it
    has no kernel: `group-experts` turns it into the ops below.

    - C1: the weights are stacks with one matrix an expert.
    - C2: gate and up are [experts, inner, features], down is
      [experts, features, inner].

    Example:
    ```mlir
    %y = lm.experts silu %x, %r, %g, %u, %d
      : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.weight<[8, 32, 64], bf16>, !lm.weight<[8, 32, 64], bf16>, !lm.weight<[8, 64, 32], bf16>
    ```
  }];
  let arguments = (ins Lm_Nonlinearity:$nonlinearity, Lm_Rows:$input,
                       Lm_Routes:$routes, Lm_Weight:$gate, Lm_Weight:$up,
                       Lm_Weight:$down);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $nonlinearity $input `,` $routes `,` $gate `,` $up `,` $down attr-dict `:`
    type($input) `,` qualified(type($routes)) `,` qualified(type($gate)) `,`
    qualified(type($up)) `,` qualified(type($down))
  }];
  let hasVerifier = 1;
}

def Lm_GroupRoutesOp : Lm_Op<"group_routes", [Pure]> {
  let summary = "the pairs of all rows, sorted by expert";
  let description = [{
    Every (row, expert) pair of the routes, in ascending order of expert and,
    for one expert, of row. There is room for every pair: no expert has a
    capacity, and none is dropped.

    - C1: routes and groups agree in experts and top.

    Example: `%g = lm.group_routes %r : !lm.routes<128, 8> -> !lm.groups<128, 8>`
  }];
  let arguments = (ins Lm_Routes:$routes);
  let results = (outs Lm_Groups:$groups);
  let assemblyFormat = "$routes attr-dict `:` qualified(type($routes)) `->` qualified(type($groups))";
  let hasVerifier = 1;
}

def Lm_DispatchOp : Lm_Op<"dispatch", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "one row for each pair: what an expert is given";
  let description = [{
    Row i of the result is the input's row of pair i. Rounded rows move as they
    are.

    Example: `%d = lm.dispatch %x, %g : tensor<?x64xf32>, !lm.groups<8, 2>`
  }];
  let arguments = (ins Lm_RowsOrActivation:$input, Lm_Groups:$groups);
  let results = (outs Lm_RowsOrActivation:$output);
  let assemblyFormat = "$input `,` $groups attr-dict `:` qualified(type($input)) `,` qualified(type($groups))";
}

def Lm_ExpertLinearOp : Lm_Op<"expert_linear", [Pure]> {
  let summary = "each pair's row times its expert's matrix";
  let description = [{
    - C1: the weight is a stack with one matrix an expert.
    - C2: features of input and output are the matrices' inputs and outputs.

    Example:
    ```mlir
    %y = lm.expert_linear %d, %g, %w : tensor<?x32xf32>, !lm.groups<8, 2>, !lm.weight<[8, 64, 32], bf16> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Lm_RowsOrActivation:$input, Lm_Groups:$groups,
                       Lm_Weight:$weight);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $input `,` $groups `,` $weight attr-dict `:` qualified(type($input)) `,`
    qualified(type($groups)) `,` qualified(type($weight)) `->` type($output)
  }];
  let hasVerifier = 1;
}

def Lm_ExpertGatedLinearOp : Lm_Op<"expert_gated_linear", [Pure]> {
  let summary = "f(x Wg^T) * (x Wu^T) with each pair's expert's matrices";
  let description = [{
    - C1: both weights are stacks of one shape with one matrix an expert.
    - C2: features of input and output are the matrices' inputs and outputs.

    Example:
    ```mlir
    %y = lm.expert_gated_linear silu %d, %g, %wg, %wu : tensor<?x64xf32>, !lm.groups<8, 2>, !lm.weight<[8, 32, 64], bf16>, !lm.weight<[8, 32, 64], bf16> -> tensor<?x32xf32>
    ```
  }];
  let arguments = (ins Lm_Nonlinearity:$nonlinearity, Lm_RowsOrActivation:$input,
                       Lm_Groups:$groups, Lm_Weight:$gate, Lm_Weight:$up);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $nonlinearity $input `,` $groups `,` $gate `,` $up attr-dict `:`
    qualified(type($input)) `,` qualified(type($groups)) `,`
    qualified(type($gate)) `,` qualified(type($up)) `->` type($output)
  }];
  let hasVerifier = 1;
}

def Lm_CombineOp : Lm_Op<"combine", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "back from pairs to rows: the weighted sum of a row's pairs";
  let description = [{
    The sum starts at 0 and takes a row's pairs in ascending order of expert.

    - C1: routes and groups agree in experts and top.

    Example: `%y = lm.combine %p, %r, %g : tensor<?x64xf32>, !lm.routes<8, 2>, !lm.groups<8, 2>`
  }];
  let arguments = (ins Lm_Rows:$input, Lm_Routes:$routes, Lm_Groups:$groups);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $input `,` $routes `,` $groups attr-dict `:` type($input) `,`
    qualified(type($routes)) `,` qualified(type($groups))
  }];
  let hasVerifier = 1;
}

#endif
