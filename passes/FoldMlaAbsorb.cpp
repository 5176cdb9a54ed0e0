#include "passes/Explain.h"
#include "passes/Formats.h"
#include "passes/LatentForms.h"
#include "passes/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace quire {
#define GEN_PASS_DEF_FOLDMLAABSORB
#include "passes/Passes.h.inc"

namespace {

/// One latent attention and the products around it.
struct Site {
  lm::LatentAttentionOp attention;
  lm::LinearOp query;  // of the content channels; null: no product
  lm::LinearOp output; // the only reader; null: others read it
  LatentShape shape;   // meaningful where both products are there
};

/// The form of blocks of a prompt and of all other rows.
struct Choice {
  LatentForm prompt;
  LatentForm others;
};

/// Why no folded weight can be made here; empty where it can.
std::string foldingRefused(Site site, StringRef quantize) {
  if (!site.query || site.query.getBias()) {
    return "the query's content is no product without a bias";
  }
  if (!site.output) {
    return "the attention's result goes into more than one product";
  }
  if (quantize == "keep") {
    return "folded weights are new numbers, which keep cannot store; choose "
           "another --quantize";
  }
  return "";
}

lm::WeightType foldedType(ArrayRef<int64_t> shape, StringRef quantize,
                          MLIRContext *context) {
  auto f32 = lm::WeightType::get(context, shape, lm::NumberFormat::F32);
  return lm::WeightType::get(context, shape, foldedFormatUnder(quantize, f32));
}

lm::WeightType stored(Value weight, StringRef quantize) {
  auto type = cast<lm::WeightType>(weight.getType());
  return lm::WeightType::get(type.getContext(), type.getShape(),
                             formatUnder(quantize, type, false));
}

// ---- Rewriting ---------------------------------------------------------

/// The model's name of an op and what this is of it: "attn_latent".
Location named(Operation *op, StringRef suffix) {
  return NameLoc::get(
      StringAttr::get(op->getContext(), lm::modelName(op) + "_" + suffix));
}

Value select(OpBuilder &builder, lm::RowFormAttr form, Value rows,
             Value batch) {
  if (!form) {
    return rows;
  }
  StringRef suffix = lm::stringifyRowForm(form.getValue());
  Operation *maker = rows.getDefiningOp();
  Location loc = maker ? named(maker, suffix) : rows.getLoc();
  return lm::SelectFormOp::create(builder, loc, rows.getType(), form.getValue(),
                                  rows, batch);
}

/// Writes one form of an attention behind it. `form` says which rows it is
/// for; null: all.
class FormWriter {
public:
  FormWriter(OpBuilder &builder, const Site &site, lm::RowFormAttr form)
      : builder(builder), site(site), form(form), attention(site.attention) {}

  /// What takes the place of the attention's result.
  Value materialised() {
    Value content = select(builder, form, attention.getQuery(), batch());
    return attend(content, attention.getType(), attention.getKeyUp(),
                  attention.getValueUp());
  }

  Value factored() {
    Value content = select(builder, form, attention.getQuery(), batch());
    Value query = lm::HeadLinearOp::create(
        builder, named(attention, "key_up"), latentRows(), content,
        attention.getKeyUp(), builder.getUnitAttr());
    Value latents = attend(query, latentRows(), Value(), Value());
    return lm::HeadLinearOp::create(builder, named(attention, "value_up"),
                                    attention.getType(), latents,
                                    attention.getValueUp(), UnitAttr());
  }

  /// What takes the place of the output product's result.
  Value folded() {
    lm::LinearOp queryProduct = site.query;
    lm::LinearOp output = site.output;
    Value input = select(builder, form, queryProduct.getInput(), batch());
    Value key = lm::FoldKeyOp::create(
        builder, queryProduct.getLoc(), f32(site.shape.foldedKey),
        headsOf(queryProduct.getWeight()), attention.getKeyUp());
    Value query = lm::LinearOp::create(builder, queryProduct.getLoc(),
                                       latentRows(), input, key, Value());
    Value latents = attend(query, latentRows(), Value(), Value());
    Value value = lm::FoldValueOp::create(
        builder, output.getLoc(), f32(site.shape.foldedValue),
        output.getWeight(), attention.getValueUp());
    return lm::LinearOp::create(builder, output.getLoc(), output.getType(),
                                latents, value, output.getBias());
  }

private:
  Value batch() { return attention.getBatch(); }
  int64_t heads() { return attention.getHeads(); }

  Type latentRows() {
    return lm::rowsType(builder.getContext(),
                        heads() *
                            lm::featuresOf(attention.getLatent().getType()));
  }

  static lm::WeightType f32(lm::WeightType type) {
    return lm::WeightType::get(type.getContext(), type.getShape(),
                               lm::NumberFormat::F32);
  }

  /// A matrix [heads * rows, inputs] as a stack.
  Value headsOf(Value weight) {
    auto type = cast<lm::WeightType>(weight.getType());
    auto stack = lm::WeightType::get(
        builder.getContext(),
        {heads(), type.getRows() / heads(), type.getColumns()},
        type.getFormat());
    if (auto taken = weight.getDefiningOp<lm::TakeRowsOp>()) {
      return lm::TakeRowsOp::create(builder, weight.getLoc(), stack,
                                    taken.getInput(), heads(),
                                    taken.getBegin());
    }
    return lm::TakeRowsOp::create(builder, weight.getLoc(), stack, weight,
                                  heads(), 0);
  }

  Value attend(Value query, Type output, Value keyUp, Value valueUp) {
    Location loc = form
                       ? named(attention, lm::stringifyRowForm(form.getValue()))
                       : attention.getLoc();
    return lm::LatentAttentionOp::create(
        builder, loc, output, query,
        select(builder, form, attention.getQueryRotary(), batch()),
        attention.getLatent(), attention.getKeyRotary(), batch(), keyUp,
        valueUp, form, attention.getHeadsAttr(), attention.getScaleAttr());
  }

  OpBuilder &builder;
  const Site &site;
  lm::RowFormAttr form;
  lm::LatentAttentionOp attention;
};

/// All rows in one form.
void rewriteAlone(const Site &site, LatentForm form) {
  lm::LatentAttentionOp attention = site.attention;
  OpBuilder builder(attention->getContext());
  switch (form) {
  case LatentForm::Materialised:
    return; // it is this already
  case LatentForm::Factored:
    builder.setInsertionPointAfter(attention);
    attention.replaceAllUsesWith(FormWriter(builder, site, {}).factored());
    attention.erase();
    return;
  case LatentForm::Folded:
    lm::LinearOp output = site.output;
    builder.setInsertionPointAfter(output);
    output.replaceAllUsesWith(FormWriter(builder, site, {}).folded());
    output.erase();
    attention.erase();
    lm::LinearOp query = site.query;
    if (isOpTriviallyDead(query)) {
      query.erase();
    }
    return;
  }
}

/// Blocks of a prompt materialised, all other rows in `others`.
void rewriteApart(const Site &site, LatentForm others) {
  lm::LatentAttentionOp attention = site.attention;
  lm::LinearOp output = site.output;
  Value batch = attention.getBatch();
  MLIRContext *context = attention->getContext();
  auto formAttr = [&](lm::RowForm form) {
    return lm::RowFormAttr::get(context, form);
  };
  OpBuilder builder(context);
  bool folded = others == LatentForm::Folded;
  Operation *last = folded ? output.getOperation() : attention.getOperation();
  builder.setInsertionPointAfter(last);
  Value prompt = FormWriter(builder, site, formAttr(lm::RowForm::Materialised))
                     .materialised();
  FormWriter writer(builder, site, formAttr(lm::RowForm::Latent));
  Value rest = folded ? writer.folded() : writer.factored();
  if (folded) {
    prompt = lm::LinearOp::create(builder, output.getLoc(), output.getType(),
                                  prompt, output.getWeight(), output.getBias());
  }
  Value merged = lm::MergeFormsOp::create(
      builder, last->getLoc(), prompt.getType(), prompt, rest, batch);
  last->getResult(0).replaceAllUsesWith(merged);
  last->erase();
  if (folded) {
    attention.erase();
  }
}

// ---- The pass ----------------------------------------------------------

struct FoldMlaAbsorb : impl::FoldMlaAbsorbBase<FoldMlaAbsorb> {
  using FoldMlaAbsorbBase::FoldMlaAbsorbBase;

  Site siteOf(lm::LatentAttentionOp attention) {
    Site site{
        attention, attention.getQuery().getDefiningOp<lm::LinearOp>(), {}, {}};
    if (attention->hasOneUse()) {
      site.output = dyn_cast<lm::LinearOp>(*attention->getUsers().begin());
    }
    if (!site.query || !site.output) {
      return site;
    }
    int64_t heads = attention.getHeads();
    LatentShape &shape = site.shape;
    shape.heads = heads;
    shape.rotary = lm::featuresOf(attention.getKeyRotary().getType());
    shape.query = stored(site.query.getWeight(), quantize);
    shape.keyUp = stored(attention.getKeyUp(), quantize);
    shape.valueUp = stored(attention.getValueUp(), quantize);
    shape.output = stored(site.output.getWeight(), quantize);
    int64_t wide = heads * shape.rank();
    shape.foldedKey =
        foldedType({wide, shape.query.getColumns()}, quantize, &getContext());
    shape.foldedValue =
        foldedType({shape.output.getRows(), wide}, quantize, &getContext());
    shape.cacheElementBytes = kvFormat == "f32" ? 4 : 2;
    return site;
  }

  int64_t formBlock() const {
    return int64_t(llvm::divideCeil(block, pageSize)) * pageSize;
  }

  /// The cheapest of the forms that may be, for rows of one sequence.
  LatentForm cheapest(const LatentShape &shape, ArrayRef<LatentForm> allowed,
                      int64_t rows) {
    return *llvm::min_element(allowed, [&](LatentForm a, LatentForm b) {
      return latentTime(a, shape, machine, rows, kPredictedDepth) <
             latentTime(b, shape, machine, rows, kPredictedDepth);
    });
  }

  LogicalResult choose(const Site &site, Choice &choice) {
    std::string refused = foldingRefused(site, quantize);
    if (form != "auto") {
      auto forced = latentFormNamed(form);
      if (*forced == LatentForm::Folded && !refused.empty()) {
        return site.attention->emitError("cannot be folded: ") << refused;
      }
      choice = {*forced, *forced};
      return success();
    }
    if (!site.query || !site.output) {
      choice = {LatentForm::Factored, LatentForm::Factored};
      return success();
    }
    llvm::SmallVector<LatentForm> allowed{LatentForm::Materialised,
                                          LatentForm::Factored};
    if (refused.empty()) {
      allowed.push_back(LatentForm::Folded);
    }
    choice.others = cheapest(site.shape, allowed, 1);
    choice.prompt = cheapest(
        site.shape, {LatentForm::Materialised, choice.others}, formBlock());
    return success();
  }

  std::string describeForm(const LatentShape &shape, LatentForm form) {
    FormTotals totals = totalsOf(form, shape);
    return llvm::formatv(
        "\n  {0,-12} weights {1,7:F1} M ({2,7:F1} MB); multiply-adds a row "
        "{3:F1} M + {4:F1} K a cached token; once a cached token {5:F1} K; "
        "1 row {6:F0} us, {7} rows {8:F0} us",
        nameOf(form), totals.weightValues / 1e6, totals.weightBytes / 1e6,
        totals.addsPerRow / 1e6, totals.addsPerRowToken / 1e3,
        totals.addsPerToken / 1e3,
        latentTime(form, shape, machine, 1, kPredictedDepth), formBlock(),
        latentTime(form, shape, machine, formBlock(), kPredictedDepth));
  }

  /// "from N cached tokens on (1 row)": where `better` overtakes `worse`.
  std::string describeCrossing(const LatentShape &shape, LatentForm better,
                               LatentForm worse) {
    constexpr int64_t kMostDepth = 1 << 20;
    constexpr int64_t kMostRows = 4096;
    auto wins = [&](int64_t rows, int64_t depth) {
      return latentTime(better, shape, machine, rows, depth) <
             latentTime(worse, shape, machine, rows, depth);
    };
    std::string text =
        llvm::formatv("\n  {0} beats {1}: ", nameOf(better), nameOf(worse));
    auto depth = leastThat(kMostDepth, [&](int64_t d) { return wins(1, d); });
    text +=
        depth
            ? llvm::formatv("for 1 row from {0} cached tokens on", *depth).str()
            : "for 1 row never";
    auto rows = leastThat(kMostRows,
                          [&](int64_t r) { return wins(r, kPredictedDepth); });
    text += rows ? llvm::formatv("; at {0} cached tokens from {1} rows on",
                                 kPredictedDepth, *rows)
                       .str()
                 : llvm::formatv("; at {0} cached tokens not with up to {1} "
                                 "rows",
                                 kPredictedDepth, kMostRows)
                       .str();
    return text;
  }

  void describe(const Site &site, const Choice &choice, StringRef kinds) {
    const LatentShape &shape = site.shape;
    std::string text = llvm::formatv(
        "{0}: {1} heads, {2} + {3} channels, rank {4}, values of {5}; a cached "
        "token takes {6} bytes a layer (keys and values of all heads: {7})",
        kinds, shape.heads, shape.content(), shape.rotary, shape.rank(),
        shape.value(), shape.cacheBytesPerToken(),
        shape.heads * (shape.content() + shape.rotary + shape.value()) *
            shape.cacheElementBytes);
    text += llvm::formatv("\n  a layer, {0} cached tokens:", kPredictedDepth);
    for (LatentForm each : kLatentForms) {
      text += describeForm(shape, each);
    }
    text +=
        describeCrossing(shape, LatentForm::Factored, LatentForm::Materialised);
    text +=
        describeCrossing(shape, LatentForm::Materialised, LatentForm::Factored);
    text += describeCrossing(shape, LatentForm::Folded, LatentForm::Factored);
    FormTotals folded = totalsOf(LatentForm::Folded, shape);
    FormTotals factored = totalsOf(LatentForm::Factored, shape);
    if (folded.weightBytes > factored.weightBytes) {
      text += llvm::formatv("\n  folding would read {0:F1} times the weights",
                            folded.weightBytes / factored.weightBytes);
    }
    if (std::string refused = foldingRefused(site, quantize);
        !refused.empty()) {
      text += "\n  folded is ruled out: " + refused;
    }
    text += choice.prompt == choice.others
                ? llvm::formatv("\n  chosen: {0} for every row",
                                nameOf(choice.others))
                      .str()
                : llvm::formatv("\n  chosen: {0} for whole blocks of {1} "
                                "prompt tokens, {2} for all other rows",
                                nameOf(choice.prompt), formBlock(),
                                nameOf(choice.others))
                      .str();
    explain(getOperation(), getArgument(), text);
  }

  LogicalResult checkOptions() {
    if (form != "auto" && !latentFormNamed(form)) {
      return emitError(getOperation().getLoc())
             << "form '" << form
             << "' of latent attention is not known; use auto, materialised, "
                "factored or folded";
    }
    if (pageSize < 1 || block < 1) {
      return emitError(getOperation().getLoc())
             << "page size and block must be at least 1, not "
             << int64_t(pageSize) << " and " << int64_t(block);
    }
    return success();
  }

  void runOnOperation() override {
    if (failed(checkOptions())) {
      return signalPassFailure();
    }
    machine = {readGbps, int8Gops, f32Gops};
    llvm::SmallVector<Site> sites;
    getOperation().walk([&](lm::LatentAttentionOp attention) {
      if (attention.isRaised() && !attention.getRows()) {
        sites.push_back(siteOf(attention));
      }
    });
    bool apart = false;
    llvm::SmallVector<Choice> choices(sites.size());
    for (auto [site, choice] : llvm::zip_equal(sites, choices)) {
      if (failed(choose(site, choice))) {
        return signalPassFailure();
      }
      apart |= choice.prompt != choice.others;
    }
    describeAll(sites, choices);
    for (auto [site, choice] : llvm::zip_equal(sites, choices)) {
      if (choice.prompt == choice.others) {
        rewriteAlone(site, choice.others);
      } else {
        rewriteApart(site, choice.others);
      }
    }
    if (apart) {
      getOperation()->setAttr(
          lm::kMaterialisedBlock,
          Builder(&getContext()).getI64IntegerAttr(formBlock()));
    }
  }

  /// Layer kinds with the same attention are explained once.
  void describeAll(ArrayRef<Site> sites, ArrayRef<Choice> choices) {
    for (size_t i = 0; i < sites.size(); ++i) {
      if (!sites[i].query || !sites[i].output) {
        continue;
      }
      auto alike = [&](const Site &other) {
        return other.query && other.output && other.shape == sites[i].shape;
      };
      if (llvm::any_of(sites.take_front(i), alike)) {
        continue;
      }
      llvm::SmallVector<StringRef> kinds;
      for (const Site &site : sites.drop_front(i)) {
        lm::LatentAttentionOp attention = site.attention;
        if (alike(site)) {
          kinds.push_back(attention->getParentOfType<func::FuncOp>().getName());
        }
      }
      describe(sites[i], choices[i], llvm::join(kinds, ", "));
    }
  }

  MachineProfile machine;
};

} // namespace
} // namespace quire
