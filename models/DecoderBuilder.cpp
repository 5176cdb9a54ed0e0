#include "models/DecoderBuilder.h"

#include "models/LayerKinds.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace quire {

namespace {

class DecoderBuilder {
public:
  DecoderBuilder(Location loc, const DecoderSource &source,
                 const ParamTable &params, ModuleOp module)
      : config(source.config), params(params), module(module),
        context(loc.getContext()), b(context) {
    b.setInsertionPointToEnd(module.getBody());
  }

  void buildLayer(const LayerKind &kind);
  void buildStep(const std::vector<LayerKind> &kinds,
                 const std::vector<RopeTable> &ropes);

private:
  /// What the body of a layer sees beside its rows.
  struct LayerScope {
    const LayerKind &kind;
    Value batch;
    Value rope;
    Value layer;
  };

  Location named(const llvm::Twine &name) {
    return NameLoc::get(b.getStringAttr(name));
  }
  RankedTensorType rows(int64_t features) {
    return lm::rowsType(context, features);
  }
  Value load(llvm::StringRef symbol, const LayerScope *scope = nullptr);
  Value normWeight(llvm::StringRef symbol, const LayerScope *scope = nullptr);
  Value norm(Value x, llvm::StringRef symbol,
             const LayerScope *scope = nullptr);
  Value normBy(double epsilon, Value x, llvm::StringRef symbol,
               const LayerScope *scope);
  Value linear(Value x, llvm::StringRef symbol,
               const LayerScope *scope = nullptr);
  Value rotated(Value x, llvm::StringRef symbol, const LayerScope &scope);
  Value attention(Value x, const LayerScope &scope);
  Value attend(Value query, Value key, Value value, const LayerScope &scope);
  Value latentQuery(Value x, const LayerScope &scope);
  Value latentAttention(Value x, const LayerScope &scope);
  Value rotatedChannels(Value x, const llvm::Twine &name,
                        const LayerScope &scope);
  Value headSlice(Value x, int64_t begin, int64_t size,
                  const llvm::Twine &name);
  Value gatedMlp(Value x, const std::string &prefix, const LayerScope &scope);
  Value routes(Value x, const LayerScope &scope);
  Value experts(Value x, const LayerScope &scope);
  Value mlp(Value x, const LayerScope &scope) {
    return scope.kind.config.experts ? experts(x, scope)
                                     : gatedMlp(x, "mlp", scope);
  }
  Value residual(Value x, Value delta, llvm::StringRef postNorm,
                 const LayerScope &scope);
  Value scaled(Value x, double by, llvm::StringRef name);

  const ModelConfig &config;
  const ParamTable &params;
  ModuleOp module;
  MLIRContext *context;
  OpBuilder b;
};

Value DecoderBuilder::load(llvm::StringRef symbol, const LayerScope *scope) {
  bool layered = params.isLayered(symbol);
  int64_t layer = layered ? scope->kind.layers.front() : 0;
  Value weight = lm::LoadParamOp::create(
      b, named(symbol), params.typeOf(context, symbol, layer),
      FlatSymbolRefAttr::get(context, symbol),
      layered ? scope->layer : Value());
  bool rotary = symbol.starts_with("attn_q") || symbol.starts_with("attn_k");
  if (config.permutedRotary && rotary && !symbol.contains("norm")) {
    weight = lm::UnpermuteRotaryOp::create(b, named(symbol), weight.getType(),
                                           weight,
                                           b.getI64IntegerAttr(config.headDim));
  }
  return weight;
}

Value DecoderBuilder::normWeight(llvm::StringRef symbol,
                                 const LayerScope *scope) {
  Value weight = load(symbol, scope);
  if (!config.normWeightsMinusOne) {
    return weight;
  }
  auto type = cast<lm::WeightType>(weight.getType());
  auto f32 =
      lm::WeightType::get(context, type.getShape(), lm::NumberFormat::F32);
  return lm::AffineWeightOp::create(b, named(symbol), f32, weight,
                                    b.getF64FloatAttr(1.0),
                                    b.getF64FloatAttr(1.0));
}

Value DecoderBuilder::norm(Value x, llvm::StringRef symbol,
                           const LayerScope *scope) {
  return normBy(config.normEpsilon, x, symbol, scope);
}

Value DecoderBuilder::normBy(double epsilon, Value x, llvm::StringRef symbol,
                             const LayerScope *scope) {
  return lm::RmsNormOp::create(b, named(symbol), x.getType(), x,
                               normWeight(symbol, scope),
                               b.getF64FloatAttr(epsilon));
}

Value DecoderBuilder::linear(Value x, llvm::StringRef symbol,
                             const LayerScope *scope) {
  Value weight = load(symbol, scope);
  std::string biasSymbol = (symbol + "_bias").str();
  Value bias = params.has(biasSymbol) ? load(biasSymbol, scope) : Value();
  int64_t outputs = cast<lm::WeightType>(weight.getType()).getRows();
  return lm::LinearOp::create(b, named(symbol), rows(outputs), x, weight, bias);
}

Value DecoderBuilder::scaled(Value x, double by, llvm::StringRef name) {
  return by == 1 ? x
                 : lm::ScaleOp::create(b, named(name), x.getType(), x,
                                       b.getF64FloatAttr(by))
                       .getResult();
}

/// A query or key projection, normalised where the model does and rotated.
Value DecoderBuilder::rotated(Value x, llvm::StringRef symbol,
                              const LayerScope &scope) {
  Value projected = linear(x, symbol, &scope);
  if (config.queryKeyNorm != QueryKeyNorm::None) {
    projected = norm(projected, (symbol + "_norm").str(), &scope);
  }
  return lm::RopeOp::create(b, named(symbol + "_rope"), projected.getType(),
                            projected, scope.rope,
                            b.getI64IntegerAttr(config.headDim), UnitAttr());
}

Value DecoderBuilder::attention(Value x, const LayerScope &scope) {
  Value query = rotated(x, "attn_q", scope);
  Value key = rotated(x, "attn_k", scope);
  Value value = linear(x, "attn_v", &scope);
  return attend(query, key, value, scope);
}

Value DecoderBuilder::attend(Value query, Value key, Value value,
                             const LayerScope &scope) {
  Value mixed = lm::AttentionOp::create(
      b, named("attn"), rows(config.heads * config.valueDim()), query, key,
      value, scope.batch, b.getI64IntegerAttr(config.heads),
      b.getI64IntegerAttr(config.kvHeads),
      b.getF64FloatAttr(config.attentionScale),
      b.getI64IntegerAttr(scope.kind.config.window),
      b.getF64FloatAttr(config.attentionSoftcap));
  return linear(mixed, "attn_out", &scope);
}

Value DecoderBuilder::headSlice(Value x, int64_t begin, int64_t size,
                                const llvm::Twine &name) {
  return lm::SliceHeadsOp::create(b, named(name), rows(config.heads * size), x,
                                  b.getI64IntegerAttr(config.heads),
                                  b.getI64IntegerAttr(begin));
}

/// Rows that are nothing but rotary channels, one head or all.
Value DecoderBuilder::rotatedChannels(Value x, const llvm::Twine &name,
                                      const LayerScope &scope) {
  return lm::RopeOp::create(b, named(name), x.getType(), x, scope.rope,
                            b.getI64IntegerAttr(config.latent.rotaryDim),
                            config.latent.interleaved ? b.getUnitAttr()
                                                      : UnitAttr());
}

/// Each head's query: its content channels, then its rotary ones.
Value DecoderBuilder::latentQuery(Value x, const LayerScope &scope) {
  const LatentConfig &latent = config.latent;
  Value query;
  if (latent.queryRank == 0) {
    query = linear(x, "attn_q", &scope);
  } else {
    Value down = linear(x, "attn_q_down", &scope);
    down = normBy(latent.normEpsilon, down, "attn_q_down_norm", &scope);
    query = linear(down, "attn_q_up", &scope);
  }
  Value content = headSlice(query, 0, latent.contentDim, "attn_q_content");
  Value rotary =
      headSlice(query, latent.contentDim, latent.rotaryDim, "attn_q_rotary");
  rotary = rotatedChannels(rotary, "attn_q_rope", scope);
  return lm::ConcatHeadsOp::create(b, named("attn_q_full"), query.getType(),
                                   content, rotary,
                                   b.getI64IntegerAttr(config.heads),
                                   /*shared=*/UnitAttr());
}

/// What the model says: full keys and values for every head, raised from the
/// latent. Which parts are cached and in what form they are multiplied is the
/// passes' choice.
Value DecoderBuilder::latentAttention(Value x, const LayerScope &scope) {
  const LatentConfig &latent = config.latent;
  Value row = linear(x, "attn_latent", &scope);
  row = normBy(latent.normEpsilon, row, "attn_latent_norm", &scope);
  Value raised = linear(row, "attn_kv_up", &scope);
  Value content = headSlice(raised, 0, latent.contentDim, "attn_k_content");
  Value value =
      headSlice(raised, latent.contentDim, latent.valueDim, "attn_v_full");
  Value rotary =
      rotatedChannels(linear(x, "attn_k_rotary", &scope), "attn_k_rope", scope);
  Value key = lm::ConcatHeadsOp::create(
      b, named("attn_k_full"), rows(config.heads * config.headDim), content,
      rotary, b.getI64IntegerAttr(config.heads), b.getUnitAttr());
  return attend(latentQuery(x, scope), key, value, scope);
}

static lm::Nonlinearity nonlinearityOf(MlpNonlinearity kind) {
  switch (kind) {
  case MlpNonlinearity::Silu:
    return lm::Nonlinearity::Silu;
  case MlpNonlinearity::GeluTanh:
    return lm::Nonlinearity::GeluTanh;
  case MlpNonlinearity::Gelu:
    return lm::Nonlinearity::Gelu;
  }
  llvm_unreachable("all cases return");
}

Value DecoderBuilder::gatedMlp(Value x, const std::string &prefix,
                               const LayerScope &scope) {
  Value gate = linear(x, prefix + "_gate", &scope);
  Value up = linear(x, prefix + "_up", &scope);
  Value active =
      lm::NonlinearityOp::create(b, named(prefix + "_act"), gate.getType(),
                                 nonlinearityOf(config.nonlinearity), gate);
  Value product =
      lm::MulOp::create(b, named(prefix + "_mul"), up.getType(), active, up);
  return linear(product, prefix + "_down", &scope);
}

Value DecoderBuilder::routes(Value x, const LayerScope &scope) {
  const ExpertsConfig &experts = config.experts;
  Value scores = linear(x, "router", &scope);
  Value bias =
      experts.correctionBias ? load("router_correction", &scope) : Value();
  return lm::RouteOp::create(
      b, named("route"),
      lm::RoutesType::get(context, experts.count, experts.top),
      experts.gate == RouterGate::Softmax ? lm::RouterGate::Softmax
                                          : lm::RouterGate::Sigmoid,
      scores, bias,
      experts.groupScore == GroupScore::Max ? lm::GroupScore::Max
                                            : lm::GroupScore::Top2,
      experts.groups, experts.topGroups, experts.normalise,
      llvm::APFloat(experts.scale));
}

/// The chosen experts' weighted sum, and the expert that all rows share.
Value DecoderBuilder::experts(Value x, const LayerScope &scope) {
  Value sum = lm::ExpertsOp::create(
      b, named("experts"), x.getType(), nonlinearityOf(config.nonlinearity), x,
      routes(x, scope), load("expert_gate", &scope), load("expert_up", &scope),
      load("expert_down", &scope));
  if (config.experts.sharedIntermediate == 0) {
    return sum;
  }
  Value shared = gatedMlp(x, "shared", scope);
  if (config.experts.sharedGate) {
    shared =
        lm::SigmoidGateOp::create(b, named("shared_gated"), shared.getType(),
                                  shared, linear(x, "shared_router", &scope));
  }
  return lm::AddOp::create(b, named("experts_sum"), sum.getType(), sum, shared);
}

Value DecoderBuilder::residual(Value x, Value delta, llvm::StringRef postNorm,
                               const LayerScope &scope) {
  if (config.norms != NormPlacement::Pre) {
    delta = norm(delta, postNorm, &scope);
  }
  delta = scaled(delta, config.residualScale, "residual_scale");
  return lm::AddOp::create(b, named("residual"), x.getType(), x, delta);
}

void DecoderBuilder::buildLayer(const LayerKind &kind) {
  llvm::SmallVector<Type> types{rows(config.hidden),
                                lm::BatchType::get(context)};
  for (const RopeConfig &rope : config.ropes) {
    types.push_back(rows(rope.rotaryDim));
  }
  types.push_back(b.getIndexType());
  OpBuilder::InsertionGuard guard(b);
  auto function =
      func::FuncOp::create(b, named(kind.name), kind.name,
                           b.getFunctionType(types, {rows(config.hidden)}));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);

  LayerScope scope{kind, body->getArgument(1),
                   body->getArgument(2 + kind.config.rope),
                   body->getArguments().back()};
  bool preNorm = config.norms != NormPlacement::Post;
  Value x = body->getArgument(0);
  Value h = preNorm ? norm(x, "attn_norm", &scope) : x;
  Value mixed =
      config.latent.rank != 0 ? latentAttention(h, scope) : attention(h, scope);
  x = residual(x, mixed, "post_attn_norm", scope);
  h = preNorm ? norm(x, "mlp_norm", &scope) : x;
  x = residual(x, mlp(h, scope), "post_mlp_norm", scope);
  func::ReturnOp::create(b, function.getLoc(), x);
}

void DecoderBuilder::buildStep(const std::vector<LayerKind> &kinds,
                               const std::vector<RopeTable> &ropes) {
  OpBuilder::InsertionGuard guard(b);
  auto function =
      func::FuncOp::create(b, named("step"), "step",
                           b.getFunctionType({lm::BatchType::get(context)},
                                             {rows(config.vocabulary)}));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  Value batch = body->getArgument(0);

  Value x = lm::EmbedOp::create(b, named("embedding"), rows(config.hidden),
                                batch, load("embedding"),
                                b.getF64FloatAttr(config.embeddingScale));
  llvm::SmallVector<Value> captures{batch};
  for (const RopeTable &rope : ropes) {
    captures.push_back(lm::RopeTableOp::create(
        b, named("rope_table"), rows(2 * int64_t(rope.inverseFrequency.size())),
        batch, b.getDenseF32ArrayAttr(rope.inverseFrequency),
        b.getF64FloatAttr(rope.amplitude),
        b.getI64IntegerAttr(rope.dynamicContext),
        b.getF64FloatAttr(rope.dynamicBase),
        b.getF64FloatAttr(rope.dynamicFactor)));
  }
  llvm::SmallVector<Attribute> kindNames;
  std::vector<int64_t> which(config.layers.size()), indices(which.size());
  for (auto [number, kind] : llvm::enumerate(kinds)) {
    kindNames.push_back(FlatSymbolRefAttr::get(context, kind.name));
    for (int64_t layer : kind.layers) {
      which[layer] = int64_t(number);
      indices[layer] = layer;
    }
  }
  x = lm::LayersOp::create(
      b, named("layers"), x.getType(), x, captures, b.getArrayAttr(kindNames),
      b.getDenseI64ArrayAttr(which), b.getDenseI64ArrayAttr(indices));
  x = lm::SelectLogitRowsOp::create(b, named("logit_rows"), x.getType(), x,
                                    batch);
  x = norm(x, "final_norm");
  Value logits = linear(x, config.tiedHead ? "embedding" : "head");
  logits = scaled(logits, config.logitScale, "logit_scale");
  if (config.logitSoftcap != 0) {
    logits =
        lm::SoftcapOp::create(b, named("logit_softcap"), logits.getType(),
                              logits, b.getF64FloatAttr(config.logitSoftcap));
  }
  func::ReturnOp::create(b, function.getLoc(), logits);
}

} // namespace

OwningOpRef<ModuleOp> buildDecoder(Location loc, const DecoderSource &source,
                                   int64_t context) {
  std::vector<RopeTable> ropes;
  for (const RopeConfig &rope : source.config.ropes) {
    auto table = makeRopeTable(rope, context);
    if (!table.ok()) {
      emitError(loc) << std::string(table.status().message());
      return nullptr;
    }
    if (rope.rotaryDim > source.config.headDim) {
      emitError(loc) << "the rotary width " << rope.rotaryDim
                     << " is larger than the head size "
                     << source.config.headDim;
      return nullptr;
    }
    ropes.push_back(*std::move(table));
  }
  ParamTable params(source);
  if (failed(params.collect(loc))) {
    return nullptr;
  }
  std::vector<std::string> keys;
  for (size_t i = 0; i < source.config.layers.size(); ++i) {
    keys.push_back(params.formatKey(int64_t(i)));
  }
  std::vector<LayerKind> kinds = groupLayers(source.config, keys);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc, "model");
  OpBuilder builder(loc.getContext());
  builder.setInsertionPointToEnd(module->getBody());
  params.emit(builder);
  DecoderBuilder decoder(loc, source, params, *module);
  for (const LayerKind &kind : kinds) {
    decoder.buildLayer(kind);
  }
  decoder.buildStep(kinds, ropes);
  if (failed(verify(*module))) {
    return nullptr;
  }
  return module;
}

} // namespace quire
