// A small rt module with one of everything that code generation must get
// right (two layers of one kind, a generated function, several parts in a
// launch, logit rows), a checkpoint for it, and what it computes,
// written again in plain loops.

#ifndef QUIRE_TESTS_CODEGEN_ENGINE_TINYMODULE_H
#define QUIRE_TESTS_CODEGEN_ENGINE_TINYMODULE_H

#include "frontends/formats/Checkpoint.h"

#include <memory>
#include <string>
#include <vector>

namespace quire::test {

inline constexpr int64_t kFeatures = 64;
inline constexpr int64_t kVocabulary = 96;
inline constexpr int64_t kLayers = 2;
inline constexpr int64_t kRows = 3;

/// A Hugging Face directory with random weights from a fixed seed.
std::unique_ptr<Checkpoint> tinyCheckpoint(const std::string &directory);

/// The rt module's text.
std::string tinyModule();

/// Logits [logitRows, vocabulary] of the rows that hold these tokens.
std::vector<float> tinyLogits(const Checkpoint &checkpoint,
                              const std::vector<int32_t> &tokens,
                              const std::vector<int32_t> &logitRows);

} // namespace quire::test

#endif
