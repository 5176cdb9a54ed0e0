#include "passes/CostModel.h"

#include "passes/Formats.h"
#include "passes/RowwiseGroups.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

using namespace mlir;

namespace quire {

// Unpacking a block-format value takes about a third of the port slots of the
// multiply-add that uses it.
static constexpr double kUnpackShare = 0.33;
// Rows of activations stay in the caches; the weights stream from memory.
static constexpr double kCachedShare = 0.1;

Prediction predict(const KernelCost &cost, const MachineProfile &machine,
                   int64_t rows, int64_t rowBlock) {
  double blocks = double(llvm::divideCeil(rows, rowBlock));
  double unpack = cost.int8 ? kUnpackShare * cost.weights * blocks : 0;
  double rate = (cost.int8 ? machine.int8Gops : machine.f32Gops) * 1e9;
  double adds =
      (cost.fixedAdds + cost.addsPerRow * double(rows) + unpack) / rate;
  // Rows that choose evenly touch this part of the experts.
  double touched = 1 - std::pow(1 - cost.shareOfRow, double(rows));
  double read = (cost.fixedBytes + cost.expertBytes * touched +
                 cost.bytesPerRow * double(rows) * kCachedShare) /
                (machine.readGbps * 1e9);
  return {rowBlock, 1e6 * std::max(adds, read), read >= adds};
}

llvm::SmallVector<Prediction> rankBlocks(const KernelCost &cost,
                                         const MachineProfile &machine,
                                         int64_t rows) {
  if (cost.weights == 0) {
    return {predict(cost, machine, rows, 1)};
  }
  llvm::SmallVector<Prediction> ranked;
  for (int64_t block : kRowBlocks) {
    if (block <= rows || block == 1) {
      ranked.push_back(predict(cost, machine, rows, block));
    }
  }
  // Larger blocks come first where the read stream makes them equal.
  llvm::sort(ranked, [](const Prediction &a, const Prediction &b) {
    return std::tuple(a.microseconds, -a.rowBlock) <
           std::tuple(b.microseconds, -b.rowBlock);
  });
  return ranked;
}

static KernelCost rowTraffic(Operation *op) {
  KernelCost cost;
  auto add = [&](Type type) {
    if (lm::isRowsType(type) || isa<lm::ActivationType>(type)) {
      cost.bytesPerRow += double(bufferBytes(type, 64)) / 64;
    }
  };
  llvm::for_each(op->getOperandTypes(), add);
  llvm::for_each(op->getResultTypes(), add);
  return cost;
}

static KernelCost productCost(Operation *op) {
  KernelCost cost = rowTraffic(op);
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<lm::WeightType>(operand.getType());
    if (type && !type.isVector()) {
      cost.fixedBytes += double(packedBytes(type));
      double values = double(type.getRows()) * double(type.getColumns());
      cost.addsPerRow += values;
      cost.weights += values;
      cost.int8 =
          activationFormatFor(type.getFormat()) != lm::ActivationFormat::F32;
    }
  }
  return cost;
}

/// Products of pairs with their experts' matrices: a row meets `top` of them.
/// What the experts touched more than once save in unpacking is left out.
static KernelCost expertCost(Operation *op, lm::GroupsType groups) {
  KernelCost cost = productCost(op);
  cost.expertBytes = std::exchange(cost.fixedBytes, 0);
  cost.shareOfRow = double(groups.getTop()) / double(groups.getExperts());
  cost.addsPerRow *= double(groups.getTop());
  cost.weights *= double(groups.getTop());
  return cost;
}

/// Every row meets each cached token once per query head; the cache is read
/// once for all of them.
static KernelCost attentionCost(lm::PagedAttentionOp op) {
  KernelCost cost = rowTraffic(op);
  lm::KvType cache = op.getCache().getType();
  int64_t tokens = cache.getWindow() > 0
                       ? std::min(cache.getWindow(), kPredictedDepth)
                       : kPredictedDepth;
  double values = double(cache.getKey() + cache.getValue()) * double(tokens);
  cost.fixedBytes = double(cache.getHeads()) * values *
                    (cache.getFormat() == lm::NumberFormat::F32 ? 4.0 : 2.0);
  cost.addsPerRow = double(op.getHeads()) * values;
  return cost;
}

/// Latents and rotary keys are read once for all heads; keys and values that
/// are raised cost their products for every cached token, whatever the rows.
static KernelCost latentCost(lm::PagedLatentAttentionOp op) {
  KernelCost cost = rowTraffic(op);
  lm::KvType cache = op.getCache().getType();
  double tokens = double(kPredictedDepth);
  double heads = double(op.getHeads());
  cost.fixedBytes = double(cache.getTokenValues()) * tokens *
                    (cache.getFormat() == lm::NumberFormat::F32 ? 4.0 : 2.0);
  double channels = double(2 * cache.getKey() + cache.getValue());
  if (op.isRaised()) {
    auto keyUp = cast<lm::WeightType>(op.getKeyUp().getType());
    auto valueUp = cast<lm::WeightType>(op.getValueUp().getType());
    cost.fixedBytes += double(packedBytes(keyUp) + packedBytes(valueUp));
    double raised = double(keyUp.getRows() + valueUp.getRows());
    channels = raised + double(cache.getValue());
    cost.fixedAdds = heads * raised * double(cache.getKey()) * tokens;
  }
  cost.addsPerRow = heads * channels * tokens;
  return cost;
}

/// "linear_q8_0": kernels are named after what they read.
template <typename T>
static std::string withFormat(llvm::StringRef kernel, T type) {
  return (kernel + "_" + lm::stringifyNumberFormat(type.getFormat())).str();
}

KernelChoice chooseKernel(Operation *op) {
  return llvm::TypeSwitch<Operation *, KernelChoice>(op)
      .Case([](lm::LinearOp o) {
        return KernelChoice{withFormat("linear", o.getWeight().getType()),
                            productCost(o)};
      })
      .Case([](lm::FusedLinearOp o) {
        return KernelChoice{"linear segments", productCost(o)};
      })
      .Case([](lm::GatedLinearOp o) {
        return KernelChoice{withFormat("gated_linear", o.getGate().getType()),
                            productCost(o)};
      })
      .Case([](lm::EmbedOp o) {
        return KernelChoice{withFormat("embed", o.getWeight().getType()),
                            rowTraffic(o)};
      })
      .Case<lm::RmsNormOp, lm::AddRmsNormOp>(
          [](Operation *o) { return KernelChoice{"rms_norm", rowTraffic(o)}; })
      .Case([](lm::QuantizeActivationOp o) {
        return KernelChoice{"quantize", rowTraffic(o)};
      })
      .Case([](lm::SelectLogitRowsOp o) {
        return KernelChoice{"gather_logit_rows", rowTraffic(o)};
      })
      .Case([](lm::KvAppendOp o) {
        return KernelChoice{withFormat("kv_append", o.getCache().getType()),
                            rowTraffic(o)};
      })
      .Case([](lm::PagedAttentionOp o) {
        return KernelChoice{withFormat("attention", o.getCache().getType()),
                            attentionCost(o)};
      })
      .Case([](lm::HeadLinearOp o) {
        KernelChoice choice{
            withFormat(o.getTransposed() ? "head_linear_t" : "head_linear",
                       o.getWeight().getType()),
            productCost(o)};
        choice.cost.addsPerRow *= double(o.getWeight().getType().getMatrices());
        choice.cost.weights = choice.cost.addsPerRow;
        choice.cost.int8 = false;
        return choice;
      })
      .Case([](lm::PagedLatentAttentionOp o) {
        lm::KvType cache = o.getCache().getType();
        return KernelChoice{
            o.isRaised()
                ? withFormat("materialised_attention",
                             cast<lm::WeightType>(o.getKeyUp().getType()))
                : withFormat("latent_attention", cache),
            latentCost(o)};
      })
      .Case([](lm::ExpertLinearOp o) {
        return KernelChoice{
            withFormat("expert_linear", o.getWeight().getType()),
            expertCost(o, o.getGroups().getType())};
      })
      .Case([](lm::ExpertGatedLinearOp o) {
        return KernelChoice{
            withFormat("expert_gated_linear", o.getGate().getType()),
            expertCost(o, o.getGroups().getType())};
      })
      .Default([](Operation *o) {
        if (isRowwise(o)) {
          return KernelChoice{"fused", rowTraffic(o)};
        }
        return KernelChoice{o->getName().stripDialect().str(), rowTraffic(o)};
      });
}

} // namespace quire
