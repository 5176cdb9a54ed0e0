// The `lm` dialect: what a language model means, on ragged batches of tokens.

#ifndef QUIRE_IR_LM_DIALECT_TD
#define QUIRE_IR_LM_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"

def Lm_Dialect : Dialect {
  let name = "lm";
  let cppNamespace = "::quire::lm";
  let summary = "Language-model operations on ragged batches of tokens";
  let description = [{
    Activations are `tensor<?xFxf32>`: one row a token, whatever mix of
    sequences, prompt chunks and draft trees the step holds. Which row belongs
    where is in the `!lm.batch`. Weights are `!lm.weight` values with a number
    format; the cache is a type. A model is a module of `lm.param` and
    `lm.cache_group` symbols, one function per kind of layer and one function
    `@step`.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerOps();";
}

class Lm_Op<string mnemonic, list<Trait> traits = []>
    : Op<Lm_Dialect, mnemonic, traits>;

class Lm_Type<string name, string typeMnemonic> : TypeDef<Lm_Dialect, name> {
  let mnemonic = typeMnemonic;
}

#endif
