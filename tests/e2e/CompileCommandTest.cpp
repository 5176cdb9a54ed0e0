// What quire-compile leaves on disk: a whole engine or nothing, whatever stops
// it.

#include "tests/e2e/DamagedCopy.h"
#include "tests/e2e/Harness.h"
#include "tests/e2e/Program.h"

#include "gtest/gtest.h"

namespace quire::e2e {
namespace {

namespace fs = std::filesystem;

class CompileCommandTest : public testing::Test {
protected:
  Outcome compile(std::vector<std::string> more = {}, RunLimits limits = {}) {
    std::vector<std::string> command = {kCompiler, kTinyModel, "-o", output,
                                        "--quiet"};
    command.insert(command.end(), more.begin(), more.end());
    return runProgram(command, limits);
  }

  std::vector<std::string> contents() const {
    std::vector<std::string> names;
    for (auto &entry : fs::directory_iterator(folder.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  test::TemporaryDirectory folder;
  std::string output = folder.file("engine");
};

TEST_F(CompileCommandTest, InterruptedLeavesNothing) {
  int interrupted = 0;
  for (double seconds : {0.0, 0.03, 0.06, 0.1, 0.2, 0.3}) {
    // All levels: long enough to be interrupted at any of these moments.
    Outcome outcome = compile({}, {.seconds = 60, .interruptAt = seconds});
    if (outcome.status == 0) {
      EXPECT_EQ(contents(), std::vector<std::string>{"engine"});
      fs::remove_all(output);
      continue;
    }
    ++interrupted;
    EXPECT_EQ(outcome.status, 130) << seconds << " s: " << outcome.errors;
    EXPECT_EQ(contents(), std::vector<std::string>{}) << seconds << " s";
  }
  EXPECT_GE(interrupted, 3);
}

TEST_F(CompileCommandTest, InterruptedKeepsTheEngineItWouldReplace) {
  fs::copy(tinyEngine(), output);
  Outcome outcome =
      compile({"--force", "--quantize", "int8"}, {.interruptAt = 0.1});
  EXPECT_EQ(outcome.status, 130) << outcome.errors;
  EXPECT_EQ(contents(), std::vector<std::string>{"engine"});
  auto engine = load(output);
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(engine->engineDirectory()->manifest().options().at("quantize"),
            "keep");
}

TEST_F(CompileCommandTest, ReplacesOnlyByForceAndOnlyEngines) {
  fs::copy(tinyEngine(), output);
  EXPECT_EQ(faultOf(compile(), 1), "");
  EXPECT_NE(compile().errors.find("--force"), std::string::npos);
  EXPECT_EQ(compile({"--force", "--isa", "portable"}).status, 0);
  EXPECT_EQ(contents(), std::vector<std::string>{"engine"});

  fs::remove_all(output);
  fs::create_directory(output);
  std::ofstream(output + "/thesis.txt") << "the only copy";
  EXPECT_EQ(faultOf(compile({"--force"}), 1), "");
  EXPECT_TRUE(fs::exists(output + "/thesis.txt"));
}

TEST_F(CompileCommandTest, UnwritableOutput) {
  output = folder.file("missing/engine");
  EXPECT_EQ(faultOf(compile(), 1), "");
  std::ofstream(folder.file("file")) << "not a directory";
  output = folder.file("file/engine");
  EXPECT_EQ(faultOf(compile(), 1), "");
  output = "/proc/engine"; // also root cannot write there
  EXPECT_EQ(faultOf(compile(), 1), "");
  EXPECT_EQ(contents(), std::vector<std::string>{"file"});
}

TEST_F(CompileCommandTest, FullDisk) {
  // A limit on the size of files stands in for a full disk: the weights are
  // larger.
  Outcome outcome = runProgram(
      {"/bin/sh", "-c", "ulimit -f 1000; trap '' XFSZ; exec \"$0\" \"$@\"",
       kCompiler, kTinyModel, "-o", output, "--quiet", "--isa", "portable"});
  EXPECT_EQ(faultOf(outcome, 1), "");
  EXPECT_EQ(contents(), std::vector<std::string>{});
}

TEST_F(CompileCommandTest, WrongCommandLines) {
  for (const std::vector<std::string> &more :
       std::vector<std::vector<std::string>>{{"--quantize", "int3"},
                                             {"--kv", "f8"},
                                             {"--page-size", "0"},
                                             {"--page-size", "-1"},
                                             {"--page-size", "many"},
                                             {"--max-context", "0"},
                                             {"--max-batch-tokens", "0"},
                                             {"--isa", "z80"},
                                             {"--tp", "3"},
                                             {"--target", "tpu"},
                                             {"--disable-pass", "nonsuch"},
                                             {"--stop-after", "nonsuch"},
                                             {"--nonsuch"}}) {
    Outcome outcome = compile(more);
    // Values that only the compiler can judge may count as failed work.
    EXPECT_EQ(faultOf(outcome, outcome.status == 1 ? 1 : 2), "") << more[0];
    EXPECT_EQ(contents(), std::vector<std::string>{}) << more[0];
  }
}

} // namespace
} // namespace quire::e2e
