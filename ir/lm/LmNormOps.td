// Norms.

#ifndef QUIRE_IR_LM_NORMOPS_TD
#define QUIRE_IR_LM_NORMOPS_TD

include "ir/lm/LmTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Lm_RmsNormOp : Lm_Op<"rms_norm", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "root-mean-square norm of each section of a row";
  let description = [{
    A row is cut into sections as wide as the weight vector (one section: the
    usual norm; one per head: query and key norms). Each section becomes
    x / sqrt(mean(x²) + epsilon) * weight.

    - C1: features are a multiple of the weight's.

    Example: `%y = lm.rms_norm %x, %w {epsilon = 1.0e-5 : f64} : tensor<?x576xf32>, !lm.weight<[576], f32>`
  }];
  let arguments = (ins Lm_Rows:$input, Lm_Weight:$weight, F64Attr:$epsilon);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $input `,` $weight attr-dict `:` type($input) `,` qualified(type($weight))
  }];
  let hasVerifier = 1;
}

def Lm_AddRmsNormOp : Lm_Op<"add_rms_norm", [Pure,
    AllTypesMatch<["input", "delta", "sum", "normed"]>]> {
  let summary = "residual addition and the norm that reads it";
  let description = [{
    sum = x + delta; normed = rms_norm(sum). Both are results.

    - C1: features are a multiple of the weight's.

    Example: `%s, %y = lm.add_rms_norm %x, %d, %w {epsilon = 1.0e-5 : f64} : tensor<?x576xf32>, !lm.weight<[576], f32>`
  }];
  let arguments = (ins Lm_Rows:$input, Lm_Rows:$delta, Lm_Weight:$weight,
                       F64Attr:$epsilon);
  let results = (outs Lm_Rows:$sum, Lm_Rows:$normed);
  let assemblyFormat = [{
    $input `,` $delta `,` $weight attr-dict `:` type($input) `,` qualified(type($weight))
  }];
  let hasVerifier = 1;
}

#endif
