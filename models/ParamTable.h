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
  /// The weight's type in layer `layer` (0 for weights not of a layer), which
  /// must have it.
  lm::WeightType typeOf(mlir::MLIRContext *context, llvm::StringRef symbol,
                        int64_t layer) const;
  bool isLayered(llvm::StringRef symbol) const;
  /// A key that is equal for layers whose weights have equal formats.
  std::string formatKey(int64_t layer) const;

private:
  /// Which layers have a weight.
  enum class In { Step, AllLayers, DenseLayers, ExpertLayers };

  struct Param {
    std::string symbol;
    WeightName name;
    std::vector<int64_t> shape;
    In where = In::Step;
    /// One a layer (nothing where the layer lacks it), or one.
    std::vector<std::optional<lm::NumberFormat>> formats;

    bool layered() const { return where != In::Step; }
  };

  void list();
  void listAttention();
  void listLatentAttention();
  void listNorms();
  void listExperts();
  void add(const char *symbol, const WeightName &name,
           std::vector<int64_t> shape, In where);
  void addWithBias(const char *symbol, const WeightName &name,
                   std::vector<int64_t> shape, In where, bool bias);
  bool exists(const Param &param, int64_t layer) const;
  mlir::LogicalResult lookUp(Param &param, mlir::Location loc);
  mlir::FailureOr<lm::NumberFormat>
  checkTensors(const Param &param, int64_t layer, mlir::Location loc);
  mlir::FailureOr<lm::NumberFormat> checkTensor(const Param &param,
                                                llvm::ArrayRef<int64_t> shape,
                                                const std::string &name,
                                                mlir::Location loc);

  const Param &get(llvm::StringRef symbol) const;

  const DecoderSource &source;
  std::vector<Param> params;
  std::map<std::string, size_t> bySymbol;
  std::set<std::string> used;
};

} // namespace quire

#endif
