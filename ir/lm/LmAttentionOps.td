// Attention, rotary embedding and the cache.

#ifndef QUIRE_IR_LM_ATTENTIONOPS_TD
#define QUIRE_IR_LM_ATTENTIONOPS_TD

include "ir/lm/LmTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Lm_RopeTableOp : Lm_Op<"rope_table", [Pure]> {
  let summary = "cosines and sines of every row's position";
  let description = [{
    Row = [cos(a_i)] ++ [sin(a_i)] over the rotary pairs i, times `amplitude`,
    a_i = position * inverse_frequency[i], rounded to f32 before the cosine.
    With `dynamic_context` > 0 a row whose position p is at or past it uses the
    base raised for p + 1 tokens ("dynamic" scaling, from the row's own
    position): base' = base * (factor * (p+1) / context - (factor - 1))^(d/(d-2)).

    - C1: the result has 2 * size(inverse_frequency) features.

    Example: `%t = lm.rope_table %batch {inverse_frequency = array<f32: 1.0, 0.1>} : tensor<?x4xf32>`
  }];
  let arguments = (ins Lm_Batch:$batch, DenseF32ArrayAttr:$inverse_frequency,
                       DefaultValuedAttr<F64Attr, "1.0">:$amplitude,
                       DefaultValuedAttr<I64Attr, "0">:$dynamic_context,
                       DefaultValuedAttr<F64Attr, "0.0">:$dynamic_base,
                       DefaultValuedAttr<F64Attr, "0.0">:$dynamic_factor);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = "$batch attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def Lm_RopeOp : Lm_Op<"rope", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "rotates the first channels of every head";
  let description = [{
    Heads are `head_dim` wide; the table's width is the rotary width r <=
    head_dim. Pair i is channels (i, i + r/2), or (2i, 2i + 1) where
    `interleaved`. Channels from r on pass unchanged.

    - C1: features are a multiple of head_dim. C2: r is even and <= head_dim.

    Example: `%r = lm.rope %q, %t {head_dim = 64 : i64} : tensor<?x576xf32>, tensor<?x64xf32>`
  }];
  let arguments = (ins Lm_Rows:$input, Lm_Rows:$table, I64Attr:$head_dim,
                       UnitAttr:$interleaved);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = "$input `,` $table attr-dict `:` type($input) `,` type($table)";
  let hasVerifier = 1;
}

def Lm_SliceHeadsOp : Lm_Op<"slice_heads", [Pure]> {
  let summary = "the same channels of every head";
  let description = [{
    The input is `heads` heads of equal width; the result holds, of each, as
    many channels from `begin` on as its own width asks for.

    - C1: input and result are whole heads. C2: the channels lie in the head.

    Example: `%c = lm.slice_heads %q {heads = 16 : i64, begin = 0 : i64} : tensor<?x3072xf32> -> tensor<?x2048xf32>`
  }];
  let arguments = (ins Lm_Rows:$input, I64Attr:$heads, I64Attr:$begin);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

def Lm_ConcatHeadsOp : Lm_Op<"concat_heads", [Pure]> {
  let summary = "every head's channels of two rows, one after the other";
  let description = [{
    Head h of the result is head h of `first`, then head h of `second`, or all
    of `second` where it is `shared`: one head that every head gets.

    - C1: both are whole heads. C2: the result is as wide as they are together.

    Example: `%k = lm.concat_heads %c, %r {heads = 16 : i64, shared} : tensor<?x2048xf32>, tensor<?x64xf32> -> tensor<?x3072xf32>`
  }];
  let arguments = (ins Lm_Rows:$first, Lm_Rows:$second, I64Attr:$heads,
                       UnitAttr:$shared);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $first `,` $second attr-dict `:` type($first) `,` type($second) `->` type($output)
  }];
  let hasVerifier = 1;
}

def Lm_AttentionOp : Lm_Op<"attention", [Pure]> {
  let summary = "causal attention among the rows of the batch, without a cache";
  let description = [{
    Each query row attends to the rows of its sequence at positions up to its
    own (the last `window` of them where window > 0). Score = scale * q.k, then
    softcap * tanh(score / softcap) where softcap > 0. Query head h reads
    key/value head h / (heads / kv_heads). This is the form a model has before
    `insert-paged-kv`.

    - C1: heads is a multiple of kv_heads. C2: widths are heads times the dims.

    Example:
    ```mlir
    %o = lm.attention %q, %k, %v, %batch {heads = 9 : i64, kv_heads = 3 : i64, scale = 0.125 : f64}
      : tensor<?x576xf32>, tensor<?x192xf32>, tensor<?x192xf32> -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Lm_Rows:$query, Lm_Rows:$key, Lm_Rows:$value,
                       Lm_Batch:$batch, I64Attr:$heads, I64Attr:$kv_heads,
                       F64Attr:$scale, DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $batch attr-dict `:` type($query) `,`
    type($key) `,` type($value) `->` type($output)
  }];
  let hasVerifier = 1;
}

def Lm_CacheOp : Lm_Op<"cache", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, Pure]> {
  let summary = "the cache of one layer, as the step finds it";
  let description = [{
    - C1: the symbol is an `lm.cache_group` with the result's type.

    Example: `%c = lm.cache @global[%layer] : !lm.kv<heads = 3, key = 64, value = 64, format = bf16, page = 16, window = 0>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$group, Index:$layer);
  let results = (outs Lm_Kv:$cache);
  let assemblyFormat = "$group `[` $layer `]` attr-dict `:` qualified(type($cache))";
}

def Lm_KvAppendOp : Lm_Op<"kv_append", [Pure, AllTypesMatch<["cache", "output"]>]> {
  let summary = "the cache with every live row's key and value in its slot";
  let description = [{
    The values are stored in the cache's format; whoever reads them reads what
    is stored. The result is the cache after the write.

    - C1: keys and values are as wide as the cache's heads times its widths.

    Example:
    ```mlir
    %c1 = lm.kv_append %c0, %k, %v, %batch : !lm.kv<heads = 3, key = 64, value = 64, format = bf16, page = 16, window = 0>, tensor<?x192xf32>, tensor<?x192xf32>
    ```
  }];
  let arguments = (ins Lm_Kv:$cache, Lm_Rows:$key, Lm_Rows:$value, Lm_Batch:$batch);
  let results = (outs Lm_Kv:$output);
  let assemblyFormat = [{
    $cache `,` $key `,` $value `,` $batch attr-dict `:` qualified(type($cache)) `,`
    type($key) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Lm_PagedAttentionOp : Lm_Op<"paged_attention", [Pure]> {
  let summary = "attention of every row to what the cache holds of its sequence";
  let description = [{
    A row sees the committed tokens before it, its uncommitted ancestors and
    itself, reduced in position order as if all stood at their positions.
    Otherwise as `lm.attention`; the window is the cache's.

    - C1: heads is a multiple of the cache's heads.
    - C2: query and output are heads times the key and value widths.

    Example:
    ```mlir
    %o = lm.paged_attention %q, %c1, %batch {heads = 9 : i64, scale = 0.125 : f64}
      : tensor<?x576xf32>, !lm.kv<heads = 3, key = 64, value = 64, format = bf16, page = 16, window = 0> -> tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Lm_Rows:$query, Lm_Kv:$cache, Lm_Batch:$batch,
                       I64Attr:$heads, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $query `,` $cache `,` $batch attr-dict `:` type($query) `,` qualified(type($cache))
    `->` type($output)
  }];
  let hasVerifier = 1;
}

#endif
