#include "passes/LowerOps.h"

#include "frontends/formats/NumberFormat.h"
#include "ir/rt/KernelTable.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace quire {

Attribute makePart(MLIRContext *context, StringRef kernel,
                   ArrayRef<NamedAttribute> args) {
  return rt::PartAttr::get(context, kernel, DictionaryAttr::get(context, args));
}

bool hasLaunch(Operation *op) {
  return !isa<lm::LoadParamOp, lm::UnpermuteRotaryOp, lm::AffineWeightOp,
              lm::ConvertWeightOp, lm::TakeRowsOp, lm::FoldKeyOp,
              lm::FoldValueOp, lm::CacheOp, func::ReturnOp>(op);
}

lm::QuantizeActivationOp roundingOf(Operation *norm) {
  if (!isa<lm::RmsNormOp, lm::AddRmsNormOp>(norm)) {
    return {};
  }
  Value normed = norm->getResults().back();
  for (Operation *user : normed.getUsers()) {
    auto quantize = dyn_cast<lm::QuantizeActivationOp>(user);
    if (quantize && quantize->getBlock() == norm->getBlock()) {
      return quantize;
    }
  }
  return {};
}

namespace {

/// Arguments of one part, by name.
class Args {
public:
  Args(MLIRContext *context, LoweringScope &scope)
      : builder(context), scope(scope) {}

  Args &buffer(StringRef name, Value value) {
    return set(name, scope.bufferOf(value));
  }
  Args &weight(StringRef name, Value value) {
    return value ? set(name, scope.slots.slotFor(value)) : null(name);
  }
  Args &null(StringRef name) { return set(name, builder.getUnitAttr()); }
  Args &integer(StringRef name, int64_t value) {
    return set(name, builder.getI64IntegerAttr(value));
  }
  Args &number(StringRef name, const llvm::APFloat &value) {
    return set(name, builder.getF64FloatAttr(value.convertToDouble()));
  }
  Args &set(StringRef name, Attribute value) {
    args.push_back(builder.getNamedAttr(name, value));
    return *this;
  }
  /// The sizes of a product.
  Args &sizes(lm::WeightType type) {
    return integer("inputs", type.getColumns())
        .integer("outputs", type.getRows());
  }
  Args &rowSet(Value value) { return integer("rowSet", scope.rowSetOf(value)); }
  Attribute part(const llvm::Twine &kernel) {
    return makePart(builder.getContext(), kernel.str(), args);
  }

private:
  Builder builder;
  LoweringScope &scope;
  llvm::SmallVector<NamedAttribute> args;
};

StringRef formatOf(Value weight) {
  return lm::stringifyNumberFormat(
      cast<lm::WeightType>(weight.getType()).getFormat());
}

int64_t groupOf(lm::ActivationType type) {
  return type.getFormat() == lm::ActivationFormat::Int8By32 ? 32 : 256;
}

Attribute linearPart(Value input, Value weight, Value bias, Value output,
                     LoweringScope &scope) {
  auto type = cast<lm::WeightType>(weight.getType());
  return Args(weight.getContext(), scope)
      .buffer("activation", input)
      .weight("weight", weight)
      .weight("bias", bias)
      .buffer("out", output)
      .sizes(type)
      .integer("outStride", type.getRows())
      .rowSet(output)
      .part("linear_" + formatOf(weight));
}

/// Norms with everything that may hang on them: an addition before, a rounding
/// behind. The f32 result is written only where something reads it.
Attribute normPart(Operation *op, Value x, Value delta, Value weight, Value sum,
                   Value normed, const llvm::APFloat &epsilon,
                   LoweringScope &scope) {
  lm::QuantizeActivationOp rounding = roundingOf(op);
  bool readAsRows = llvm::any_of(
      normed.getUsers(), [&](Operation *user) { return user != rounding; });
  Args args(op->getContext(), scope);
  args.buffer("x", x).weight("weight", weight);
  delta ? args.buffer("delta", delta) : args.null("delta");
  sum ? args.buffer("sum", sum) : args.null("sum");
  readAsRows ? args.buffer("out", normed) : args.null("out");
  if (rounding) {
    args.buffer("quantized", rounding.getOutput());
  } else {
    args.null("quantized");
  }
  return args.integer("features", lm::featuresOf(x.getType()))
      .integer("width", cast<lm::WeightType>(weight.getType()).getRows())
      .number("epsilon", epsilon)
      .integer("group", rounding ? groupOf(rounding.getType()) : 0)
      .rowSet(normed)
      .part("rms_norm");
}

/// Fields that say where a layer's pages lie.
Args &addGroup(Args &args, lm::KvType type, lm::CacheOp cache,
               LoweringScope &scope) {
  return args.integer("group", scope.groupNumber(cache.getGroup()))
      .integer("pageSize", type.getPage())
      .integer("groupLayers",
               int64_t(scope.group(cache.getGroup()).getLayers().size()));
}

/// And where its keys and values lie in a page.
Args &addPage(Args &args, lm::KvType type, lm::CacheOp cache,
              LoweringScope &scope) {
  return addGroup(args, type, cache, scope)
      .integer("kvHeads", type.getHeads())
      .integer("keyDim", type.getKey())
      .integer("valueDim", type.getValue());
}

Attribute appendPart(lm::KvAppendOp op, LoweringScope &scope) {
  auto type = cast<lm::KvType>(op.getCache().getType());
  Args args(op.getContext(), scope);
  args.buffer("key", op.getKey()).buffer("value", op.getValue());
  args.integer("keyStride", lm::featuresOf(op.getKey().getType()))
      .integer("valueStride", lm::featuresOf(op.getValue().getType()));
  return addPage(args, type, op.getCache().getDefiningOp<lm::CacheOp>(), scope)
      .part("kv_append_" + lm::stringifyNumberFormat(type.getFormat()));
}

Attribute attentionPart(lm::PagedAttentionOp op, LoweringScope &scope) {
  auto type = cast<lm::KvType>(op.getCache().getType());
  auto append = op.getCache().getDefiningOp<lm::KvAppendOp>();
  Args args(op.getContext(), scope);
  args.buffer("query", op.getQuery()).buffer("out", op.getOutput());
  args.integer("queryStride", lm::featuresOf(op.getQuery().getType()))
      .integer("heads", op.getHeads());
  return addPage(args, type, append.getCache().getDefiningOp<lm::CacheOp>(),
                 scope)
      .integer("window", type.getWindow())
      .number("scale", op.getScale())
      .number("softcap", op.getSoftcap())
      .part("attention_" + lm::stringifyNumberFormat(type.getFormat()));
}

Attribute headLinearPart(lm::HeadLinearOp op, LoweringScope &scope) {
  lm::WeightType type = op.getWeight().getType();
  int64_t inputs = type.getColumns(), outputs = type.getRows();
  if (op.getTransposed()) {
    std::swap(inputs, outputs);
  }
  return Args(op.getContext(), scope)
      .buffer("x", op.getInput())
      .weight("weight", op.getWeight())
      .buffer("out", op.getOutput())
      .integer("heads", type.getMatrices())
      .integer("inputs", inputs)
      .integer("outputs", outputs)
      .rowSet(op.getOutput())
      .part((op.getTransposed() ? "head_linear_t_" : "head_linear_") +
            formatOf(op.getWeight()));
}

/// Of a stack that materialised attention reads.
int64_t layoutFormat(Value weight) {
  return int64_t(*parseNumberFormat(formatOf(weight)));
}

/// CacheFormat of codegen/cpu/kernels/Args.h.
int64_t cacheFormat(lm::KvType type) {
  switch (type.getFormat()) {
  case lm::NumberFormat::F32:
    return 0;
  case lm::NumberFormat::F16:
    return 1;
  default:
    return 2;
  }
}

Attribute latentAttentionPart(lm::PagedLatentAttentionOp op,
                              LoweringScope &scope) {
  auto type = cast<lm::KvType>(op.getCache().getType());
  auto append = op.getCache().getDefiningOp<lm::KvAppendOp>();
  Args args(op.getContext(), scope);
  args.buffer("queryRotary", op.getQueryRotary())
      .buffer("out", op.getOutput())
      .integer("heads", op.getHeads())
      .integer("latentDim", type.getKey())
      .integer("rotaryDim", type.getValue())
      .number("scale", op.getScale())
      .rowSet(op.getOutput());
  addGroup(args, type, append.getCache().getDefiningOp<lm::CacheOp>(), scope);
  if (!op.isRaised()) {
    return args.buffer("queryLatent", op.getQuery())
        .part("latent_attention_" +
              lm::stringifyNumberFormat(type.getFormat()));
  }
  auto rows = [](Value stack) {
    return cast<lm::WeightType>(stack.getType()).getRows();
  };
  return args.buffer("queryContent", op.getQuery())
      .weight("weightKey", op.getKeyUp())
      .weight("weightValue", op.getValueUp())
      .integer("contentDim", rows(op.getKeyUp()))
      .integer("valueDim", rows(op.getValueUp()))
      .integer("cacheFormat", cacheFormat(type))
      .integer("valueFormat", layoutFormat(op.getValueUp()))
      .part("materialised_attention_" + formatOf(op.getKeyUp()));
}

Attribute selectFormPart(lm::SelectFormOp op, LoweringScope &scope) {
  return Args(op.getContext(), scope)
      .buffer("x", op.getInput())
      .buffer("out", op.getOutput())
      .integer("features", lm::featuresOf(op.getInput().getType()))
      .rowSet(op.getOutput())
      .part("select_form");
}

Attribute mergeFormsPart(lm::MergeFormsOp op, LoweringScope &scope) {
  return Args(op.getContext(), scope)
      .buffer("materialised", op.getMaterialised())
      .buffer("latent", op.getLatent())
      .buffer("out", op.getOutput())
      .integer("features", lm::featuresOf(op.getOutput().getType()))
      .part("merge_forms");
}

Attribute ropeTablePart(lm::RopeTableOp op, LoweringScope &scope) {
  return Args(op.getContext(), scope)
      .set("inverseFrequency", op.getInverseFrequencyAttr())
      .buffer("out", op.getOutput())
      .integer("half", int64_t(op.getInverseFrequency().size()))
      .number("amplitude", op.getAmplitude())
      .integer("dynamicContext", op.getDynamicContext())
      .number("dynamicBase", op.getDynamicBase())
      .number("dynamicFactor", op.getDynamicFactor())
      .part("rope_table");
}

Attribute embedPart(lm::EmbedOp op, LoweringScope &scope) {
  auto type = cast<lm::WeightType>(op.getWeight().getType());
  return Args(op.getContext(), scope)
      .weight("weight", op.getWeight())
      .buffer("out", op.getOutput())
      .integer("features", type.getColumns())
      .integer("vocabulary", type.getRows())
      .number("scale", op.getScale())
      .part("embed_" + formatOf(op.getWeight()));
}

Attribute gatedPart(lm::GatedLinearOp op, LoweringScope &scope) {
  auto type = cast<lm::WeightType>(op.getGate().getType());
  return Args(op.getContext(), scope)
      .buffer("activation", op.getInput())
      .weight("gate", op.getGate())
      .weight("up", op.getUp())
      .buffer("out", op.getOutput())
      .sizes(type)
      .integer("outStride", type.getRows())
      .integer("activationKind", int64_t(op.getNonlinearity()))
      .rowSet(op.getOutput())
      .part("gated_linear_" + formatOf(op.getGate()));
}

Attribute quantizePart(lm::QuantizeActivationOp op, LoweringScope &scope) {
  return Args(op.getContext(), scope)
      .buffer("x", op.getInput())
      .buffer("quantized", op.getOutput())
      .integer("features", lm::featuresOf(op.getInput().getType()))
      .integer("group", groupOf(op.getType()))
      .rowSet(op.getInput())
      .part("quantize");
}

Attribute gatherPart(lm::SelectLogitRowsOp op, LoweringScope &scope) {
  return Args(op.getContext(), scope)
      .buffer("x", op.getInput())
      .buffer("out", op.getOutput())
      .integer("features", lm::featuresOf(op.getInput().getType()))
      .part("gather_logit_rows");
}

Attribute routePart(lm::RouteOp op, LoweringScope &scope) {
  lm::RoutesType routes = op.getRoutes().getType();
  return Args(op.getContext(), scope)
      .buffer("scores", op.getScores())
      .weight("bias", op.getBias())
      .buffer("routes", op.getRoutes())
      .integer("experts", routes.getExperts())
      .integer("top", routes.getTop())
      .integer("gate", int64_t(op.getGate()))
      .integer("groups", op.getGroups())
      .integer("topGroups", op.getTopGroups())
      .integer("groupScore", int64_t(op.getGroupScore()))
      .integer("normalise", op.getNormalise())
      .number("scale", op.getScale())
      .part("route");
}

/// What every kernel that meets pairs is told of them.
Args &addPairs(Args &args, Value groups) {
  auto type = cast<lm::GroupsType>(groups.getType());
  return args.buffer("pairs", groups)
      .integer("experts", type.getExperts())
      .integer("top", type.getTop());
}

Attribute groupRoutesPart(lm::GroupRoutesOp op, LoweringScope &scope) {
  Args args(op.getContext(), scope);
  return addPairs(args, op.getGroups())
      .buffer("routes", op.getRoutes())
      .part("group_routes");
}

Attribute dispatchPart(lm::DispatchOp op, LoweringScope &scope) {
  auto rounded = dyn_cast<lm::ActivationType>(op.getInput().getType());
  Args args(op.getContext(), scope);
  return addPairs(args, op.getGroups())
      .buffer("rows", op.getInput())
      .buffer("out", op.getOutput())
      .integer("features", lm::featuresOf(op.getInput().getType()))
      .integer("group", rounded ? groupOf(rounded) : 0)
      .part("dispatch");
}

Attribute expertLinearPart(lm::ExpertLinearOp op, LoweringScope &scope) {
  auto type = cast<lm::WeightType>(op.getWeight().getType());
  Args args(op.getContext(), scope);
  return addPairs(args, op.getGroups())
      .buffer("activation", op.getInput())
      .weight("weight", op.getWeight())
      .buffer("out", op.getOutput())
      .sizes(type)
      .part("expert_linear_" + formatOf(op.getWeight()));
}

Attribute expertGatedPart(lm::ExpertGatedLinearOp op, LoweringScope &scope) {
  auto type = cast<lm::WeightType>(op.getGate().getType());
  Args args(op.getContext(), scope);
  return addPairs(args, op.getGroups())
      .buffer("activation", op.getInput())
      .weight("gate", op.getGate())
      .weight("up", op.getUp())
      .buffer("out", op.getOutput())
      .sizes(type)
      .integer("activationKind", int64_t(op.getNonlinearity()))
      .part("expert_gated_linear_" + formatOf(op.getGate()));
}

Attribute combinePart(lm::CombineOp op, LoweringScope &scope) {
  Args args(op.getContext(), scope);
  return addPairs(args, op.getGroups())
      .buffer("rows", op.getInput())
      .buffer("routes", op.getRoutes())
      .buffer("out", op.getOutput())
      .integer("features", lm::featuresOf(op.getOutput().getType()))
      .part("combine");
}

} // namespace

LogicalResult lowerOp(Operation *op, LoweringScope &scope,
                      llvm::SmallVectorImpl<Attribute> &parts) {
  auto one = [&](Attribute part) {
    parts.push_back(part);
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](lm::LinearOp o) {
        return one(linearPart(o.getInput(), o.getWeight(), o.getBias(),
                              o.getOutput(), scope));
      })
      .Case([&](lm::FusedLinearOp o) {
        auto bias = o.getBiases().begin();
        for (auto [i, weight] : llvm::enumerate(o.getWeights())) {
          Value own = o.getHasBias()[i] ? *bias++ : Value();
          parts.push_back(
              linearPart(o.getInput(), weight, own, o.getOutputs()[i], scope));
        }
        return success();
      })
      .Case([&](lm::RmsNormOp o) {
        return one(normPart(o, o.getInput(), Value(), o.getWeight(), Value(),
                            o.getOutput(), o.getEpsilon(), scope));
      })
      .Case([&](lm::AddRmsNormOp o) {
        return one(normPart(o, o.getInput(), o.getDelta(), o.getWeight(),
                            o.getSum(), o.getNormed(), o.getEpsilon(), scope));
      })
      .Case([&](lm::GatedLinearOp o) { return one(gatedPart(o, scope)); })
      .Case([&](lm::EmbedOp o) { return one(embedPart(o, scope)); })
      .Case([&](lm::RopeTableOp o) { return one(ropeTablePart(o, scope)); })
      .Case([&](lm::KvAppendOp o) { return one(appendPart(o, scope)); })
      .Case(
          [&](lm::PagedAttentionOp o) { return one(attentionPart(o, scope)); })
      .Case([&](lm::HeadLinearOp o) { return one(headLinearPart(o, scope)); })
      .Case([&](lm::PagedLatentAttentionOp o) {
        return one(latentAttentionPart(o, scope));
      })
      .Case([&](lm::SelectFormOp o) { return one(selectFormPart(o, scope)); })
      .Case([&](lm::MergeFormsOp o) { return one(mergeFormsPart(o, scope)); })
      .Case([&](lm::SelectLogitRowsOp o) { return one(gatherPart(o, scope)); })
      .Case([&](lm::QuantizeActivationOp o) {
        return one(quantizePart(o, scope));
      })
      .Case([&](lm::RouteOp o) { return one(routePart(o, scope)); })
      .Case([&](lm::GroupRoutesOp o) { return one(groupRoutesPart(o, scope)); })
      .Case([&](lm::DispatchOp o) { return one(dispatchPart(o, scope)); })
      .Case(
          [&](lm::ExpertLinearOp o) { return one(expertLinearPart(o, scope)); })
      .Case([&](lm::ExpertGatedLinearOp o) {
        return one(expertGatedPart(o, scope));
      })
      .Case([&](lm::CombineOp o) { return one(combinePart(o, scope)); })
      .Default([](Operation *o) {
        return o->emitError("has no kernel on this target: lower it to ops "
                            "that have one first");
      });
}

} // namespace quire
