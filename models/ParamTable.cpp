#include "models/ParamTable.h"

#include "frontends/formats/Checkpoint.h"

using namespace mlir;

namespace quire {

void ParamTable::add(const char *symbol, const WeightName &name,
                     std::vector<int64_t> shape, In where) {
  bySymbol[symbol] = params.size();
  params.push_back({symbol, name, std::move(shape), where, {}});
}

void ParamTable::addWithBias(const char *symbol, const WeightName &name,
                             std::vector<int64_t> shape, In where, bool bias) {
  int64_t rows = shape[0];
  add(symbol, name, std::move(shape), where);
  if (bias) {
    std::string biasSymbol = std::string(symbol) + "_bias";
    add(biasSymbol.c_str(), name.bias(), {rows}, where);
  }
}

void ParamTable::listAttention() {
  const ModelConfig &config = source.config;
  const WeightNames &names = source.names;
  int64_t hidden = config.hidden;
  int64_t queryRows = config.heads * config.headDim;
  int64_t keyRows = config.kvHeads * config.headDim;
  bool qkvBias = config.queryKeyValueBias;
  addWithBias("attn_q", names.query, {queryRows, hidden}, In::AllLayers,
              qkvBias);
  addWithBias("attn_k", names.key, {keyRows, hidden}, In::AllLayers, qkvBias);
  addWithBias("attn_v", names.value, {keyRows, hidden}, In::AllLayers, qkvBias);
  addWithBias("attn_out", names.attentionOutput, {hidden, queryRows},
              In::AllLayers, config.attentionOutputBias);
  if (config.queryKeyNorm != QueryKeyNorm::None) {
    bool full = config.queryKeyNorm == QueryKeyNorm::Full;
    add("attn_q_norm", names.queryNorm, {full ? queryRows : config.headDim},
        In::AllLayers);
    add("attn_k_norm", names.keyNorm, {full ? keyRows : config.headDim},
        In::AllLayers);
  }
}

void ParamTable::listLatentAttention() {
  const ModelConfig &config = source.config;
  const WeightNames &names = source.names;
  const LatentConfig &latent = config.latent;
  constexpr In where = In::AllLayers;
  int64_t hidden = config.hidden;
  int64_t queryRows = config.heads * config.headDim;
  bool bias = config.attentionOutputBias;
  if (latent.queryRank == 0) {
    add("attn_q", names.query, {queryRows, hidden}, where);
  } else {
    addWithBias("attn_q_down", names.queryDown, {latent.queryRank, hidden},
                where, bias);
    add("attn_q_down_norm", names.queryDownNorm, {latent.queryRank}, where);
    add("attn_q_up", names.queryUp, {queryRows, latent.queryRank}, where);
  }
  addWithBias("attn_latent", names.latent, {latent.rank, hidden}, where, bias);
  add("attn_latent_norm", names.latentNorm, {latent.rank}, where);
  addWithBias("attn_k_rotary", names.rotaryKey, {latent.rotaryDim, hidden},
              where, bias);
  int64_t raised = config.heads * (latent.contentDim + latent.valueDim);
  add("attn_kv_up", names.keyValueUp, {raised, latent.rank}, where);
  addWithBias("attn_out", names.attentionOutput,
              {hidden, config.heads * latent.valueDim}, where, bias);
}

void ParamTable::listNorms() {
  const ModelConfig &config = source.config;
  const WeightNames &names = source.names;
  if (config.norms != NormPlacement::Post) {
    add("attn_norm", names.attentionNorm, {config.hidden}, In::AllLayers);
    add("mlp_norm", names.mlpNorm, {config.hidden}, In::AllLayers);
  }
  if (config.norms != NormPlacement::Pre) {
    add("post_attn_norm", names.postAttentionNorm, {config.hidden},
        In::AllLayers);
    add("post_mlp_norm", names.postMlpNorm, {config.hidden}, In::AllLayers);
  }
}

void ParamTable::listExperts() {
  const ExpertsConfig &experts = source.config.experts;
  const WeightNames &names = source.names;
  int64_t hidden = source.config.hidden;
  int64_t inner = experts.intermediate;
  constexpr In where = In::ExpertLayers;
  add("router", names.router, {experts.count, hidden}, where);
  if (experts.correctionBias) {
    add("router_correction", names.routerBias, {experts.count}, where);
  }
  add("expert_gate", names.expertGate, {experts.count, inner, hidden}, where);
  add("expert_up", names.expertUp, {experts.count, inner, hidden}, where);
  add("expert_down", names.expertDown, {experts.count, hidden, inner}, where);
  if (int64_t shared = experts.sharedIntermediate; shared != 0) {
    add("shared_gate", names.sharedGate, {shared, hidden}, where);
    add("shared_up", names.sharedUp, {shared, hidden}, where);
    add("shared_down", names.sharedDown, {hidden, shared}, where);
  }
  if (experts.sharedGate) {
    add("shared_router", names.sharedRouter, {1, hidden}, where);
  }
}

void ParamTable::list() {
  const ModelConfig &config = source.config;
  const WeightNames &names = source.names;
  int64_t hidden = config.hidden;
  add("embedding", names.embedding, {config.vocabulary, hidden}, In::Step);
  add("final_norm", names.finalNorm, {hidden}, In::Step);
  if (!config.tiedHead) {
    addWithBias("head", names.head, {config.vocabulary, hidden}, In::Step,
                config.headBias);
  }
  if (config.latent.rank != 0) {
    listLatentAttention();
  } else {
    listAttention();
  }
  listNorms();
  if (config.hasDenseLayers()) {
    int64_t inner = config.intermediate;
    addWithBias("mlp_gate", names.gate, {inner, hidden}, In::DenseLayers,
                config.mlpBias);
    addWithBias("mlp_up", names.up, {inner, hidden}, In::DenseLayers,
                config.mlpBias);
    addWithBias("mlp_down", names.down, {hidden, inner}, In::DenseLayers,
                config.mlpBias);
  }
  if (config.hasExpertLayers()) {
    listExperts();
  }
}

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t size : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

FailureOr<lm::NumberFormat> ParamTable::checkTensor(const Param &param,
                                                    ArrayRef<int64_t> shape,
                                                    const std::string &name,
                                                    Location loc) {
  const TensorView *tensor = source.checkpoint->find(name);
  if (tensor == nullptr) {
    return emitError(loc) << "the checkpoint lacks tensor '" << name << "'";
  }
  used.insert(name);
  // A vector is stored as [n], a matrix as [outputs, inputs], a stack as
  // [matrices, outputs, inputs]; several weights may share a tensor's rows.
  std::vector<int64_t> wanted = shape.vec();
  if (param.name.rowTotal != 0) {
    wanted[shape.size() == 3 ? 1 : 0] = param.name.rowTotal;
  }
  // GGUF keeps a matrix of one row as a vector.
  bool oneRow = wanted.size() == 2 && wanted[0] == 1 &&
                tensor->shape == std::vector<int64_t>{wanted[1]};
  if (tensor->shape != wanted && !oneRow) {
    return emitError(loc) << "tensor '" << name << "' has shape "
                          << shapeText(tensor->shape)
                          << "; the configuration asks for "
                          << shapeText(wanted);
  }
  auto format = lm::symbolizeNumberFormat(numberFormatName(tensor->format));
  if (!format) {
    return emitError(loc) << "tensor '" << name << "' is stored as "
                          << llvm::StringRef(numberFormatName(tensor->format))
                          << ", which is not supported for weights";
  }
  return *format;
}

/// The format of all the tensors that hold the weight in one layer.
FailureOr<lm::NumberFormat>
ParamTable::checkTensors(const Param &param, int64_t layer, Location loc) {
  ArrayRef<int64_t> shape = param.shape;
  if (!param.name.perMatrix()) {
    return checkTensor(param, shape, param.name.inLayer(layer), loc);
  }
  FailureOr<lm::NumberFormat> first = failure();
  for (int64_t i = 0; i < shape.front(); ++i) {
    std::string name = param.name.inLayer(layer, i);
    auto format = checkTensor(param, shape.drop_front(), name, loc);
    if (failed(format)) {
      return failure();
    }
    first = i == 0 ? format : first;
    if (*format != *first) {
      return emitError(loc) << "tensor '" << name << "' is stored as "
                            << lm::stringifyNumberFormat(*format) << " where '"
                            << param.name.inLayer(layer, 0) << "' is "
                            << lm::stringifyNumberFormat(*first)
                            << "; the experts of a layer must be stored alike";
    }
  }
  return first;
}

bool ParamTable::exists(const Param &param, int64_t layer) const {
  switch (param.where) {
  case In::Step:
  case In::AllLayers:
    return true;
  case In::DenseLayers:
    return !source.config.layers[layer].experts;
  case In::ExpertLayers:
    return source.config.layers[layer].experts;
  }
  llvm_unreachable("all cases return");
}

LogicalResult ParamTable::lookUp(Param &param, Location loc) {
  int64_t layers = param.layered() ? int64_t(source.config.layers.size()) : 1;
  for (int64_t i = 0; i < layers; ++i) {
    if (!exists(param, i)) {
      param.formats.push_back(std::nullopt);
      continue;
    }
    if (source.checkpoint == nullptr) {
      bool vector = param.shape.size() == 1;
      param.formats.push_back(vector ? lm::NumberFormat::F32
                                     : source.assumedFormat);
      continue;
    }
    auto format = checkTensors(param, i, loc);
    if (failed(format)) {
      return failure();
    }
    param.formats.push_back(*format);
  }
  return success();
}

LogicalResult ParamTable::collect(Location loc) {
  list();
  for (Param &param : params) {
    if (failed(lookUp(param, loc))) {
      return failure();
    }
  }
  return source.checkpoint == nullptr ? success() : checkAllUsed(loc);
}

/// Tensors that files carry and that no decoder reads as a weight.
static bool isHarmless(llvm::StringRef name, const ModelConfig &config) {
  for (int64_t i = 0; i < config.draftLayers; ++i) {
    std::string number = std::to_string(config.layers.size() + i) + ".";
    if (name.starts_with("model.layers." + number) ||
        name.starts_with("blk." + number)) {
      return true;
    }
  }
  bool head = name == "lm_head.weight" || name == "output.weight";
  return name.ends_with("rotary_emb.inv_freq") ||
         name.starts_with("rope_freqs") || name.starts_with("rope_factors_") ||
         (head && config.tiedHead);
}

LogicalResult ParamTable::checkAllUsed(Location loc) const {
  for (const TensorView &tensor : source.checkpoint->tensors()) {
    if (!used.contains(tensor.name) &&
        !isHarmless(tensor.name, source.config)) {
      return emitError(loc)
             << "the checkpoint has a tensor '" << tensor.name
             << "' for which a " << source.config.architecture
             << " model has no place; it may belong to another architecture";
    }
  }
  return success();
}

static llvm::StringRef formatName(std::optional<lm::NumberFormat> format) {
  return format ? lm::stringifyNumberFormat(*format)
                : llvm::StringRef(lm::kNoFormat);
}

void ParamTable::emit(OpBuilder &builder) const {
  for (const Param &param : params) {
    llvm::SmallVector<Attribute> formats;
    bool uniform = llvm::all_equal(param.formats);
    for (std::optional<lm::NumberFormat> format : param.formats) {
      formats.push_back(builder.getStringAttr(formatName(format)));
      if (uniform) {
        break;
      }
    }
    Location loc = NameLoc::get(builder.getStringAttr(param.symbol));
    IntegerAttr layers;
    if (param.layered()) {
      layers = builder.getI64IntegerAttr(source.config.layers.size());
    }
    lm::ParamOp::create(builder, loc, builder.getStringAttr(param.symbol),
                        builder.getStringAttr(param.name.pattern),
                        builder.getDenseI64ArrayAttr(param.shape),
                        builder.getArrayAttr(formats), layers,
                        builder.getI64IntegerAttr(param.name.rowBegin));
  }
}

const ParamTable::Param &ParamTable::get(llvm::StringRef symbol) const {
  return params[bySymbol.at(symbol.str())];
}

bool ParamTable::has(llvm::StringRef symbol) const {
  return bySymbol.contains(symbol.str());
}

bool ParamTable::isLayered(llvm::StringRef symbol) const {
  return get(symbol).layered();
}

lm::WeightType ParamTable::typeOf(MLIRContext *context, llvm::StringRef symbol,
                                  int64_t layer) const {
  const Param &param = get(symbol);
  return lm::WeightType::get(context, param.shape,
                             *param.formats[param.layered() ? layer : 0]);
}

std::string ParamTable::formatKey(int64_t layer) const {
  std::string key;
  for (const Param &param : params) {
    if (param.layered()) {
      key += formatName(param.formats[layer]).str() + ",";
    }
  }
  return key;
}

} // namespace quire
