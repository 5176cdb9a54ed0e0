// The parameters of a decoder as `lm.param` ops: which weights a config has,
// with their names, shapes and number formats, checked against the checkpoint
// where there is one.

#ifndef QUIRE_MODELS_PARAMTABLE_H
#define QUIRE_MODELS_PARAMTABLE_H

#include "ir/lm/Lm.h"
#include "models/ModelConfig.h"
#include "models/WeightNames.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quire {

class Checkpoint;

/// What a decoder is built from. Without a checkpoint every weight is taken
/// to be stored as `assumedFormat`.
struct DecoderSource {
  const ModelConfig &config;
  WeightNames names;
  const Checkpoint *checkpoint = nullptr;
  lm::NumberFormat assumedFormat = lm::NumberFormat::BF16;
};

class ParamTable {
public:
  explicit ParamTable(const DecoderSource &source) : source(source) {}

  /// Lists the config's weights and looks each up. Errors name the tensor.
  mlir::LogicalResult collect(mlir::Location loc);
  /// Refuses tensors that the model has no place for.
  mlir::LogicalResult checkAllUsed(mlir::Location loc) const;
  /// Writes one `lm.param` per weight.
  void emit(mlir::OpBuilder &builder) const;

  bool has(llvm::StringRef symbol) const;
  /// The weight's type in layer `layer` (0 for weights not of a layer).
  lm::WeightType typeOf(mlir::MLIRContext *context, llvm::StringRef symbol,
                        int64_t layer) const;
  bool isLayered(llvm::StringRef symbol) const;
  /// A key that is equal for layers whose weights have equal formats.
  std::string formatKey(int64_t layer) const;

private:
  struct Param {
    std::string symbol;
    WeightName name;
    std::vector<int64_t> shape;
    bool layered = false;
    std::vector<lm::NumberFormat> formats; // one a layer, or one
  };

  void list();
  void add(const char *symbol, const WeightName &name,
           std::vector<int64_t> shape, bool layered);
  void addWithBias(const char *symbol, const WeightName &name,
                   std::vector<int64_t> shape, bool layered, bool bias);
  mlir::LogicalResult lookUp(Param &param, mlir::Location loc);
  mlir::FailureOr<lm::NumberFormat>
  checkTensor(const Param &param, const std::string &name, mlir::Location loc);

  const Param &get(llvm::StringRef symbol) const;

  const DecoderSource &source;
  std::vector<Param> params;
  std::map<std::string, size_t> bySymbol;
  std::set<std::string> used;
};

} // namespace quire

#endif
