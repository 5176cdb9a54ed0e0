// Weights as values: loading a parameter and the expressions that passes build
// on it. They are evaluated once, when the engine is written, layer by layer.

#ifndef QUIRE_IR_LM_WEIGHTOPS_TD
#define QUIRE_IR_LM_WEIGHTOPS_TD

include "ir/lm/LmTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Lm_LoadParamOp : Lm_Op<"load_param", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter, in the layer at hand";
  let description = [{
    - C1: the symbol is an `lm.param` of the same shape.
    - C2: `layer` is given exactly when the parameter has layers.

    The format in the result type is the parameter's format in every layer
    that the enclosing function is called for (checked by `lm.layers`).

    Example: `%w = lm.load_param @attn_q[%layer] : !lm.weight<[1536, 1536], q4_k>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$param, Optional<Index>:$layer);
  let results = (outs Lm_Weight:$weight);
  let assemblyFormat = "$param (`[` $layer^ `]`)? attr-dict `:` qualified(type($weight))";
}

class Lm_WeightTransform<string mnemonic, list<Trait> traits = []>
    : Lm_Op<mnemonic, [Pure] # traits> {
  let results = (outs Lm_Weight:$output);
}

def Lm_UnpermuteRotaryOp : Lm_WeightTransform<"unpermute_rotary", [SameOperandsAndResultType]> {
  let summary = "puts the rows of each head from interleaved to half-split order";
  let description = [{
    Some files store query and key rows so that rotary pairs are neighbours:
    row 2i + j of a head (j in {0, 1}) there is row j * (dim/2) + i here. Rows
    move whole, so block formats keep their values. Takes a matrix or a bias.

    - C1: rows are a multiple of `head_dim`, which is even.

    Example: `%q = lm.unpermute_rotary %w {head_dim = 64 : i64} : !lm.weight<[576, 576], q4_1>`
  }];
  let arguments = (ins Lm_Weight:$input, I64Attr:$head_dim);
  let assemblyFormat = "$input attr-dict `:` qualified(type($output))";
  let hasVerifier = 1;
}

def Lm_AffineWeightOp : Lm_WeightTransform<"affine_weight"> {
  let summary = "weight * scale + offset, in f32";
  let description = [{
    - C1: the shape stays; the result is f32.

    Example: Gemma stores norm weights minus one:
    `%n = lm.affine_weight %w {scale = 1.0 : f64, offset = 1.0 : f64} : !lm.weight<[640], bf16> -> !lm.weight<[640], f32>`
  }];
  let arguments = (ins Lm_Weight:$input, F64Attr:$scale, F64Attr:$offset);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($output))";
  let hasVerifier = 1;
}

def Lm_ConvertWeightOp : Lm_WeightTransform<"convert_weight"> {
  let summary = "the same weight stored in another number format";
  let description = [{
    Rounds where the new format cannot hold a value, to nearest even; scales
    and minima that are f16 are rounded first, and q chosen for the rounded
    ones.

    - `f16`, `bf16`: each value by itself.
    - `int8`: value = scale * q, q in [-127, 127]; scale = max|w| / 127 of the
      output row, f32 (of all values, for a vector).
    - `int4`: groups of 32 along the inputs; value = scale * (q - 8), q in
      [0, 15]; scale = w / -8 of the w farthest from zero (the first of equals),
      f16.
    - `int4a`: groups of 32; value = scale * q + minimum, q in [0, 15];
      minimum = min w, scale = (max w - minimum) / 15, both f16.
    - A group whose scale is 0 becomes zeros (`int4a`: its minimum).
    - To the format it has already: nothing changes. No other format can be
      rounded to.

    - C1: the shape stays.

    Example: `%q = lm.convert_weight %w : !lm.weight<[576, 576], bf16> -> !lm.weight<[576, 576], int8>`
  }];
  let arguments = (ins Lm_Weight:$input);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($output))";
  let hasVerifier = 1;
}

def Lm_TakeRowsOp : Lm_WeightTransform<"take_rows"> {
  let summary = "the same rows of every head, as a stack or as one matrix";
  let description = [{
    The input's rows are `heads` heads of equal height; the result holds, of
    each, as many rows from `begin` on as its own height asks for. Rows move
    whole, so block formats keep their values. Takes a matrix or a bias.

    - C1: the input's rows are whole heads, and the result has `heads` of them:
      a stack `[heads, rows, inputs]`, a matrix `[heads * rows, inputs]`, or a
      vector `[heads * rows]` of a vector.
    - C2: the rows lie in the head. C3: inputs and format stay.

    Example: `%k = lm.take_rows %w {heads = 16 : i64, begin = 0 : i64} : !lm.weight<[4096, 512], q4_k> -> !lm.weight<[16, 128, 512], q4_k>`
  }];
  let arguments = (ins Lm_Weight:$input, I64Attr:$heads, I64Attr:$begin);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($output))";
  let hasVerifier = 1;
}

def Lm_FoldKeyOp : Lm_WeightTransform<"fold_key"> {
  let summary = "per head: key-raising weight, transposed, times query weight";
  let description = [{
    Head h of the result is key[h]^T query[h]: what turns the query's input into
    a query against the latent. Summed in ascending order of the content
    channel, every product and every sum rounded to f32.

    - C1: both are stacks of as many matrices of as many rows (the content
      channels). C2: the result is f32, `[heads * rank, inputs]`.

    Example: `%w = lm.fold_key %q, %k : !lm.weight<[16, 128, 2048], bf16>, !lm.weight<[16, 128, 512], bf16> -> !lm.weight<[8192, 2048], f32>`
  }];
  let arguments = (ins Lm_Weight:$query, Lm_Weight:$key);
  let assemblyFormat = [{
    $query `,` $key attr-dict `:` qualified(type($query)) `,` qualified(type($key))
    `->` qualified(type($output))
  }];
  let hasVerifier = 1;
}

def Lm_FoldValueOp : Lm_WeightTransform<"fold_value"> {
  let summary = "per head: output weight times value-raising weight";
  let description = [{
    Columns h * rank to (h + 1) * rank of the result are product[:, h] value[h],
    product[:, h] being head h's columns: what turns attended latents into the
    attention's output. Summed in ascending order of the value channel, every
    product and every sum rounded to f32.

    - C1: `product` is a matrix whose inputs are the heads of `value`, a stack,
      times its rows. C2: the result is f32, `[outputs, heads * rank]`.

    Example: `%w = lm.fold_value %o, %v : !lm.weight<[2048, 2048], bf16>, !lm.weight<[16, 128, 512], bf16> -> !lm.weight<[2048, 8192], f32>`
  }];
  let arguments = (ins Lm_Weight:$product, Lm_Weight:$value);
  let assemblyFormat = [{
    $product `,` $value attr-dict `:` qualified(type($product)) `,`
    qualified(type($value)) `->` qualified(type($output))
  }];
  let hasVerifier = 1;
}

#endif
