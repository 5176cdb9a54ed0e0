#include "passes/Explain.h"
#include "passes/Passes.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_SPLITDECOUPLEDROPE
#include "passes/Passes.h.inc"

namespace {

/// Rows that a product makes for every head, or the part of them that a
/// lm.slice_heads takes.
struct HeadProduct {
  lm::LinearOp linear;
  int64_t begin = 0;    // first channel of a head
  int64_t channels = 0; // of a head
};

std::optional<HeadProduct> headProduct(Value rows, int64_t heads) {
  HeadProduct result;
  result.channels = lm::featuresOf(rows.getType()) / heads;
  if (auto slice = rows.getDefiningOp<lm::SliceHeadsOp>()) {
    if (int64_t(slice.getHeads()) != heads) {
      return std::nullopt;
    }
    result.begin = slice.getBegin();
    rows = slice.getInput();
  }
  result.linear = rows.getDefiningOp<lm::LinearOp>();
  return result.linear ? std::optional(result) : std::nullopt;
}

/// The rows of a weight or a bias that make the part.
Value takeRows(OpBuilder &builder, Value weight, const HeadProduct &part,
               int64_t heads, bool stack) {
  auto type = cast<lm::WeightType>(weight.getType());
  llvm::SmallVector<int64_t> shape{heads * part.channels};
  if (stack) {
    shape = {heads, part.channels};
  }
  if (!type.isVector()) {
    shape.push_back(type.getColumns());
  } else if (part.channels * heads == type.getRows()) {
    return weight;
  }
  if (shape == type.getShape()) {
    return weight;
  }
  return lm::TakeRowsOp::create(
      builder, weight.getLoc(),
      lm::WeightType::get(builder.getContext(), shape, type.getFormat()),
      weight, heads, part.begin);
}

/// Attention whose keys and values were raised from one latent.
struct Match {
  lm::AttentionOp attention;
  Value queryContent;
  lm::RopeOp queryRotary;
  lm::RopeOp keyRotary;
  HeadProduct key;
  HeadProduct value;
};

/// Every head its own key and value; key = content of each head ++ one rotary
/// key; content and value are products of the same rows, without biases.
std::optional<Match> match(lm::AttentionOp attention) {
  int64_t heads = attention.getHeads();
  auto query = attention.getQuery().getDefiningOp<lm::ConcatHeadsOp>();
  auto key = attention.getKey().getDefiningOp<lm::ConcatHeadsOp>();
  if (int64_t(attention.getKvHeads()) != heads || attention.getWindow() != 0 ||
      !attention.getSoftcap().isZero() || !query || query.getShared() || !key ||
      !key.getShared()) {
    return std::nullopt;
  }
  auto queryRotary = query.getSecond().getDefiningOp<lm::RopeOp>();
  auto keyRotary = key.getSecond().getDefiningOp<lm::RopeOp>();
  auto content = headProduct(key.getFirst(), heads);
  auto value = headProduct(attention.getValue(), heads);
  if (!queryRotary || !keyRotary || !content || !value ||
      content->linear.getInput() != value->linear.getInput() ||
      content->linear.getBias() || value->linear.getBias() ||
      lm::featuresOf(query.getFirst().getType()) != heads * content->channels ||
      lm::featuresOf(keyRotary.getType()) * heads !=
          lm::featuresOf(queryRotary.getType())) {
    return std::nullopt;
  }
  return Match{attention, query.getFirst(), queryRotary,
               keyRotary, *content,         *value};
}

/// A product of whole heads of which only some channels are read here becomes
/// a product of these channels' rows. Rows of a product do not depend on each
/// other, so no number changes.
Value productOf(OpBuilder &builder, Value rows, int64_t heads) {
  auto part = headProduct(rows, heads);
  if (!part || rows.getDefiningOp<lm::LinearOp>()) {
    return rows;
  }
  lm::LinearOp linear = part->linear;
  builder.setInsertionPoint(rows.getDefiningOp());
  Value weight =
      takeRows(builder, linear.getWeight(), *part, heads, /*stack=*/false);
  Value bias = linear.getBias();
  if (bias) {
    bias = takeRows(builder, bias, *part, heads, /*stack=*/false);
  }
  return lm::LinearOp::create(builder, rows.getLoc(), rows.getType(),
                              linear.getInput(), weight, bias);
}

/// Erases what is read no more: slices, and the products they were cut from.
void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
    }
  }
}

void rewrite(Match found) {
  lm::AttentionOp attention = found.attention;
  int64_t heads = attention.getHeads();
  OpBuilder builder(attention);
  Value content = productOf(builder, found.queryContent, heads);
  lm::RopeOp rotary = found.queryRotary;
  rotary.getInputMutable().set(productOf(builder, rotary.getInput(), heads));

  builder.setInsertionPoint(attention);
  Value keyUp = takeRows(builder, found.key.linear.getWeight(), found.key,
                         heads, /*stack=*/true);
  Value valueUp = takeRows(builder, found.value.linear.getWeight(), found.value,
                           heads, /*stack=*/true);
  auto latent = lm::LatentAttentionOp::create(
      builder, attention.getLoc(), attention.getType(), content,
      rotary.getOutput(), found.key.linear.getInput(),
      found.keyRotary.getOutput(), attention.getBatch(), keyUp, valueUp,
      /*rows=*/lm::RowFormAttr(), attention.getHeadsAttr(),
      attention.getScaleAttr());
  attention.replaceAllUsesWith(latent.getOutput());
  eraseDead(*attention->getBlock());
}

struct SplitDecoupledRope : impl::SplitDecoupledRopeBase<SplitDecoupledRope> {
  void runOnOperation() override {
    llvm::SmallVector<Match> matches;
    getOperation().walk([&](lm::AttentionOp attention) {
      if (auto found = match(attention)) {
        matches.push_back(*found);
      }
    });
    for (const Match &found : matches) {
      rewrite(found);
    }
    explain(getOperation(), getArgument(),
            counted(matches.size(), "attention") +
                " of latents, content and rotary channels apart");
  }
};

} // namespace
} // namespace quire
