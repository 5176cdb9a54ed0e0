// Small steps of building LLVM IR that the emitters share.

#ifndef QUIRE_CODEGEN_CPU_IRBUILDING_H
#define QUIRE_CODEGEN_CPU_IRBUILDING_H

#include "ir/rt/Rt.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace quire {

/// x86-64 as clang lays data out; known before a target machine is.
inline constexpr llvm::StringLiteral kDataLayout =
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:"
    "64-S128";

inline llvm::Function *createInternalFunction(llvm::Module &module,
                                              llvm::Type *result,
                                              llvm::ArrayRef<llvm::Type *> args,
                                              const llvm::Twine &name) {
  llvm::Function *function = llvm::Function::Create(
      llvm::FunctionType::get(result, args, /*isVarArg=*/false),
      llvm::GlobalValue::InternalLinkage, name, module);
  function->setDoesNotThrow();
  return function;
}

inline llvm::GlobalVariable *createConstant(llvm::Module &module,
                                            llvm::Constant *value,
                                            const llvm::Twine &name) {
  auto *global =
      new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, value, name);
  global->setAlignment(llvm::Align(64));
  return global;
}

/// `base` itself for 0, so that the printed IR stays short.
inline llvm::Value *byteOffset(llvm::IRBuilder<> &builder, llvm::Value *base,
                               int64_t offset) {
  return offset == 0
             ? base
             : builder.CreateInBoundsPtrAdd(base, builder.getInt64(offset));
}

inline llvm::Value *loadField(llvm::IRBuilder<> &builder, llvm::Type *type,
                              llvm::Value *base, int64_t offset,
                              const llvm::Twine &name) {
  return builder.CreateLoad(type, byteOffset(builder, base, offset), name);
}

/// A number of a part that StepPlan has checked.
inline int64_t integerArgument(rt::PartAttr part, llvm::StringRef name) {
  return mlir::cast<mlir::IntegerAttr>(part.getArgs().get(name)).getInt();
}

} // namespace quire

#endif
