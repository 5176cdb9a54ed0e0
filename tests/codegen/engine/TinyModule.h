// A small rt module with one of everything that code generation must get
// right (two layers of one kind, a generated function, several parts in a
// launch, logit rows), a checkpoint for it in memory, and what it computes,
// written again in plain loops.

#ifndef QUIRE_TESTS_CODEGEN_ENGINE_TINYMODULE_H
#define QUIRE_TESTS_CODEGEN_ENGINE_TINYMODULE_H

#include "frontends/formats/Checkpoint.h"

#include "nlohmann/json.hpp"

#include <map>
#include <string>
#include <vector>

namespace quire::test {

inline constexpr int64_t kFeatures = 64;
inline constexpr int64_t kVocabulary = 96;
inline constexpr int64_t kLayers = 2;
inline constexpr int64_t kRows = 3;

/// Ends in a checkpoint's place: f32 tensors by name.
class MemoryCheckpoint : public Checkpoint {
public:
  void add(const std::string &name, std::vector<int64_t> shape,
           std::vector<float> values);

  CheckpointKind kind() const override { return CheckpointKind::HuggingFace; }
  const std::string &path() const override { return name; }
  const TensorView *find(std::string_view tensor) const override;
  const std::vector<TensorView> &tensors() const override { return views; }
  const nlohmann::json &config() const override { return json; }

private:
  std::string name = "memory";
  nlohmann::json json;
  std::vector<TensorView> views;
  std::map<std::string, std::vector<float>> contents;
};

/// Random weights from a fixed seed.
MemoryCheckpoint tinyCheckpoint();

/// The rt module's text.
std::string tinyModule();

/// Logits [logitRows, vocabulary] of the rows that hold these tokens.
std::vector<float> tinyLogits(const Checkpoint &checkpoint,
                              const std::vector<int32_t> &tokens,
                              const std::vector<int32_t> &logitRows);

} // namespace quire::test

#endif
