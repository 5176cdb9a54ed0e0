#include "passes/LatentForms.h"

#include "passes/Formats.h"

using namespace mlir;

namespace quire {

StringRef nameOf(LatentForm form) {
  switch (form) {
  case LatentForm::Materialised:
    return "materialised";
  case LatentForm::Factored:
    return "factored";
  case LatentForm::Folded:
    return "folded";
  }
  llvm_unreachable("every form is listed");
}

std::optional<LatentForm> latentFormNamed(StringRef name) {
  for (LatentForm form : kLatentForms) {
    if (nameOf(form) == name) {
      return form;
    }
  }
  return std::nullopt;
}

namespace {

/// A product of every row with a matrix, or of every head with its own of a
/// stack; kernels of stacks work in f32 whatever the format.
LatentLaunch product(lm::WeightType weight) {
  LatentLaunch launch;
  KernelCost &cost = launch.cost;
  cost.fixedBytes = double(packedBytes(weight));
  cost.weights = double(weight.getMatrices()) * double(weight.getRows()) *
                 double(weight.getColumns());
  cost.addsPerRow = cost.weights;
  cost.int8 = !weight.isStack() && activationFormatFor(weight.getFormat()) !=
                                       lm::ActivationFormat::F32;
  return launch;
}

LatentLaunch absorbedAttention(const LatentShape &shape) {
  LatentLaunch launch;
  launch.bytesPerToken = double(shape.cacheBytesPerToken());
  launch.addsPerRowToken =
      double(shape.heads) * double(2 * shape.rank() + shape.rotary);
  return launch;
}

/// The stacks are read once and meet every cached token instead of every row.
LatentLaunch raisedAttention(const LatentShape &shape) {
  LatentLaunch launch = product(shape.keyUp);
  LatentLaunch values = product(shape.valueUp);
  launch.cost.fixedBytes += values.cost.fixedBytes;
  launch.cost.weights += values.cost.weights;
  launch.cost.addsPerRow = 0;
  launch.addsPerToken = launch.cost.weights;
  launch.bytesPerToken = double(shape.cacheBytesPerToken());
  launch.addsPerRowToken =
      double(shape.heads) *
      double(shape.content() + shape.rotary + shape.value());
  return launch;
}

} // namespace

llvm::SmallVector<LatentLaunch> launchesOf(LatentForm form,
                                           const LatentShape &shape) {
  switch (form) {
  case LatentForm::Materialised:
    return {product(shape.query), raisedAttention(shape),
            product(shape.output)};
  case LatentForm::Factored:
    return {product(shape.query), product(shape.keyUp),
            absorbedAttention(shape), product(shape.valueUp),
            product(shape.output)};
  case LatentForm::Folded:
    return {product(shape.foldedKey), absorbedAttention(shape),
            product(shape.foldedValue)};
  }
  llvm_unreachable("every form is listed");
}

FormTotals totalsOf(LatentForm form, const LatentShape &shape) {
  FormTotals totals;
  for (const LatentLaunch &launch : launchesOf(form, shape)) {
    totals.weightValues += launch.cost.weights;
    totals.weightBytes += launch.cost.fixedBytes;
    totals.addsPerRow += launch.cost.addsPerRow;
    totals.addsPerRowToken += launch.addsPerRowToken;
    totals.addsPerToken += launch.addsPerToken;
  }
  return totals;
}

double latentTime(LatentForm form, const LatentShape &shape,
                  const MachineProfile &machine, int64_t rows, int64_t depth) {
  double microseconds = 0;
  for (const LatentLaunch &launch : launchesOf(form, shape)) {
    KernelCost cost = launch.cost;
    double tokens = double(depth);
    cost.fixedBytes += launch.bytesPerToken * tokens;
    cost.addsPerRow += launch.addsPerRowToken * tokens;
    cost.fixedAdds += launch.addsPerToken * tokens;
    microseconds += rankBlocks(cost, machine, rows).front().microseconds;
  }
  return microseconds;
}

} // namespace quire
