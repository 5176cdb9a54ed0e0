// Walks an rt module's step: sequences, launches and the layer loop. Barriers
// have nothing to wait for here. Every buffer keeps rows of its own, whatever
// its offset in the arena.

#include "ir/reference/RtPart.h"

#include "ir/rt/KernelTable.h"

using namespace mlir;

namespace quire::reference {

InFlightDiagnostic RtPart::error() {
  return launch.emitError()
         << "\"" << launch.getOrigin() << "\", kernel " << kernel() << ": ";
}

int64_t RtPart::integer(StringRef field) const {
  return cast<IntegerAttr>(part.getArgs().get(field)).getInt();
}

double RtPart::number64(StringRef field) const {
  return cast<FloatAttr>(part.getArgs().get(field)).getValueAsDouble();
}

ArrayRef<float> RtPart::table(StringRef field) const {
  return cast<DenseF32ArrayAttr>(part.getArgs().get(field)).asArrayRef();
}

bool RtPart::isNull(StringRef field) const {
  return isa<UnitAttr>(part.getArgs().get(field));
}

ArrayRef<Attribute> RtPart::list(StringRef field) const {
  return cast<ArrayAttr>(part.getArgs().get(field)).getValue();
}

const Rows *RtPart::read(FlatSymbolRefAttr buffer) {
  auto found = state.buffers.find(buffer.getValue());
  if (found == state.buffers.end()) {
    error() << "reads " << buffer << ", which nothing has written";
    return nullptr;
  }
  return &found->second;
}

const Rows *RtPart::read(StringRef field) {
  return read(cast<FlatSymbolRefAttr>(part.getArgs().get(field)));
}

void RtPart::write(FlatSymbolRefAttr buffer, Rows rows) {
  if (state.probe) {
    state.probe(launch, layerNumber, number, rows);
  }
  state.buffers[buffer.getValue()] = std::move(rows);
}

void RtPart::write(StringRef field, Rows rows) {
  if (!isNull(field)) {
    write(cast<FlatSymbolRefAttr>(part.getArgs().get(field)), std::move(rows));
  }
}

FailureOr<WeightPtr> RtPart::weight(StringRef field) {
  if (isNull(field)) {
    return WeightPtr();
  }
  auto name = cast<FlatSymbolRefAttr>(part.getArgs().get(field));
  auto slot = state.module.lookupSymbol<rt::WeightOp>(name.getValue());
  auto pack = cast<rt::PackOp>(slot.getBody().front().getTerminator());
  return state.weights.evaluate(pack.getValue(), layerNumber);
}

KvCache &RtPart::cache() { return state.groups[integer("group")].cache; }

int64_t RtPart::layerInGroup() {
  const std::vector<int64_t> &layers = state.groups[integer("group")].layers;
  return llvm::find(layers, layerNumber) - layers.begin();
}

/// What a field's argument must be for the accessors above to be safe.
static bool isSound(const rt::KernelField &field, Attribute argument,
                    ModuleOp module) {
  auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(argument);
  switch (field.kind) {
  case rt::FieldKind::Step:
  case rt::FieldKind::Layer:
    return true;
  case rt::FieldKind::Buffer:
    return isa_and_nonnull<UnitAttr>(argument) || symbol;
  case rt::FieldKind::Weight:
    return isa_and_nonnull<UnitAttr>(argument) ||
           (symbol && module.lookupSymbol<rt::WeightOp>(symbol.getValue()));
  case rt::FieldKind::Table:
    return isa_and_nonnull<DenseF32ArrayAttr>(argument);
  case rt::FieldKind::Integer:
  case rt::FieldKind::CacheGroup:
    return isa_and_nonnull<IntegerAttr>(argument);
  case rt::FieldKind::Number:
    return isa_and_nonnull<FloatAttr>(argument);
  case rt::FieldKind::Buffers: {
    auto list = dyn_cast_or_null<ArrayAttr>(argument);
    return list && llvm::all_of(list, llvm::IsaPred<FlatSymbolRefAttr>);
  }
  }
  return false;
}

static LogicalResult checkPart(RtPart &part, rt::PartAttr attribute) {
  const rt::KernelInfo *info = rt::findKernel(attribute.getKernel());
  if (!info) {
    return part.error() << "the reference interpreter does not know it";
  }
  for (const rt::KernelField &field : info->fields) {
    Attribute argument = attribute.getArgs().get(field.name);
    if (!isSound(field, argument, part.state.module)) {
      return part.error() << "argument " << StringRef(field.name)
                          << " is missing or of the wrong kind";
    }
    if (field.kind != rt::FieldKind::CacheGroup) {
      continue;
    }
    int64_t group = part.integer(field.name);
    if (group < 0 || group >= static_cast<int64_t>(part.state.groups.size()) ||
        !llvm::is_contained(part.state.groups[group].layers, part.layer())) {
      return part.error() << "layer " << part.layer()
                          << " is not in cache group " << group;
    }
  }
  return success();
}

static LogicalResult runSequence(Interpreter::State &state,
                                 rt::SequenceOp sequence, int64_t layer);

static LogicalResult runLoop(Interpreter::State &state, rt::LoopOp loop) {
  for (auto [which, layer] :
       llvm::zip_equal(loop.getWhich(), loop.getIndices())) {
    auto name = cast<FlatSymbolRefAttr>(loop.getKinds()[which]);
    auto kind = state.module.lookupSymbol<rt::SequenceOp>(name.getValue());
    if (failed(runSequence(state, kind, layer))) {
      return failure();
    }
  }
  return success();
}

static LogicalResult runSequence(Interpreter::State &state,
                                 rt::SequenceOp sequence, int64_t layer) {
  for (Operation &op : sequence.getBody().front()) {
    if (auto loop = dyn_cast<rt::LoopOp>(op)) {
      if (failed(runLoop(state, loop))) {
        return failure();
      }
    } else if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      for (unsigned i = 0; i < launch.getParts().size(); ++i) {
        RtPart part(state, launch, i, layer);
        if (failed(checkPart(part, cast<rt::PartAttr>(launch.getParts()[i]))) ||
            failed(runPart(part))) {
          return failure();
        }
      }
      if (state.launchProbe) {
        state.launchProbe(launch, layer);
      }
    } else if (!isa<rt::BarrierOp>(op)) {
      return op.emitError()
             << "the reference interpreter does not know " << op.getName();
    }
  }
  return success();
}

FailureOr<Rows> runRtStep(Interpreter::State &state) {
  // Nothing may come from the step before but what the caches hold.
  state.buffers.clear();
  auto entry = state.module.lookupSymbol<rt::SequenceOp>("step");
  if (failed(runSequence(state, entry, -1))) {
    return failure();
  }
  auto logits = state.buffers.find("logits");
  if (logits == state.buffers.end()) {
    state.module.emitError() << "the step wrote nothing to @logits";
    return failure();
  }
  return logits->second;
}

} // namespace quire::reference
