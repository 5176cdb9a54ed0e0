// Ops and attributes of `rt`.

#ifndef QUIRE_IR_RT_OPS_TD
#define QUIRE_IR_RT_OPS_TD

include "ir/rt/RtDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rt_BufferOp : Rt_Op<"buffer", [Symbol]> {
  let summary = "an activation buffer in the arena";
  let description = [{
    Holds `rows` rows (the most the step may have, or the most logit rows) of
    `row_bytes`. `format` is an activation format's name. `offset` is set by
    `plan-memory`. The buffer named `logits` is the step's result and has no
    place in the arena.

    - C1: rows and row_bytes are positive, and the offset is a multiple of 64.

    Example: `rt.buffer @x f32 rows 512 row_bytes 2304 offset 0`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$format, I64Attr:$rows,
                       I64Attr:$row_bytes, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = [{
    $sym_name custom<Keyword>($format) `rows` $rows `row_bytes` $row_bytes (`offset` $offset^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Rt_WeightOp : Rt_Op<"weight", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "a weight slot: packed bytes that kernels read";
  let description = [{
    The region computes the slot's value with `lm` weight ops from parameters;
    it is evaluated once per layer when the engine is written, and ends in
    `rt.pack`. `layers` lists the layers that have the slot (empty: one slot,
    not of a layer). `bytes` is the packed size in one layer. A stack of
    matrices is packed as one after the other. A weight that is a vector
    (norms, biases) is packed as plain f32.

    - C1: the region ends in `rt.pack` of a weight with the slot's shape and
      format (a vector: any format, packed as f32).
    - C2: the region's one argument is the layer, an index.

    Example:
    ```mlir
    rt.weight @dense.attn_q q4_k [1536, 1536] bytes 1327104 layers [0, 1] {
    ^bb0(%layer: index):
      %w = lm.load_param @attn_q[%layer] : !lm.weight<[1536, 1536], q4_k>
      rt.pack %w : !lm.weight<[1536, 1536], q4_k>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$format,
                       DenseI64ArrayAttr:$shape, I64Attr:$bytes,
                       DenseI64ArrayAttr:$layers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name custom<Keyword>($format) $shape `bytes` $bytes `layers` $layers attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isStack() { return getShape().size() == 3; }
    /// Matrices of a stack; a matrix or vector counts as one.
    int64_t getMatrices() { return isStack() ? getShape().front() : 1; }
    /// How many of them one row of `part` meets: of experts, its own.
    int64_t matricesOfRow(PartAttr part);
  }];
}

def Rt_PackOp : Rt_Op<"pack", [Terminator]> {
  let summary = "ends a weight slot's expression";
  let description = [{ Example: `rt.pack %w : !lm.weight<[1536], f32>` }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Rt_CacheGroupOp : Rt_Op<"cache_group", [Symbol]> {
  let summary = "a cache group: the page layout of layers that share a table";
  let description = [{
    Example:
    ```mlir
    rt.cache_group @global bf16 number 0 kv_heads 2 key_dim 128 value_dim 128 page 16 window 0 layers [0, 1]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$format,
                       I64Attr:$number, I64Attr:$kv_heads, I64Attr:$key_dim,
                       I64Attr:$value_dim, I64Attr:$page_size, I64Attr:$window,
                       DenseI64ArrayAttr:$layers);
  let assemblyFormat = [{
    $sym_name custom<Keyword>($format) `number` $number `kv_heads` $kv_heads `key_dim` $key_dim
    `value_dim` $value_dim `page` $page_size `window` $window `layers` $layers attr-dict
  }];
}

def Rt_SequenceOp : Rt_Op<"sequence", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "launches in order: the body of one kind of layer, or the step";
  let description = [{
    The sequence named `step` is the entry; the others are called by `rt.loop`.

    Example: `rt.sequence @dense { ... }`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Rt_Part : Rt_Attr<"Part", "part"> {
  let summary = "one kernel with its arguments";
  let description = [{
    `args` names every field of the kernel's argument struct except `step` and
    `layer`: a symbol (buffer, weight slot, cache group number or generated
    constant) where the field is a pointer, `unit` for a null pointer, an i64
    or f64 where it is a number, an array of f32 where it points to a constant
    table.
  }];
  let parameters = (ins StringRefParameter<>:$kernel, "::mlir::DictionaryAttr":$args);
  let assemblyFormat = "`<` $kernel `,` $args `>`";
}

def Rt_LaunchOp : Rt_Op<"launch", []> {
  let summary = "tiles of one or more kernels, spread over the workers";
  let description = [{
    The tiles of all `parts` form one range; a part with a format of its own
    is a segment of the launch. `reads` and `writes` follow from the kernels'
    argument tables. `origin` names the model's op.

    - C1: there is at least one part, and all are `#rt.part`.

    Example:
    ```mlir
    rt.launch "attn_qkv" [#rt.part<"linear_q4_k", {activation = @a, weight = @dense.attn_q, bias = unit, out = @q, inputs = 1536 : i64, outputs = 1536 : i64, outStride = 1536 : i64, rowSet = 0 : i64}>]
    ```
  }];
  let arguments = (ins StrAttr:$origin, ArrayAttr:$parts);
  let assemblyFormat = "$origin $parts attr-dict";
  let hasVerifier = 1;
}

def Rt_BarrierOp : Rt_Op<"barrier", []> {
  let summary = "waits until every tile launched so far has finished";
  let description = [{ Example: `rt.barrier` }];
  let assemblyFormat = "attr-dict";
}

def Rt_LoopOp : Rt_Op<"loop", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the layer loop";
  let description = [{
    Step i runs sequence `kinds[which[i]]` for layer `indices[i]`.

    - C1: `which` and `indices` have the same length; `which` indexes `kinds`.
    - C2: each kind is an `rt.sequence`.

    Example: `rt.loop kinds [@dense] which [0, 0] indices [0, 1]`
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$kinds, DenseI64ArrayAttr:$which,
                       DenseI64ArrayAttr:$indices);
  let assemblyFormat = "`kinds` $kinds `which` $which `indices` $indices attr-dict";
}

#endif
