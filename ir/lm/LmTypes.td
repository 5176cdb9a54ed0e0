// Types of `lm` and the enums they are made of.

#ifndef QUIRE_IR_LM_TYPES_TD
#define QUIRE_IR_LM_TYPES_TD

include "ir/lm/LmDialect.td"

class Lm_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::quire::lm";
}

// Names as in frontends/formats/NumberFormat.h; a test holds the two lists
// against each other.
def Lm_NumberFormat : Lm_Enum<"NumberFormat", "how a tensor's values are stored", [
  I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"F16", 1, "f16">,
  I32EnumAttrCase<"BF16", 2, "bf16">, I32EnumAttrCase<"Q4_0", 3, "q4_0">,
  I32EnumAttrCase<"Q4_1", 4, "q4_1">, I32EnumAttrCase<"Q5_0", 5, "q5_0">,
  I32EnumAttrCase<"Q5_1", 6, "q5_1">, I32EnumAttrCase<"Q8_0", 7, "q8_0">,
  I32EnumAttrCase<"Q2_K", 8, "q2_k">, I32EnumAttrCase<"Q3_K", 9, "q3_k">,
  I32EnumAttrCase<"Q4_K", 10, "q4_k">, I32EnumAttrCase<"Q5_K", 11, "q5_k">,
  I32EnumAttrCase<"Q6_K", 12, "q6_k">, I32EnumAttrCase<"Int8Row", 13, "int8">,
  I32EnumAttrCase<"Int4Sym", 14, "int4">, I32EnumAttrCase<"Int4Asym", 15, "int4a">
]>;

def Lm_ActivationFormat : Lm_Enum<"ActivationFormat", "how a product's input is stored", [
  I32EnumAttrCase<"F32", 0, "f32">,
  I32EnumAttrCase<"Int8By32", 1, "int8_by_32">,
  I32EnumAttrCase<"Int8By256", 2, "int8_by_256">
]>;

def Lm_Nonlinearity : Lm_Enum<"Nonlinearity", "activation function of an MLP", [
  I32EnumAttrCase<"Silu", 0, "silu">,
  I32EnumAttrCase<"GeluTanh", 1, "gelu_tanh">,
  I32EnumAttrCase<"Gelu", 2, "gelu">
]>;

def Lm_RouterGate : Lm_Enum<"RouterGate", "how a router's scores become weights", [
  I32EnumAttrCase<"Softmax", 0, "softmax">,
  I32EnumAttrCase<"Sigmoid", 1, "sigmoid">
]>;

def Lm_GroupScore : Lm_Enum<"GroupScore", "how groups of experts are ranked", [
  I32EnumAttrCase<"Max", 0, "max">,
  I32EnumAttrCase<"Top2", 1, "top2">
]>;

def Lm_RowForm : Lm_Enum<"RowForm", "which form of latent attention a row takes", [
  I32EnumAttrCase<"Latent", 0, "latent">,
  I32EnumAttrCase<"Materialised", 1, "materialised">
]>;

def Lm_Batch : Lm_Type<"Batch", "batch"> {
  let summary = "the rows of one step";
  let description = [{
    For every row: token, position, sequence, role (prompt or generated),
    cache slot (−1: a dead row), number of committed tokens before it, and the
    slots of its uncommitted ancestors in position order. Also which rows'
    logits are wanted, and each row's form where latent attention has two:
    prompt positions below promptLength / F * F are materialised, F being the
    module's `lm.materialised_block`; all others are latent.
  }];
}

def Lm_Weight : Lm_Type<"Weight", "weight"> {
  let summary = "a matrix, a stack of matrices or a vector of parameters and its number format";
  let description = [{
    Shape `[outputs, inputs]`, `[matrices, outputs, inputs]` or `[features]`.
    A stack holds one matrix an expert, or one a head. The format says how the
    values are stored; the values themselves are the dequantised reals.

    - C1: one to three positive dimensions.
    - C2: rows of a block format are whole blocks.

    Example: `!lm.weight<[1536, 8960], q4_k>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        EnumParameter<Lm_NumberFormat>:$format);
  let assemblyFormat = "`<` `[` $shape `]` `,` $format `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isVector() const { return getShape().size() == 1; }
    bool isStack() const { return getShape().size() == 3; }
    /// Matrices of a stack; a matrix or vector counts as one.
    int64_t getMatrices() const { return isStack() ? getShape().front() : 1; }
    /// Outputs of one matrix, features of a vector.
    int64_t getRows() const { return getShape()[isStack() ? 1 : 0]; }
    /// Inputs of one matrix.
    int64_t getColumns() const { return getShape().back(); }
  }];
}

def Lm_Activation : Lm_Type<"Activation", "activation"> {
  let summary = "rows of activations rounded for a quantised product";
  let description = [{
    `[tokens, features]` signed 8-bit integers with one f32 scale per group of
    32 or 256 features of a row. With m = max|x| over the group, in f32:
    scale = m / 127, inverse = 127 / m, integer = x * inverse rounded to nearest
    even. A group with m < 1e-34, whose inverse would overflow, is all zeros with
    scale 0. Every step is one rounding of f32, so that kernels and the reference
    interpreter agree to the bit.

    Example: `!lm.activation<1536, int8_by_32>`
  }];
  let parameters = (ins "int64_t":$features,
                        EnumParameter<Lm_ActivationFormat>:$format);
  let assemblyFormat = "`<` $features `,` $format `>`";
  let extraClassDeclaration = [{
    /// Features that share a scale; all of them where nothing is rounded.
    int64_t getGroup() const;
  }];
}

def Lm_Kv : Lm_Type<"Kv", "kv"> {
  let summary = "one layer's part of the paged key/value cache";
  let description = [{
    What the cache holds of a token, in which format, in pages of how many
    tokens, and the sliding window outside which pages are released (0: all
    tokens are kept). Of a token it holds either `heads` keys of `key` values,
    after rotation, and as many values of `value`; or, for latent attention,
    one latent and one rotary key that all heads share (then `heads` is 1,
    `key` the latent's width and `value` the rotary key's).

    - C1: heads, widths and page are positive; the window is not negative.
    - C2: the format is f32, f16 or bf16.
    - C3: a latent is one head.

    Examples: `!lm.kv<heads = 2, key = 128, value = 128, format = bf16, page = 16, window = 0>`,
    `!lm.kv<latent = 512, rotary = 64, format = bf16, page = 16, window = 0>`
  }];
  let parameters = (ins "bool":$latent, "int64_t":$heads, "int64_t":$key,
                        "int64_t":$value, EnumParameter<Lm_NumberFormat>:$format,
                        "int64_t":$page, "int64_t":$window);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Numbers that a layer keeps of one token.
    int64_t getTokenValues() const {
      return getHeads() * (getKey() + getValue());
    }
  }];
}

class Lm_Routing<string name, string typeMnemonic> : Lm_Type<name, typeMnemonic> {
  let parameters = (ins "int64_t":$experts, "int64_t":$top);
  let assemblyFormat = "`<` $experts `,` $top `>`";
  let genVerifyDecl = 1;
}

def Lm_Routes : Lm_Routing<"Routes", "routes"> {
  let summary = "which experts each row goes to, and with what weights";
  let description = [{
    `top` pairs (expert, weight) a row, in ascending order of expert.

    - C1: 1 <= top <= experts.

    Example: `!lm.routes<128, 8>`
  }];
}

def Lm_Groups : Lm_Routing<"Groups", "groups"> {
  let summary = "the pairs (row, expert) of all rows, sorted by expert";
  let description = [{
    Rows that stand for pairs have the type of any rows; there are `top` of
    them for each row of the batch.

    - C1: as for `!lm.routes`.

    Example: `!lm.groups<128, 8>`
  }];
}

// [tokens, features] of f32.
def Lm_Rows : Type<
    CPred<"::quire::lm::isRowsType($_self)">, "rows: tensor<?xFxf32>",
    "::mlir::RankedTensorType">;
def Lm_RowsOrActivation : AnyTypeOf<[Lm_Rows, Lm_Activation],
                                    "rows or quantised activations">;

#endif
