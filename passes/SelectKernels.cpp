#include "passes/CostModel.h"
#include "passes/Explain.h"
#include "passes/LowerOps.h"
#include "passes/Passes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_SELECTKERNELS
#include "passes/Passes.h.inc"

namespace {

/// Row counts that the printed predictions are for: one decoded token, a few
/// sequences together, a prompt chunk.
constexpr int64_t kRowCounts[] = {1, 8, 512};

struct SelectKernels : impl::SelectKernelsBase<SelectKernels> {
  using SelectKernelsBase::SelectKernelsBase;

  void select(Operation *op, const MachineProfile &machine) {
    KernelChoice choice = chooseKernel(op);
    Builder b(&getContext());
    llvm::SmallVector<Attribute> table;
    std::string line =
        llvm::formatv("{0}: {1}", lm::modelName(op), choice.kernel);
    for (int64_t rows : kRowCounts) {
      double us = choice.cost.microseconds(machine, rows);
      bool read = choice.cost.readBound(machine, rows);
      table.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("rows", b.getI64IntegerAttr(rows)),
           b.getNamedAttr("microseconds", b.getF64FloatAttr(us)),
           b.getNamedAttr("bound",
                          b.getStringAttr(read ? "read" : "multiply"))}));
      line += llvm::formatv(", {0} row(s) {1:F1} us ({2})", rows, us,
                            read ? "read" : "multiply");
    }
    op->setAttr("kernel",
                b.getDictionaryAttr(
                    {b.getNamedAttr("name", b.getStringAttr(choice.kernel)),
                     b.getNamedAttr("predicted", b.getArrayAttr(table))}));
    if (choice.cost.addsPerRow > 0) {
      explain(getOperation(), getArgument(), line);
    }
  }

  void runOnOperation() override {
    MachineProfile machine{readGbps, int8Gops, f32Gops};
    getOperation().walk([&](Operation *op) {
      bool model = isa_and_nonnull<lm::LmDialect>(op->getDialect());
      bool frame = isa<lm::ParamOp, lm::CacheGroupOp, lm::LayersOp>(op);
      if (model && !frame && hasLaunch(op)) {
        select(op, machine);
      }
    });
  }
};

} // namespace
} // namespace quire
