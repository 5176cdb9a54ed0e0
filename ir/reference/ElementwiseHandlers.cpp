// Runs row-wise arithmetic.

#include "ir/reference/Elementwise.h"
#include "ir/reference/Frame.h"

using namespace mlir;

namespace quire::reference {

static LogicalResult runAdd(Frame &frame, lm::AddOp op) {
  frame.set(op.getOutput(),
            add(frame.rows(op.getLhs()), frame.rows(op.getRhs())));
  return success();
}

static LogicalResult runMul(Frame &frame, lm::MulOp op) {
  frame.set(op.getOutput(),
            mul(frame.rows(op.getLhs()), frame.rows(op.getRhs())));
  return success();
}

static LogicalResult runSigmoidGate(Frame &frame, lm::SigmoidGateOp op) {
  frame.set(op.getOutput(),
            sigmoidGate(frame.rows(op.getInput()), frame.rows(op.getGate())));
  return success();
}

static LogicalResult runScale(Frame &frame, lm::ScaleOp op) {
  frame.set(op.getOutput(),
            scale(frame.rows(op.getInput()), op.getBy().convertToDouble()));
  return success();
}

static LogicalResult runNonlinearity(Frame &frame, lm::NonlinearityOp op) {
  frame.set(op.getOutput(),
            nonlinearity(static_cast<Nonlinearity>(op.getKind()),
                         frame.rows(op.getInput())));
  return success();
}

static LogicalResult runSoftcap(Frame &frame, lm::SoftcapOp op) {
  frame.set(op.getOutput(),
            softcap(frame.rows(op.getInput()), op.getCap().convertToDouble()));
  return success();
}

// The reference's own enum stands in the order of the dialect's.
static_assert(static_cast<int>(lm::Nonlinearity::Silu) ==
              static_cast<int>(Nonlinearity::Silu));
static_assert(static_cast<int>(lm::Nonlinearity::GeluTanh) ==
              static_cast<int>(Nonlinearity::GeluTanh));
static_assert(static_cast<int>(lm::Nonlinearity::Gelu) ==
              static_cast<int>(Nonlinearity::Gelu));

void addElementwiseHandlers(HandlerTable &table) {
  addHandler<lm::AddOp, runAdd>(table);
  addHandler<lm::MulOp, runMul>(table);
  addHandler<lm::SigmoidGateOp, runSigmoidGate>(table);
  addHandler<lm::ScaleOp, runScale>(table);
  addHandler<lm::NonlinearityOp, runNonlinearity>(table);
  addHandler<lm::SoftcapOp, runSoftcap>(table);
}

} // namespace quire::reference
