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

  /// One row range of the table: the best block and the one after it.
  Attribute entry(int64_t rows, ArrayRef<Prediction> ranked) {
    Builder b(&getContext());
    llvm::SmallVector<NamedAttribute> fields{
        b.getNamedAttr("rows", b.getI64IntegerAttr(rows)),
        b.getNamedAttr("row_block", b.getI64IntegerAttr(ranked[0].rowBlock)),
        b.getNamedAttr("microseconds",
                       b.getF64FloatAttr(ranked[0].microseconds)),
        b.getNamedAttr(
            "bound",
            b.getStringAttr(ranked[0].readBound ? "read" : "multiply"))};
    if (ranked.size() > 1) {
      fields.push_back(
          b.getNamedAttr("runner_up", b.getI64IntegerAttr(ranked[1].rowBlock)));
      fields.push_back(b.getNamedAttr(
          "runner_up_microseconds", b.getF64FloatAttr(ranked[1].microseconds)));
    }
    return b.getDictionaryAttr(fields);
  }

  static std::string describe(int64_t rows, ArrayRef<Prediction> ranked) {
    const Prediction &best = ranked[0];
    std::string text = llvm::formatv(
        "\n  {0,4} rows: in blocks of {1}: {2:F1} us, {3}-bound", rows,
        best.rowBlock, best.microseconds, best.readBound ? "read" : "multiply");
    if (ranked.size() > 1) {
      text += llvm::formatv("; runner-up blocks of {0}: {1:F1} us",
                            ranked[1].rowBlock, ranked[1].microseconds);
    }
    return text;
  }

  void select(Operation *op, const MachineProfile &machine) {
    KernelChoice choice = chooseKernel(op);
    Builder b(&getContext());
    llvm::SmallVector<Attribute> table;
    std::string text = lm::modelName(op) + ": " + choice.kernel;
    for (int64_t rows : kRowCounts) {
      auto ranked = rankBlocks(choice.cost, machine, rows);
      table.push_back(entry(rows, ranked));
      text += describe(rows, ranked);
    }
    op->setAttr("kernel",
                b.getDictionaryAttr(
                    {b.getNamedAttr("name", b.getStringAttr(choice.kernel)),
                     b.getNamedAttr("predicted", b.getArrayAttr(table))}));
    if (choice.cost.weights > 0) {
      explain(getOperation(), getArgument(), text);
    }
  }

  void runOnOperation() override {
    MachineProfile machine{readGbps, int8Gops, f32Gops};
    std::string rates = llvm::formatv(
        "machine: read {0:F0} GB/s, multiply-adds {1:F0} (int8) and {2:F0} "
        "(f32) x 10^9/s",
        readGbps, int8Gops, f32Gops);
    explain(getOperation(), getArgument(), rates);
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
