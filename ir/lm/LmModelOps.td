// The frame of a model: parameters, cache groups, the layer loop, and the
// first and last op of a step.

#ifndef QUIRE_IR_LM_MODELOPS_TD
#define QUIRE_IR_LM_MODELOPS_TD

include "ir/lm/LmTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Lm_ParamOp : Lm_Op<"param", [Symbol]> {
  let summary = "names a parameter and where its bytes come from";
  let description = [{
    `source` is the tensor's name in the checkpoint, with `{}` where the layer
    number goes. A parameter with a `layers` dimension has one tensor a layer,
    numbered absolutely; `formats` holds one number format a layer (or a
    single one where all agree, or for a parameter without layers), and `none`
    for a layer that lacks it. A stack of matrices has one tensor a layer with
    all of them, or one a matrix where `{expert}` stands in `source` for the
    number in the stack. `row_begin` takes as many rows as the shape has, from
    that one on, of the source (of each matrix of a stack), for tensors that
    the checkpoint stores fused. A matrix of one row may be stored as a vector.

    - C1: `shape` has one to three positive dimensions.
    - C2: `formats` has one entry, or `layers` entries, and not only `none`.
    - C3: `{}` appears in `source` exactly when `layers` is given.
    - C4: `{expert}` appears in `source` only where the shape is a stack.

    Example:
    ```mlir
    lm.param @attn_q source "blk.{}.attn_q.weight" shape [1536, 1536] formats [q4_k] layers 28
    lm.param @expert_up source "model.layers.{}.mlp.experts.{expert}.up_proj.weight" shape [64, 1408, 2048] formats [none, bf16] layers 2
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$source,
                       DenseI64ArrayAttr:$shape,
                       ArrayAttr:$formats, // of StrAttr
                       OptionalAttr<I64Attr>:$layers,
                       DefaultValuedAttr<I64Attr, "0">:$row_begin);
  let assemblyFormat = [{
    $sym_name `source` $source `shape` $shape `formats` custom<Formats>($formats)
    (`layers` $layers^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether layer `layer` has the parameter (ignored where all agree).
    bool existsIn(int64_t layer);
    /// Format in layer `layer` (ignored where all agree), which has it.
    NumberFormat formatOf(int64_t layer);
    /// Whether the checkpoint has one tensor for each matrix of the stack.
    bool hasTensorPerMatrix();
    /// The tensor with matrix number `matrix` of `layer` (both ignored where
    /// the name has no place for them).
    std::string tensorName(int64_t layer, int64_t matrix);
  }];
}

def Lm_CacheGroupOp : Lm_Op<"cache_group", [Symbol]> {
  let summary = "layers that keep the same tokens in the same format";
  let description = [{
    They have pages and a page table of their own. `layers` lists the model's
    layers in the group; a layer's place in the list is its place in a page.

    - C1: `layers` is ascending, without repeats, and not empty.

    Example:
    ```mlir
    lm.cache_group @global : !lm.kv<heads = 2, key = 128, value = 128, format = bf16, page = 16, window = 0> layers [0, 1, 2]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Lm_Kv>:$type,
                       DenseI64ArrayAttr:$layers);
  let assemblyFormat = "$sym_name `:` qualified($type) `layers` $layers attr-dict";
  let hasVerifier = 1;
}

def Lm_LayersOp : Lm_Op<"layers", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    AllTypesMatch<["input", "output"]>]> {
  let summary = "the loop over layers";
  let description = [{
    Runs layer functions one after the other on the carried rows: step i calls
    `kinds[which[i]]` with the rows, the captured values and layer number
    `indices[i]`. Passes may thin the list or reorder it; it is data.

    - C1: `which` and `indices` have the same length; `which` indexes `kinds`.
    - C2: each kind is a function (rows, captures..., index) -> rows.
    - C3: in every layer a kind is called for, the parameters it loads have a
      tensor for that layer, in the format that the kind's types say.
    - C4: the cache groups it reads hold that layer.

    Example:
    ```mlir
    %y = lm.layers %x captures(%batch, %rope : !lm.batch, tensor<?x128xf32>)
           kinds [@dense] which [0, 0] indices [0, 1] : tensor<?x1536xf32>
    ```
  }];
  let arguments = (ins Lm_Rows:$input, Variadic<AnyType>:$captures,
                       FlatSymbolRefArrayAttr:$kinds, DenseI64ArrayAttr:$which,
                       DenseI64ArrayAttr:$indices);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $input (`captures` `(` $captures^ `:` type($captures) `)`)?
    `kinds` $kinds `which` $which `indices` $indices attr-dict
    `:` type($output)
  }];
  let hasVerifier = 1;
}

def Lm_EmbedOp : Lm_Op<"embed", [Pure]> {
  let summary = "embedding rows of the batch's tokens, times a scale";
  let description = [{
    - C1: the weight is a matrix [vocabulary, features of the output].

    Example:
    ```mlir
    %x = lm.embed %batch, %w {scale = 1.0 : f64} : !lm.weight<[49152, 576], q4_1> -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Lm_Batch:$batch, Lm_Weight:$weight,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $batch `,` $weight attr-dict `:` qualified(type($weight)) `->` type($output)
  }];
  let hasVerifier = 1;
}

def Lm_SelectLogitRowsOp : Lm_Op<"select_logit_rows", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "keeps only the rows whose logits the step asks for";
  let description = [{
    Example: `%y = lm.select_logit_rows %x, %batch : tensor<?x576xf32>`
  }];
  let arguments = (ins Lm_Rows:$input, Lm_Batch:$batch);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = "$input `,` $batch attr-dict `:` type($output)";
}

#endif
