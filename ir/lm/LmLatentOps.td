// Multi-head latent attention: one latent and one rotary key a token, shared by
// all heads, in its three forms.

#ifndef QUIRE_IR_LM_LATENTOPS_TD
#define QUIRE_IR_LM_LATENTOPS_TD

include "ir/lm/LmTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Lm_HeadLinearOp : Lm_Op<"head_linear", [Pure]> {
  let summary = "each head's channels times its own matrix of a stack";
  let description = [{
    Head h of the result is x_h W[h]^T, or x_h W[h] where `transposed`. In f32
    on the dequantised weight; the input is never rounded.

    - C1: the weight is a stack with one matrix a head; features of input and
      output are its heads times the matrices' inputs and outputs (the other
      way round where transposed).

    Example: `%l = lm.head_linear %q, %w {transposed} : tensor<?x2048xf32>, !lm.weight<[16, 128, 512], q4_k> -> tensor<?x8192xf32>`
  }];
  let arguments = (ins Lm_Rows:$input, Lm_Weight:$weight, UnitAttr:$transposed);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = [{
    $input `,` $weight attr-dict `:` type($input) `,` qualified(type($weight))
    `->` type($output)
  }];
  let hasVerifier = 1;
}

class Lm_LatentAttention<string mnemonic, list<Trait> traits = []>
    : Lm_Op<mnemonic, [Pure, AttrSizedOperandSegments] # traits> {
  let results = (outs Lm_Rows:$output);
  let hasVerifier = 1;
  code accessors = [{
    /// True where keys and values are raised from the latents inside the op.
    bool isRaised() { return static_cast<bool>(getKeyUp()); }
  }];
}

def Lm_LatentAttentionOp : Lm_LatentAttention<"latent_attention"> {
  let summary = "causal attention to latents among the rows of the batch, without a cache";
  let description = [{
    Each query row attends to the rows of its sequence at positions up to its
    own. Two forms with one meaning:

    - absorbed: `query` is against the latent itself. Score of head h =
      scale * (query_h . latent + query_rotary_h . key_rotary); the result is
      the softmax-weighted sum of the latents, [heads * rank].
    - raised by `key_up` and `value_up`: `query` is against the content channels.
      Score = scale * (query_h . (key_up[h] latent) + query_rotary_h .
      key_rotary); the result is the weighted sum of value_up[h] latent,
      [heads * value].

    Where `rows` names a form, the query holds the rows of that form only
    (`lm.select_form`) and so does the result; latents and rotary keys are those
    of all rows. DeepSeek-V2, arXiv:2405.04434.

    - C1: query, rotary query and result are `heads` heads of the widths that
      latent, rotary key and stacks say.
    - C2: the stacks have one matrix a head with an input a latent channel.
    - C3: rotary query and rotary key are rotated: they come from `lm.rope`,
      through `lm.select_form` alone.

    Example:
    ```mlir
    %o = lm.latent_attention %q, %qr, %c, %kr, %batch raised by %uk, %uv {heads = 16 : i64, scale = 0.07 : f64}
      : tensor<?x2048xf32>, tensor<?x1024xf32>, tensor<?x512xf32>, tensor<?x64xf32>,
        !lm.weight<[16, 128, 512], bf16>, !lm.weight<[16, 128, 512], bf16> -> tensor<?x2048xf32>
    ```
  }];
  let arguments = (ins Lm_Rows:$query, Lm_Rows:$query_rotary, Lm_Rows:$latent,
                       Lm_Rows:$key_rotary, Lm_Batch:$batch,
                       Optional<Lm_Weight>:$key_up, Optional<Lm_Weight>:$value_up,
                       OptionalAttr<Lm_RowForm>:$rows, I64Attr:$heads, F64Attr:$scale);
  let assemblyFormat = [{
    $query `,` $query_rotary `,` $latent `,` $key_rotary `,` $batch
    (`raised` `by` $key_up^ `,` $value_up)? (`rows` $rows^)? attr-dict `:`
    type($query) `,` type($query_rotary) `,` type($latent) `,` type($key_rotary)
    (`,` qualified(type($key_up))^ `,` qualified(type($value_up)))? `->` type($output)
  }];
  let extraClassDeclaration = accessors;
}

def Lm_PagedLatentAttentionOp : Lm_LatentAttention<"paged_latent_attention"> {
  let summary = "latent attention of every row to what the cache holds of its sequence";
  let description = [{
    As `lm.latent_attention`, with the latents and rotary keys of the cache and
    the order of `lm.paged_attention`.

    - C1: as there. C2: as there. C3: the rotary query is rotated.
    - C4: the cache holds latents.

    Example:
    ```mlir
    %o = lm.paged_latent_attention %q, %qr, %c1, %batch rows latent {heads = 16 : i64, scale = 0.07 : f64}
      : tensor<?x8192xf32>, tensor<?x1024xf32>, !lm.kv<latent = 512, rotary = 64, format = bf16, page = 16, window = 0>
      -> tensor<?x8192xf32>
    ```
  }];
  let arguments = (ins Lm_Rows:$query, Lm_Rows:$query_rotary, Lm_Kv:$cache,
                       Lm_Batch:$batch, Optional<Lm_Weight>:$key_up,
                       Optional<Lm_Weight>:$value_up,
                       OptionalAttr<Lm_RowForm>:$rows, I64Attr:$heads, F64Attr:$scale);
  let assemblyFormat = [{
    $query `,` $query_rotary `,` $cache `,` $batch
    (`raised` `by` $key_up^ `,` $value_up)? (`rows` $rows^)? attr-dict `:`
    type($query) `,` type($query_rotary) `,` qualified(type($cache))
    (`,` qualified(type($key_up))^ `,` qualified(type($value_up)))? `->` type($output)
  }];
  let extraClassDeclaration = accessors;
}

def Lm_SelectFormOp : Lm_Op<"select_form", [Pure, AllTypesMatch<["input", "output"]>]> {
  let summary = "the rows of one form, in the batch's order";
  let description = [{
    Every row of the batch has a form (see `!lm.batch`).

    Example: `%m = lm.select_form materialised %x, %batch : tensor<?x2048xf32>`
  }];
  let arguments = (ins Lm_RowForm:$form, Lm_Rows:$input, Lm_Batch:$batch);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = "$form $input `,` $batch attr-dict `:` type($input)";
}

def Lm_MergeFormsOp : Lm_Op<"merge_forms",
    [Pure, AllTypesMatch<["materialised", "latent", "output"]>]> {
  let summary = "the rows of both forms, back in the batch's order";
  let description = [{
    Undoes `lm.select_form`.

    Example: `%y = lm.merge_forms %m, %l, %batch : tensor<?x2048xf32>`
  }];
  let arguments = (ins Lm_Rows:$materialised, Lm_Rows:$latent, Lm_Batch:$batch);
  let results = (outs Lm_Rows:$output);
  let assemblyFormat = "$materialised `,` $latent `,` $batch attr-dict `:` type($output)";
}

#endif
