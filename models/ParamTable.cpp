#include "models/ParamTable.h"

#include "frontends/formats/Checkpoint.h"

using namespace mlir;

namespace quire {

void ParamTable::add(const char *symbol, const WeightName &name,
                     std::vector<int64_t> shape, bool layered) {
  bySymbol[symbol] = params.size();
  params.push_back({symbol, name, std::move(shape), layered, {}});
}

void ParamTable::addWithBias(const char *symbol, const WeightName &name,
                             std::vector<int64_t> shape, bool layered,
                             bool bias) {
  int64_t rows = shape[0];
  add(symbol, name, std::move(shape), layered);
  if (bias) {
    std::string biasSymbol = std::string(symbol) + "_bias";
    add(biasSymbol.c_str(), name.bias(), {rows}, layered);
  }
}

void ParamTable::list() {
  const ModelConfig &config = source.config;
  const WeightNames &names = source.names;
  int64_t hidden = config.hidden;
  int64_t queryRows = config.heads * config.headDim;
  int64_t keyRows = config.kvHeads * config.headDim;

  add("embedding", names.embedding, {config.vocabulary, hidden}, false);
  add("final_norm", names.finalNorm, {hidden}, false);
  if (!config.tiedHead) {
    addWithBias("head", names.head, {config.vocabulary, hidden}, false,
                config.headBias);
  }
  bool qkvBias = config.queryKeyValueBias;
  addWithBias("attn_q", names.query, {queryRows, hidden}, true, qkvBias);
  addWithBias("attn_k", names.key, {keyRows, hidden}, true, qkvBias);
  addWithBias("attn_v", names.value, {keyRows, hidden}, true, qkvBias);
  addWithBias("attn_out", names.attentionOutput, {hidden, queryRows}, true,
              config.attentionOutputBias);
  if (config.queryKeyNorm != QueryKeyNorm::None) {
    bool full = config.queryKeyNorm == QueryKeyNorm::Full;
    add("attn_q_norm", names.queryNorm, {full ? queryRows : config.headDim},
        true);
    add("attn_k_norm", names.keyNorm, {full ? keyRows : config.headDim}, true);
  }
  if (config.norms != NormPlacement::Post) {
    add("attn_norm", names.attentionNorm, {hidden}, true);
    add("mlp_norm", names.mlpNorm, {hidden}, true);
  }
  if (config.norms != NormPlacement::Pre) {
    add("post_attn_norm", names.postAttentionNorm, {hidden}, true);
    add("post_mlp_norm", names.postMlpNorm, {hidden}, true);
  }
  int64_t inner = config.intermediate;
  addWithBias("mlp_gate", names.gate, {inner, hidden}, true, config.mlpBias);
  addWithBias("mlp_up", names.up, {inner, hidden}, true, config.mlpBias);
  addWithBias("mlp_down", names.down, {hidden, inner}, true, config.mlpBias);
}

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t size : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

FailureOr<lm::NumberFormat> ParamTable::checkTensor(const Param &param,
                                                    const std::string &name,
                                                    Location loc) {
  const TensorView *tensor = source.checkpoint->find(name);
  if (tensor == nullptr) {
    return emitError(loc) << "the checkpoint lacks tensor '" << name << "'";
  }
  used.insert(name);
  // A vector is stored as [n], a matrix as [outputs, inputs]; several weights
  // may share a tensor's rows.
  bool fits = tensor->shape.size() == param.shape.size();
  for (size_t i = 1; fits && i < param.shape.size(); ++i) {
    fits = tensor->shape[i] == param.shape[i];
  }
  std::vector<int64_t> wanted = param.shape;
  if (param.name.rowTotal != 0) {
    wanted[0] = param.name.rowTotal;
  }
  fits = fits && tensor->shape[0] == wanted[0];
  if (!fits) {
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

LogicalResult ParamTable::lookUp(Param &param, Location loc) {
  size_t layers = param.layered ? source.config.layers.size() : 1;
  for (size_t i = 0; i < layers; ++i) {
    if (source.checkpoint == nullptr) {
      bool vector = param.shape.size() == 1;
      param.formats.push_back(vector ? lm::NumberFormat::F32
                                     : source.assumedFormat);
      continue;
    }
    auto format = checkTensor(param, param.name.inLayer(int64_t(i)), loc);
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

void ParamTable::emit(OpBuilder &builder) const {
  for (const Param &param : params) {
    llvm::SmallVector<Attribute> formats;
    bool uniform = llvm::all_equal(param.formats);
    for (lm::NumberFormat format : param.formats) {
      formats.push_back(
          builder.getStringAttr(lm::stringifyNumberFormat(format)));
      if (uniform) {
        break;
      }
    }
    Location loc = NameLoc::get(builder.getStringAttr(param.symbol));
    IntegerAttr layers;
    if (param.layered) {
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
  return get(symbol).layered;
}

lm::WeightType ParamTable::typeOf(MLIRContext *context, llvm::StringRef symbol,
                                  int64_t layer) const {
  const Param &param = get(symbol);
  return lm::WeightType::get(context, param.shape,
                             param.formats[param.layered ? layer : 0]);
}

std::string ParamTable::formatKey(int64_t layer) const {
  std::string key;
  for (const Param &param : params) {
    if (param.layered) {
      key += lm::stringifyNumberFormat(param.formats[layer]).str() + ",";
    }
  }
  return key;
}

} // namespace quire
