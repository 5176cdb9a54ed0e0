#include "passes/Explain.h"
#include "passes/Formats.h"
#include "passes/Passes.h"

#include <map>

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_FUSEQUANTIZATION
#include "passes/Passes.h.inc"

namespace {

/// The activation format that all weights of a product read, or nothing if
/// they differ.
std::optional<lm::ActivationFormat> wantedFormat(Operation *op) {
  std::optional<lm::ActivationFormat> wanted;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<lm::WeightType>(operand.getType());
    if (!type || type.isVector()) {
      continue;
    }
    lm::ActivationFormat format = activationFormatFor(type.getFormat());
    if (wanted && *wanted != format) {
      return std::nullopt;
    }
    wanted = format;
  }
  return wanted;
}

llvm::SmallVector<Type> weightTypes(Operation *op) {
  return llvm::filter_to_vector(op->getOperandTypes(),
                                llvm::IsaPred<lm::WeightType>);
}

/// Rounded rows by what they were and the format, each made once.
class Roundings {
public:
  Value of(Value input, lm::ActivationFormat format) {
    Value &shared = known[{input.getAsOpaquePointer(), int(format)}];
    if (!shared) {
      OpBuilder builder(input.getContext());
      builder.setInsertionPointAfterValue(input);
      shared = create(builder, input, format);
    }
    return shared;
  }
  int64_t count() const { return made; }

private:
  Value create(OpBuilder &builder, Value input, lm::ActivationFormat format) {
    // Rounding before the dispatch serves all of a row's pairs.
    if (auto dispatch = input.getDefiningOp<lm::DispatchOp>()) {
      return lm::DispatchOp::create(builder, input.getLoc(),
                                    of(dispatch.getInput(), format),
                                    dispatch.getGroups());
    }
    ++made;
    auto type = lm::ActivationType::get(
        input.getContext(), lm::featuresOf(input.getType()), format);
    return lm::QuantizeActivationOp::create(builder, input.getLoc(), type,
                                            input);
  }

  std::map<std::pair<void *, int>, Value> known;
  int64_t made = 0;
};

/// Splits a fused product whose weights want different inputs into single
/// ones: segments of a launch share one input.
void splitByFormat(lm::FusedLinearOp fused) {
  OpBuilder builder(fused);
  auto bias = fused.getBiases().begin();
  for (auto [i, weight] : llvm::enumerate(fused.getWeights())) {
    Value own = fused.getHasBias()[i] ? *bias++ : Value();
    auto linear = lm::LinearOp::create(builder, weight.getLoc(),
                                       fused.getOutputs()[i].getType(),
                                       fused.getInput(), weight, own);
    fused.getOutputs()[i].replaceAllUsesWith(linear.getOutput());
  }
  fused.erase();
}

struct FuseQuantization : impl::FuseQuantizationBase<FuseQuantization> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::SmallVector<lm::FusedLinearOp> mixed;
    module.walk([&](lm::FusedLinearOp fused) {
      if (!wantedFormat(fused)) {
        mixed.push_back(fused);
      }
    });
    llvm::for_each(mixed, splitByFormat);
    WalkResult gated = module.walk([](Operation *op) {
      if (!isa<lm::GatedLinearOp, lm::ExpertGatedLinearOp>(op) ||
          llvm::all_equal(weightTypes(op))) {
        return WalkResult::advance();
      }
      op->emitError("has weights of two number formats; one kernel reads both, "
                    "so they must agree");
      return WalkResult::interrupt();
    });
    if (gated.wasInterrupted()) {
      return signalPassFailure();
    }

    Roundings roundings;
    int64_t readers = 0;
    module.walk([&](Operation *op) {
      if (!isa<lm::LinearOp, lm::FusedLinearOp, lm::GatedLinearOp,
               lm::ExpertLinearOp, lm::ExpertGatedLinearOp>(op)) {
        return;
      }
      lm::ActivationFormat format = *wantedFormat(op);
      Value input = op->getOperand(0);
      if (format == lm::ActivationFormat::F32 ||
          !lm::isRowsType(input.getType())) {
        return;
      }
      op->setOperand(0, roundings.of(input, format));
      ++readers;
    });
    module.walk([](lm::DispatchOp dispatch) {
      if (dispatch.use_empty()) {
        dispatch.erase(); // of rows that only rounded products read
      }
    });
    explain(module, getArgument(),
            counted(roundings.count(), "rounding") + " for " +
                counted(readers, "product"));
  }
};

} // namespace
} // namespace quire
