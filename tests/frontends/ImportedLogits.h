// What the interpreter computes of a checkpoint as it is imported.

#ifndef QUIRE_TESTS_FRONTENDS_IMPORTEDLOGITS_H
#define QUIRE_TESTS_FRONTENDS_IMPORTEDLOGITS_H

#include "frontends/Import.h"
#include "ir/reference/CheckpointParams.h"
#include "ir/reference/Interpreter.h"
#include "tests/frontends/TinyWeights.h"

#include "gtest/gtest.h"

#include <cmath>

namespace quire::test {

/// Logits of 33 positions, or nothing.
inline std::vector<float> logitsOf(const std::string &path) {
  mlir::MLIRContext context;
  auto checkpoint = openCheckpoint(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  auto model = importCheckpoint(context, **checkpoint, 0);
  if (mlir::failed(model)) {
    return {};
  }
  reference::CheckpointParams params(**checkpoint);
  reference::Interpreter interpreter(*model->module, params);
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 33; ++i) {
    tokens.push_back((i * 29 + 3) % int32_t(TinyWeights::kVocabulary));
  }
  auto input = reference::chainStep(tokens, 0, interpreter.pageSizes());
  input.logitRow.resize(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    input.logitRow[i] = int32_t(i);
  }
  auto logits = interpreter.step(input);
  return mlir::succeeded(logits) ? logits->values : std::vector<float>();
}

inline void expectNear(const std::vector<float> &got,
                       const std::vector<float> &wanted) {
  ASSERT_FALSE(wanted.empty());
  ASSERT_EQ(got.size(), wanted.size());
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::fabs(got[i] - wanted[i]));
  }
  EXPECT_LE(worst, 1e-4f);
}

} // namespace quire::test

#endif
