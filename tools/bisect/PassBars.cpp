#include "tools/bisect/PassBars.h"

namespace quire::bisect {

namespace {

// Only the order of sums in double may change.
constexpr double kRewriteBar = 1e-5;
// Wrong logits differ from right ones by 1.4 deviations where the two have
// nothing in common. These tell rounding from that, not good from bad rounding:
// where rounding turns a router to another expert, logits move by 0.3.
constexpr double kInt8ActivationBar = 0.5;

struct FormatBar {
  std::string_view format;
  double bar;
};
// "keep" may still turn a router's scores into f32, which changes nothing.
constexpr FormatBar kFormatBars[] = {
    {"f32", kRewriteBar}, {"keep", kRewriteBar}, {"f16", 0.01}, {"bf16", 0.05},
    {"int8", 0.5},        {"int4", 1.0},         {"int4a", 1.0}};

double barOfFormat(std::string_view format) {
  for (const FormatBar &known : kFormatBars) {
    if (known.format == format) {
      return known.bar;
    }
  }
  return kRewriteBar;
}

} // namespace

double barOf(Rounds rounds, const PipelineOptions &options) {
  switch (rounds) {
  case Rounds::Nothing:
    return kRewriteBar;
  case Rounds::Cache:
    return barOfFormat(options.kvFormat);
  case Rounds::Weights:
    return barOfFormat(options.quantize);
  case Rounds::Activations:
    return kInt8ActivationBar;
  }
  return kRewriteBar;
}

double barOf(std::string_view name, const PipelineOptions &options) {
  for (const Phase &phase : pipelinePhases()) {
    for (const PipelinePass &pass : phase.passes) {
      if (pass.name == name) {
        return barOf(pass.rounds, options);
      }
    }
  }
  return kRewriteBar;
}

} // namespace quire::bisect
