// The `rt` dialect: what runs, where, when. It mirrors the step ABI
// (runtime/engine/StepAbi.h) one to one; whoever prints code from it decides
// nothing.

#ifndef QUIRE_IR_RT_DIALECT_TD
#define QUIRE_IR_RT_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::quire::rt";
  let summary = "Buffers, packed weights, launches and barriers";
  let useDefaultAttributePrinterParser = 1;
}

class Rt_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rt_Dialect, mnemonic, traits>;

class Rt_Attr<string name, string attrMnemonic> : AttrDef<Rt_Dialect, name> {
  let mnemonic = attrMnemonic;
}

#endif
