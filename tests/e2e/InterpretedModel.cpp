#include "tests/e2e/InterpretedModel.h"

#include "codegen/weights/PackWeights.h"
#include "codegen/weights/QuantizeRows.h"
#include "frontends/formats/Dequantize.h"
#include "ir/lm/Lm.h"
#include "ir/reference/Interpreter.h"
#include "ir/rt/Rt.h"
#include "passes/Pipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

#include <numeric>

using namespace mlir;

namespace quire::e2e {

namespace {

/// Parameters as an engine would store them, read back.
class DequantizedParams : public reference::ParamSource {
public:
  using Formats = std::map<std::string, NumberFormat>;

  DequantizedParams(const Checkpoint &checkpoint, Formats formats)
      : stored(checkpoint), formats(std::move(formats)) {}

  FailureOr<reference::Weight> load(lm::ParamOp param, int64_t layer) override {
    auto weight = stored.load(param, layer);
    auto format = formats.find(param.getSymName().str());
    if (failed(weight) || format == formats.end()) {
      return weight;
    }
    int64_t inputs = weight->shape.back();
    std::vector<std::byte> bytes(storedRowBytes(format->second, inputs));
    for (size_t at = 0; at < weight->values.size(); at += inputs) {
      std::span<float> row(weight->values.data() + at, size_t(inputs));
      quantizeRow(format->second, row, bytes);
      if (format->second == NumberFormat::Int8Row) {
        dequantizeInt8Row(bytes, row);
      } else {
        dequantize(format->second, bytes, row);
      }
    }
    return weight;
  }

private:
  reference::CheckpointParams stored;
  Formats formats;
};

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

std::vector<float> InterpretedModel::logits(std::span<const int64_t> ids) {
  if (!model.module) {
    return {};
  }
  reference::Interpreter interpreter(*model.module, *params);
  std::vector<int32_t> tokens(ids.begin(), ids.end());
  auto input = reference::chainStep(tokens, 0, interpreter.pageSizes());
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
  DequantizedParams::Formats formats;
  model.module->walk([&](lm::ConvertWeightOp convert) {
    Operation *source = convert.getInput().getDefiningOp();
    while (source->getNumOperands() == 1 && !isa<lm::LoadParamOp>(source)) {
      source = source->getOperand(0).getDefiningOp();
    }
    auto load = cast<lm::LoadParamOp>(source);
    auto format = *parseNumberFormat(
        lm::stringifyNumberFormat(convert.getOutput().getType().getFormat()));
    auto [known, isNew] =
        formats.emplace(load.getParamAttr().getValue().str(), format);
    EXPECT_TRUE(isNew || known->second == format)
        << known->first << " is stored in two formats";
    // The interpreter works with values; the formats of types mean nothing to
    // it.
    convert.getOutput().replaceAllUsesWith(convert.getInput());
    convert.erase();
  });
  params = std::make_unique<DequantizedParams>(*checkpoint, std::move(formats));
}

} // namespace quire::e2e
