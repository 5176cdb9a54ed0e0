// What the end-to-end tests share: engines compiled by the build tree's
// quire-compile into a directory that lives as long as the test program, and
// what such an engine says of given tokens.

#ifndef QUIRE_TESTS_E2E_HARNESS_H
#define QUIRE_TESTS_E2E_HARNESS_H

#include "runtime/Engine.h"

#include <memory>
#include <string>
#include <vector>

namespace quire::e2e {

inline constexpr const char *kTinyModel = QUIRE_TINY_MODEL;
inline constexpr const char *kCompiler = QUIRE_COMPILE_PROGRAM;
inline constexpr const char *kQuire = QUIRE_PROGRAM;
inline constexpr const char *kIsaLevels[] = {"portable", "avx2", "avx512"};

/// An engine of `model`, compiled at the first call for these options. Empty
/// after a failure, which is reported to the test.
std::string engineFor(const std::string &model,
                      const std::vector<std::string> &options);

/// models/tiny for this CPU's best ISA level only, which is quick to compile.
std::string tinyEngine(std::vector<std::string> options = {});

/// The loaded engine, or null after a failure, which is reported.
std::unique_ptr<Engine> load(const std::string &path,
                             EngineOptions options = {.threads = 1});

/// Logits [tokens, vocabulary] of Engine::score.
std::vector<float> scoreOf(Engine &engine, const std::vector<int64_t> &tokens,
                           const ScoreOptions &options = {});

/// A beginning-of-text token and pseudo-random ones of the bundled model; each
/// `seed` has its own.
std::vector<int64_t> tinyTokens(int64_t count, uint64_t seed = 0);

/// A file or directory named by an environment variable, "" where it is unset
/// or names nothing.
std::string fromEnvironment(const char *variable);

/// A real model's file, where tools/fetch-model has put it; "" where it has
/// not.
std::string realModel(const std::string &file);

} // namespace quire::e2e

#endif
