// A checkpoint in given formats, lowered until its numbers are decided, and
// interpreted: what engines of it are judged by. Failures are reported to the
// test.

#ifndef QUIRE_TESTS_E2E_INTERPRETEDMODEL_H
#define QUIRE_TESTS_E2E_INTERPRETEDMODEL_H

#include "frontends/Import.h"
#include "ir/reference/CheckpointParams.h"

#include "mlir/IR/MLIRContext.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quire::e2e {

/// As --quantize, --kv and --mla spell them.
struct ModelFormats {
  std::string quantize;
  std::string kv;
  std::string mla = "auto";
};

class InterpretedModel {
public:
  /// `maxContext` 0: the model's own.
  InterpretedModel(const std::string &checkpoint, const ModelFormats &formats,
                   int64_t maxContext = 0);

  /// Logits of every token, the first `prompt` of which are a prompt (-1: all
  /// of them); empty after a failure.
  std::vector<float> logits(std::span<const int64_t> ids, int32_t prompt = -1);

  /// Puts parameters in the place of converted weights, their values rounded
  /// by the packer's quantiser: from now on this is the same model on
  /// dequantised weights.
  void dequantizeParameters();

private:
  mlir::MLIRContext context;
  std::unique_ptr<Checkpoint> checkpoint;
  ImportedModel model; // no module after a failure
  std::unique_ptr<reference::ParamSource> params;
};

} // namespace quire::e2e

#endif
