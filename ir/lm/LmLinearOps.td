// Products with weights, and the rounding of their inputs.

#ifndef QUIRE_IR_LM_LINEAROPS_TD
#define QUIRE_IR_LM_LINEAROPS_TD

include "ir/lm/LmTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Lm_LinearOp : Lm_Op<"linear", [Pure]> {
  let summary = "x W^T + bias";
  let description = [{
    - C1: features of the input = inputs of the weight.
    - C2: features of the output = outputs of the weight.
    - C3: a bias is a vector of as many features as the output.

    Example:
    ```mlir
    %y = lm.linear %x, %w : tensor<?x576xf32>, !lm.weight<[192, 576], q4_1> -> tensor<?x192xf32>
    %z = lm.linear %x, %w bias %b : tensor<?x576xf32>, !lm.weight<[192, 576], q4_1>, !lm.weight<[192], f32> -> tensor<?x192xf32>
    ```
  }];
  let arguments = (ins Lm_RowsOrActivation:$input, Lm_Weight:$weight,
                       Optional<Lm_Weight>:$bias);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $input `,` $weight (`bias` $bias^)? attr-dict `:` type($input) `,`
    qualified(type($weight)) (`,` qualified(type($bias))^)? `->` type($output)
  }];
  let hasVerifier = 1;
}

def Lm_FusedLinearOp : Lm_Op<"fused_linear", [Pure, AttrSizedOperandSegments]> {
  let summary = "several products of one input in one launch";
  let description = [{
    Segment i is `input * weights[i]^T + biases[i]`, each with its own number
    format; all share one (quantised) input. `has_bias[i]` says which segments
    take the next of `biases`.

    - C1: as many results as weights and entries of `has_bias`.
    - C2: as many biases as true entries of `has_bias`.
    - C3: each segment meets the constraints of `lm.linear`.

    Example:
    ```mlir
    %q, %k, %v = lm.fused_linear %x, (%wq, %wk, %wv) {has_bias = array<i1: false, false, false>}
      : tensor<?x576xf32>, (!lm.weight<[576, 576], q4_1>, !lm.weight<[192, 576], q4_1>, !lm.weight<[192, 576], q6_k>)
      -> (tensor<?x576xf32>, tensor<?x192xf32>, tensor<?x192xf32>)
    ```
  }];
  let arguments = (ins Lm_RowsOrActivation:$input, Variadic<Lm_Weight>:$weights,
                       Variadic<Lm_Weight>:$biases, DenseBoolArrayAttr:$has_bias);
  let results = (outs Variadic<Lm_Rows>:$outputs);
  let assemblyFormat = [{
    $input `,` `(` $weights `)` (`biases` `(` $biases^ `)`)? attr-dict `:`
    type($input) `,` `(` qualified(type($weights)) `)`
    (`,` `(` qualified(type($biases))^ `)`)? `->` `(` type($outputs) `)`
  }];
  let hasVerifier = 1;
}

def Lm_GatedLinearOp : Lm_Op<"gated_linear", [Pure]> {
  let summary = "f(x Wg^T) * (x Wu^T): the first half of a gated MLP";
  let description = [{
    - C1: both weights have the same shape, and the input's features.

    Example:
    ```mlir
    %y = lm.gated_linear silu %x, %gate, %up : tensor<?x576xf32>, !lm.weight<[1536, 576], q4_1>, !lm.weight<[1536, 576], q4_1> -> tensor<?x1536xf32>
    ```
  }];
  let arguments = (ins Lm_Nonlinearity:$nonlinearity, Lm_RowsOrActivation:$input,
                       Lm_Weight:$gate, Lm_Weight:$up);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $nonlinearity $input `,` $gate `,` $up attr-dict `:` type($input) `,`
    qualified(type($gate)) `,` qualified(type($up)) `->` type($output)
  }];
  let hasVerifier = 1;
}

def Lm_QuantizeActivationOp : Lm_Op<"quantize_activation", [Pure]> {
  let summary = "rounds rows to int8 with a scale per group";
  let description = [{
    See `!lm.activation` for the rounding. One op serves every product that
    reads the same rows in the same format.

    - C1: features are a multiple of the group.

    Example: `%a = lm.quantize_activation %x : tensor<?x576xf32> -> !lm.activation<576, int8_by_32>`
  }];
  let arguments = (ins Lm_Rows:$input);
  let results = (outs Lm_Activation:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` qualified(type($output))";
  let hasVerifier = 1;
}

#endif
