#include "tests/e2e/InterpretedModel.h"

#include "codegen/weights/PackWeights.h"
#include "codegen/weights/QuantizeRows.h"
#include "frontends/formats/Dequantize.h"
#include "ir/lm/Lm.h"
#include "ir/reference/Interpreter.h"
#include "ir/reference/WeightEvaluator.h"
#include "ir/rt/Rt.h"
#include "passes/Pipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

#include <numeric>

using namespace mlir;

namespace quire::e2e {

namespace {

/// Weights as an engine would store them, read back: parameters that stand for
/// an expression of the checkpoint's, rounded.
class DequantizedParams : public reference::ParamSource {
public:
  struct Rounded {
    Value expression;
    NumberFormat format;
  };
  using Expressions = llvm::StringMap<Rounded>; // by parameter

  DequantizedParams(const Checkpoint &checkpoint, Expressions expressions)
      : stored(checkpoint), expressions(std::move(expressions)),
        weights(stored, /*cacheBytes=*/0) {}

  FailureOr<reference::Weight> load(lm::ParamOp param, int64_t layer) override {
    auto found = expressions.find(param.getSymName());
    if (found == expressions.end()) {
      return stored.load(param, layer);
    }
    const Rounded &rounded = found->second;
    auto evaluated = weights.evaluate(rounded.expression, layer);
    if (failed(evaluated)) {
      return failure();
    }
    reference::Weight weight = **evaluated;
    int64_t inputs = weight.shape.back();
    std::vector<std::byte> bytes(storedRowBytes(rounded.format, inputs));
    for (size_t at = 0; at < weight.values.size(); at += inputs) {
      std::span<float> row(weight.values.data() + at, size_t(inputs));
      quantizeRow(rounded.format, row, bytes);
      if (rounded.format == NumberFormat::Int8Row) {
        dequantizeInt8Row(bytes, row);
      } else {
        dequantize(rounded.format, bytes, row);
      }
    }
    return weight;
  }

private:
  reference::CheckpointParams stored;
  Expressions expressions;
  reference::WeightEvaluator weights;
};

/// A parameter that an expression loads, a layer's where any is.
lm::LoadParamOp loadIn(Operation *expression) {
  if (auto load = dyn_cast<lm::LoadParamOp>(expression)) {
    return load;
  }
  lm::LoadParamOp found;
  for (Value operand : expression->getOperands()) {
    lm::LoadParamOp load = loadIn(operand.getDefiningOp());
    found = !found || load.getLayer() ? load : found;
  }
  return found;
}

} // namespace

InterpretedModel::InterpretedModel(const std::string &path,
                                   const ModelFormats &formats,
                                   int64_t maxContext) {
  context.loadDialect<lm::LmDialect, rt::RtDialect, func::FuncDialect>();
  auto opened = openCheckpoint(path);
  if (!opened.ok()) {
    ADD_FAILURE() << opened.status();
    return;
  }
  checkpoint = *std::move(opened);
  auto imported = importCheckpoint(context, *checkpoint, maxContext);
  PipelineOptions options;
  options.quantize = formats.quantize;
  options.kvFormat = formats.kv;
  options.mla = formats.mla;
  options.stopAfter = "numbers";
  if (failed(imported) ||
      failed(runPipeline(*imported->module, options,
                         [](auto &&...) { return success(); }))) {
    ADD_FAILURE() << "the pipeline failed";
    return;
  }
  model = *std::move(imported);
  params = std::make_unique<reference::CheckpointParams>(*checkpoint);
}

std::vector<float> InterpretedModel::logits(std::span<const int64_t> ids,
                                            int32_t prompt) {
  if (!model.module) {
    return {};
  }
  reference::Interpreter interpreter(*model.module, *params);
  std::vector<int32_t> tokens(ids.begin(), ids.end());
  auto input = reference::chainStep(tokens, 0, interpreter.pageSizes(), prompt);
  input.logitRow.resize(tokens.size());
  std::iota(input.logitRow.begin(), input.logitRow.end(), 0);
  auto rows = interpreter.step(input);
  if (failed(rows)) {
    ADD_FAILURE() << "the interpreter failed";
    return {};
  }
  return rows->values;
}

void InterpretedModel::dequantizeParameters() {
  if (!model.module) {
    return;
  }
  DequantizedParams::Expressions expressions;
  OpBuilder builder(model.module->getBodyRegion());
  SmallVector<lm::ConvertWeightOp> conversions;
  model.module->walk(
      [&](lm::ConvertWeightOp convert) { conversions.push_back(convert); });
  for (lm::ConvertWeightOp convert : conversions) {
    lm::LoadParamOp load = loadIn(convert);
    auto param = model.module->lookupSymbol<lm::ParamOp>(load.getParam());
    lm::WeightType type = convert.getOutput().getType();
    StringRef format = lm::stringifyNumberFormat(type.getFormat());
    std::string name = "rounded_" + std::to_string(expressions.size());
    builder.setInsertionPointToStart(model.module->getBody());
    lm::ParamOp::create(builder, convert.getLoc(), name,
                        name + (load.getLayer() ? ".{}" : ""), type.getShape(),
                        builder.getStrArrayAttr(format), param.getLayersAttr());
    expressions[name] = {convert.getInput(), *parseNumberFormat(format)};
    builder.setInsertionPoint(convert);
    convert.getOutput().replaceAllUsesWith(lm::LoadParamOp::create(
        builder, convert.getLoc(), type, name, load.getLayer()));
  }
  params =
      std::make_unique<DequantizedParams>(*checkpoint, std::move(expressions));
}

} // namespace quire::e2e
