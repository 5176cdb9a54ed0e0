// Every pass, in pipeline order: what it does, what it does not, its options.

include "mlir/Pass/PassBase.td"

class Quire_ModulePass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::quire::lm::LmDialect", "::mlir::func::FuncDialect"];
}

def SplitDecoupledRope : Quire_ModulePass<"split-decoupled-rope"> {
  let summary = "recognises attention to latents, content and rotary channels apart";
  let description = [{
    Attention whose keys are [each head's product of a latent ++ one rotary key
    for all heads] and whose values are products of the same latent becomes
    `lm.latent_attention`: latent and rotary key are what a cache has to hold.
    Query products are cut into content and rotary channels by rows of their
    weight. No number changes. Leaves alone windows, soft caps and biased
    products. Decoupled rotary embedding: DeepSeek-V2, arXiv:2405.04434.
  }];
}

def FoldMlaAbsorb : Quire_ModulePass<"fold-mla-absorb"> {
  let summary = "chooses the form in which latent attention is computed";
  let description = [{
    *materialised* raises keys and values from the latents, *factored* brings
    each head's query down to the latent and the attended latent up to a value
    (two small products a head), *folded* has the first of them inside the
    query product and the second inside the output product. `auto` takes, by
    bytes and multiply-adds on the machine at hand, the cheapest for single
    rows, and the materialised form for whole blocks of a prompt where it is
    cheaper there; prints all three and where they cross. Rotary channels are
    never folded. Folding makes new weights: not under `quantize=keep`.
  }];
  let options = [
    Option<"form", "form", "std::string", "\"auto\"",
           "auto, materialised, factored or folded">,
    Option<"quantize", "quantize", "std::string", "\"keep\"",
           "what quantize-weights will be told">,
    Option<"kvFormat", "kv-format", "std::string", "\"bf16\"",
           "what insert-paged-kv will be told">,
    Option<"pageSize", "page-size", "int64_t", "16", "tokens per page">,
    Option<"block", "block", "int64_t", "256",
           "least tokens of a prompt that may be materialised together">,
    Option<"readGbps", "read-gbps", "double", "30.0",
           "streamed read, all workers, GB/s">,
    Option<"int8Gops", "int8-gops", "double", "1000.0",
           "int8 multiply-adds, all workers, 10^9/s">,
    Option<"f32Gops", "f32-gops", "double", "150.0",
           "f32 multiply-adds, all workers, 10^9/s">
  ];
}

def FuseGatedMlp : Quire_ModulePass<"fuse-gated-mlp"> {
  let summary = "joins both products of a gated MLP and their gating";
  let description = [{
    `f(x Wg^T) * (x Wu^T)` becomes one `lm.gated_linear`: both products read
    the input once and only their gated result is written. Leaves alone
    products with biases, of different inputs, with results that others read,
    and of different number formats (those become segments of one launch
    instead).
  }];
}

def FuseQkv : Quire_ModulePass<"fuse-qkv"> {
  let summary = "joins products of one input into segments of one launch";
  let description = [{
    Queries, keys and values (and any other products of the same rows) become
    one `lm.fused_linear`. Each segment keeps its own weight and number
    format; nothing is copied or concatenated.
  }];
}

def FuseResidualNorm : Quire_ModulePass<"fuse-residual-norm"> {
  let summary = "joins a residual addition and the norm that reads it";
  let description = [{
    `lm.add` whose sum is read by an `lm.rms_norm` of the whole row becomes
    `lm.add_rms_norm`: the row is read and written once. Norms of single heads
    stay.
  }];
}

def GroupExperts : Quire_ModulePass<"group-experts"> {
  let summary = "makes mixtures of experts grouped work without capacities";
  let description = [{
    `lm.experts` becomes `lm.group_routes`, `lm.dispatch`, products of pairs
    with their experts' matrices, and `lm.combine`. Pairs are sorted by
    (expert, row), so each touched expert's weights are read once a step, in
    ascending order, and the others not at all; no pair is ever dropped.
    Gate and up of two number formats stay two products. Dropless grouping:
    MegaBlocks, Gale et al., MLSys 2023 (arXiv:2211.15841).
  }];
}

def InsertPagedKv : Quire_ModulePass<"insert-paged-kv"> {
  let summary = "makes the key/value cache explicit";
  let description = [{
    `lm.attention` among the rows of a batch becomes `lm.kv_append` and
    `lm.paged_attention`: only new tokens enter a step. Layers with the same
    window and head shapes form one `lm.cache_group` with pages of its own.
    Of `lm.latent_attention` the latent and the rotary key are kept, once for
    both forms where a layer has two.
    Chooses nothing: format and page size are options. PagedAttention: Kwon et
    al., SOSP 2023.
  }];
  let options = [
    Option<"format", "format", "std::string", "\"bf16\"",
           "number format of keys and values: bf16, f16 or f32">,
    Option<"pageSize", "page-size", "int64_t", "16", "tokens per page">
  ];
}

def QuantizeWeights : Quire_ModulePass<"quantize-weights"> {
  let summary = "decides the number format of every weight matrix";
  let description = [{
    `keep` leaves the checkpoint's own formats. Otherwise each matrix gets an
    `lm.convert_weight`: f32, bf16, int8 (one scale per output row), int4
    (groups of 32 with a scale) or int4a (scale and minimum). Under int4 and
    int4a the embedding and the head become int8; under any of the three a
    matrix whose inputs are no multiple of 32 becomes bf16. A product of two
    weights keeps twice the bits (f32 under bf16, bf16 under int8, int8 under
    int4 and int4a). Vectors (norms,
    biases) stay f32. Routers and the gates of shared experts are never
    rounded: they stay as floats, or become f32, even under `keep`.
  }];
  let options = [Option<"to", "to", "std::string", "\"keep\"",
                        "keep, f32, bf16, int8, int4 or int4a">];
}

def FuseQuantization : Quire_ModulePass<"fuse-quantization"> {
  let summary = "rounds each product's input once, for all who read it";
  let description = [{
    A product with a quantised weight reads int8 activations. This pass puts
    one `lm.quantize_activation` behind the rows' producer per activation
    format that some reader wants, and shares it.
  }];
}

def SelectKernels : Quire_ModulePass<"select-kernels"> {
  let summary = "gives every op a kernel, with predicted time";
  let description = [{
    Sets `kernel` on each op: a table of row ranges, each with the kernel and
    the configuration that the cost model likes best, its predicted time, and
    the runner-up's. The model: time = max(bytes / read stream, operations /
    multiply-add rate), from a machine profile.
  }];
  let options = [
    Option<"readGbps", "read-gbps", "double", "30.0",
           "streamed read, all workers, GB/s">,
    Option<"int8Gops", "int8-gops", "double", "1000.0",
           "int8 multiply-adds, all workers, 10^9/s">,
    Option<"f32Gops", "f32-gops", "double", "150.0",
           "f32 multiply-adds, all workers, 10^9/s">
  ];
}

def LowerLmToRt : Quire_ModulePass<"lower-lm-to-rt"> {
  let summary = "buffers, weight slots and launches";
  let description = [{
    Each function becomes an `rt.sequence`. Ops at the same depth of the data
    flow share a launch, as parts of it; row-wise arithmetic that hangs
    together becomes one generated function. Weights become `rt.weight` slots
    with the expression that computes them. No offsets and no barriers yet.
  }];
  let dependentDialects = ["::quire::lm::LmDialect", "::quire::rt::RtDialect",
                           "::mlir::func::FuncDialect"];
  let options = [
    Option<"maxRows", "max-rows", "int64_t", "512",
           "most rows of a step (--max-batch-tokens)">,
    Option<"maxLogitRows", "max-logit-rows", "int64_t", "128",
           "most rows with logits in a step">
  ];
}

def PlanMemory : Quire_ModulePass<"plan-memory"> {
  let summary = "places buffers in the arena by their lifetimes";
  let description = [{
    A buffer lives from the first launch that writes it to the last that reads
    it; the bodies of different layer kinds never run at once and share their
    space. Buffers go, one after the other, to the lowest offset that is free
    for their lifetime; of a few orders (largest first, longest first, ...) the
    one with the smallest arena is kept. Prints the arena beside the peak of
    live bytes.
  }];
  let dependentDialects = ["::quire::rt::RtDialect"];
}

def PlaceBarriers : Quire_ModulePass<"place-barriers"> {
  let summary = "puts a barrier only where a dependence crosses workers";
  let description = [{
    A launch waits if it reads or writes bytes that a launch since the last
    barrier writes, or writes bytes that one reads. Bytes count, not names:
    buffers that share space depend on each other. Each sequence starts
    behind a barrier, and the step ends with one.
  }];
  let dependentDialects = ["::quire::rt::RtDialect"];
}
