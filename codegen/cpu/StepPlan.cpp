#include "codegen/cpu/StepPlan.h"

#include "codegen/cpu/PartCheck.h"

namespace quire {

using namespace mlir;

static std::string launchName(rt::SequenceOp sequence, rt::LaunchOp launch) {
  std::string origin = launch.getOrigin().str();
  StringRef name = sequence.getSymName();
  return name == kStepSequence ? origin : (name + "." + origin).str();
}

LogicalResult StepPlan::addSequence(SymbolTable &symbols,
                                    rt::SequenceOp sequence) {
  PlannedSequence planned{sequence, {}};
  for (rt::LaunchOp launch : sequence.getBody().getOps<rt::LaunchOp>()) {
    if (launch.getParts().empty()) {
      return launch.emitError("has no parts");
    }
    for (Attribute attribute : launch.getParts()) {
      auto part = dyn_cast<rt::PartAttr>(attribute);
      if (!part) {
        return launch.emitError("holds a part that is no #rt.part");
      }
      if (failed(checkPart(launch, part, symbols))) {
        return failure();
      }
      for (FlatSymbolRefAttr slot : weightSlotsOf(part)) {
        planned.slots.insert(slot.getAttr());
      }
    }
    numbers[launch] = static_cast<int32_t>(allLaunches.size());
    allLaunches.push_back({launch, launchName(sequence, launch)});
  }
  allSequences.push_back(std::move(planned));
  return success();
}

FailureOr<StepPlan> StepPlan::build(ModuleOp module) {
  StepPlan plan;
  SymbolTable symbols(module);
  for (rt::BufferOp buffer : module.getOps<rt::BufferOp>()) {
    if (!buffer.getOffset() && buffer.getSymName() != kLogitsBuffer) {
      return buffer.emitError("buffer @")
             << buffer.getSymName()
             << " has no place in the arena; plan-memory gives it one";
    }
  }
  for (rt::SequenceOp sequence : module.getOps<rt::SequenceOp>()) {
    if (failed(plan.addSequence(symbols, sequence))) {
      return failure();
    }
  }
  if (plan.find(kStepSequence) == nullptr) {
    return module.emitError("has no rt.sequence named '")
           << kStepSequence << "', the step's entry";
  }
  return plan;
}

const PlannedSequence *StepPlan::find(StringRef name) const {
  auto found = llvm::find_if(allSequences, [&](const PlannedSequence &planned) {
    auto sequence = planned.op;
    return sequence.getSymName() == name;
  });
  return found == allSequences.end() ? nullptr : &*found;
}

} // namespace quire
