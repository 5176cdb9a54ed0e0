// Row-wise arithmetic: what goes through linalg and fuses.

#ifndef QUIRE_IR_LM_ELEMENTWISEOPS_TD
#define QUIRE_IR_LM_ELEMENTWISEOPS_TD

include "ir/lm/LmTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class Lm_Unary<string mnemonic> : Lm_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let results = (outs Lm_Rows:$output);
}
class Lm_Binary<string mnemonic> : Lm_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins Lm_Rows:$lhs, Lm_Rows:$rhs);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($output)";
}

def Lm_AddOp : Lm_Binary<"add"> {
  let summary = "a + b";
  let description = [{ Example: `%s = lm.add %a, %b : tensor<?x576xf32>` }];
}
def Lm_MulOp : Lm_Binary<"mul"> {
  let summary = "a * b";
  let description = [{ Example: `%s = lm.mul %a, %b : tensor<?x576xf32>` }];
}
def Lm_ScaleOp : Lm_Unary<"scale"> {
  let summary = "x times a constant, rounded to f32";
  let description = [{ Example: `%s = lm.scale %a {by = 0.22 : f64} : tensor<?x576xf32>` }];
  let arguments = (ins Lm_Rows:$input, F64Attr:$by);
  let assemblyFormat = "$input attr-dict `:` type($output)";
}
def Lm_NonlinearityOp : Lm_Unary<"nonlinearity"> {
  let summary = "silu, gelu (tanh form) or gelu (erf form) of every element";
  let description = [{ Example: `%s = lm.nonlinearity silu %a : tensor<?x1536xf32>` }];
  let arguments = (ins Lm_Nonlinearity:$kind, Lm_Rows:$input);
  let assemblyFormat = "$kind $input attr-dict `:` type($output)";
}
def Lm_SigmoidGateOp : Lm_Op<"sigmoid_gate", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "every row times the sigmoid of its one gate value";
  let description = [{
    - C1: the gate has one feature.

    Example: `%s = lm.sigmoid_gate %x, %g : tensor<?x2048xf32>, tensor<?x1xf32>`
  }];
  let arguments = (ins Lm_Rows:$input, Lm_Rows:$gate);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = "$input `,` $gate attr-dict `:` type($input) `,` type($gate)";
  let hasVerifier = 1;
}
def Lm_SoftcapOp : Lm_Unary<"softcap"> {
  let summary = "cap * tanh(x / cap)";
  let description = [{ Example: `%s = lm.softcap %a {cap = 30.0 : f64} : tensor<?x256000xf32>` }];
  let arguments = (ins Lm_Rows:$input, F64Attr:$cap);
  let assemblyFormat = "$input attr-dict `:` type($output)";
}

#endif
