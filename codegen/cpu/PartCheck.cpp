#include "codegen/cpu/PartCheck.h"

#include "ir/lm/Lm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quire {

using namespace mlir;
using rt::FieldKind;

static bool refersTo(Attribute attribute, TypeID kind, SymbolTable &symbols) {
  auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute);
  Operation *op = symbol ? symbols.lookup(symbol.getAttr()) : nullptr;
  return op != nullptr && op->getName().getTypeID() == kind;
}

static bool isIntegerArgument(Attribute attribute) {
  auto integer = dyn_cast<IntegerAttr>(attribute);
  return integer && integer.getType().isSignlessInteger(64);
}

/// What the field's argument must be, or empty when `argument` is that.
static StringRef wanted(FieldKind kind, Attribute argument,
                        SymbolTable &symbols) {
  auto isBuffer = [&](Attribute attribute) {
    return refersTo(attribute, TypeID::get<rt::BufferOp>(), symbols);
  };
  switch (kind) {
  case FieldKind::Step:
  case FieldKind::Layer:
    return {};
  case FieldKind::Buffer:
    return isa<UnitAttr>(argument) || isBuffer(argument)
               ? ""
               : "the symbol of an rt.buffer or unit";
  case FieldKind::Weight:
    return isa<UnitAttr>(argument) ||
                   refersTo(argument, TypeID::get<rt::WeightOp>(), symbols)
               ? ""
               : "the symbol of an rt.weight or unit";
  case FieldKind::Table:
    return isa<DenseF32ArrayAttr>(argument) ? "" : "an array<f32: ...>";
  case FieldKind::Integer:
  case FieldKind::CacheGroup:
    return isIntegerArgument(argument) ? "" : "an i64";
  case FieldKind::Number: {
    auto number = dyn_cast<FloatAttr>(argument);
    return number && number.getType().isF64() ? "" : "an f64";
  }
  case FieldKind::Buffers: {
    auto list = dyn_cast<ArrayAttr>(argument);
    return list && llvm::all_of(list, isBuffer)
               ? ""
               : "an array of symbols of rt.buffers";
  }
  }
  return "a known kind of field";
}

static LogicalResult checkArguments(rt::LaunchOp launch, rt::PartAttr part,
                                    const rt::KernelInfo &info,
                                    SymbolTable &symbols) {
  for (const rt::KernelField &field : info.fields) {
    if (field.kind == FieldKind::Step || field.kind == FieldKind::Layer) {
      continue;
    }
    Attribute argument = part.getArgs().get(field.name);
    if (!argument) {
      return launch.emitError("part '")
             << part.getKernel() << "' lacks its argument '"
             << StringRef(field.name) << "'";
    }
    StringRef expected = wanted(field.kind, argument, symbols);
    if (!expected.empty()) {
      return launch.emitError("argument '")
             << StringRef(field.name) << "' of part '" << part.getKernel()
             << "' must be " << expected << ", not " << argument;
    }
  }
  return success();
}

/// Bytes of the arena that a buffer takes, empty for the one outside of it.
static std::pair<int64_t, int64_t> placeOf(rt::BufferOp buffer) {
  if (!buffer.getOffset()) {
    return {0, 0};
  }
  auto begin = static_cast<int64_t>(*buffer.getOffset());
  return {begin, begin + static_cast<int64_t>(buffer.getRows() *
                                              buffer.getRowBytes())};
}

static bool overlap(rt::BufferOp a, rt::BufferOp b) {
  auto [aBegin, aEnd] = placeOf(a);
  auto [bBegin, bEnd] = placeOf(b);
  return a == b || (aBegin < bEnd && bBegin < aEnd);
}

/// A generated function's buffers are as wide as its tensors, and its results
/// overlap nothing: its loops are compiled with that knowledge.
static LogicalResult checkGenerated(rt::LaunchOp launch, rt::PartAttr part,
                                    SymbolTable &symbols) {
  auto function = symbols.lookup<func::FuncOp>(part.getKernel());
  if (!function) {
    return launch.emitError("the module has no function @") << part.getKernel();
  }
  auto buffersOf = [&](StringRef field) {
    return llvm::map_to_vector(cast<ArrayAttr>(part.getArgs().get(field)),
                               [&](Attribute symbol) {
                                 return symbols.lookup<rt::BufferOp>(
                                     cast<FlatSymbolRefAttr>(symbol).getAttr());
                               });
  };
  SmallVector<rt::BufferOp> all = buffersOf("inputs");
  size_t inputs = all.size();
  llvm::append_range(all, buffersOf("outputs"));
  SmallVector<Type> types(function.getArgumentTypes());
  llvm::append_range(types, function.getResultTypes());
  if (inputs != function.getNumArguments() || all.size() != types.size()) {
    return launch.emitError("part '")
           << part.getKernel() << "' has other buffers than @"
           << part.getKernel() << " has arguments and results";
  }
  for (auto [buffer, type] : llvm::zip_equal(all, types)) {
    if (!lm::isRowsType(type) ||
        static_cast<int64_t>(buffer.getRowBytes()) !=
            lm::featuresOf(type) * static_cast<int64_t>(sizeof(float))) {
      return launch.emitError("buffer @")
             << buffer.getSymName() << " does not hold rows of " << type;
    }
  }
  for (size_t out = inputs; out < all.size(); ++out) {
    for (size_t other = 0; other < out; ++other) {
      if (overlap(all[out], all[other])) {
        return launch.emitError("result buffer @")
               << all[out].getSymName() << " of part '" << part.getKernel()
               << "' overlaps @" << all[other].getSymName();
      }
    }
  }
  if (cast<IntegerAttr>(part.getArgs().get("tileRows")).getInt() < 1) {
    return launch.emitError("part '")
           << part.getKernel() << "' needs tileRows of at least 1";
  }
  return success();
}

LogicalResult checkPart(rt::LaunchOp launch, rt::PartAttr part,
                        SymbolTable &symbols) {
  StringRef kernel = part.getKernel();
  const rt::KernelInfo *info = rt::findKernel(kernel);
  if (info == nullptr) {
    return launch.emitError("there is no kernel '") << kernel << "'";
  }
  for (NamedAttribute argument : part.getArgs()) {
    if (info->field(argument.getName().strref()) == nullptr) {
      return launch.emitError("kernel '") << kernel << "' has no argument '"
                                          << argument.getName().strref() << "'";
    }
  }
  if (failed(checkArguments(launch, part, *info, symbols))) {
    return failure();
  }
  return rt::isGeneratedKernel(kernel) ? checkGenerated(launch, part, symbols)
                                       : success();
}

SmallVector<FlatSymbolRefAttr, 2> weightSlotsOf(rt::PartAttr part) {
  SmallVector<FlatSymbolRefAttr, 2> slots;
  for (const rt::KernelField &field :
       rt::findKernel(part.getKernel())->fields) {
    if (field.kind == FieldKind::Weight) {
      if (auto slot =
              dyn_cast<FlatSymbolRefAttr>(part.getArgs().get(field.name))) {
        slots.push_back(slot);
      }
    }
  }
  return slots;
}

} // namespace quire
