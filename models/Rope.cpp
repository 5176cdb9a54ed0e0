#include "models/Rope.h"

#include "frontends/formats/StrCat.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace quire {

/// base^(-2i/dim) as PyTorch computes it: in f32 throughout, since tables made
/// in double differ in the last bit and so, at long positions, in the angle.
static std::vector<float> plainFrequencies(double base, int64_t dim) {
  std::vector<float> result(dim / 2);
  for (int64_t i = 0; i < dim / 2; ++i) {
    float exponent = static_cast<float>(2 * i) / static_cast<float>(dim);
    result[i] = 1.0f / std::pow(static_cast<float>(base), exponent);
  }
  return result;
}

/// Llama 3.1: long wavelengths are divided by `factor`, short ones kept, those
/// between blended.
static void applyLlama3(const RopeConfig &config, std::vector<float> &table) {
  double context = static_cast<double>(config.originalContext);
  double lowWavelength = context / config.lowFrequencyFactor;
  double highWavelength = context / config.highFrequencyFactor;
  for (float &frequency : table) {
    double wavelength = 2 * std::numbers::pi / frequency;
    if (wavelength > lowWavelength) {
      frequency = static_cast<float>(frequency / config.factor);
    } else if (wavelength >= highWavelength) {
      double smooth = (context / wavelength - config.lowFrequencyFactor) /
                      (config.highFrequencyFactor - config.lowFrequencyFactor);
      frequency = static_cast<float>((1 - smooth) * frequency / config.factor +
                                     smooth * frequency);
    }
  }
}

/// The channel pair that turns `rotations` times over the original context
/// (YaRN, Peng et al. 2023, equation 17 solved for the dimension).
static double yarnDimension(const RopeConfig &config, double rotations) {
  double dim = static_cast<double>(config.rotaryDim);
  double context = static_cast<double>(config.originalContext);
  return dim * std::log(context / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(config.base));
}

double yarnMagnitude(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

static void applyYarn(const RopeConfig &config, RopeTable &table) {
  double low = yarnDimension(config, config.betaFast);
  double high = yarnDimension(config, config.betaSlow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(config.rotaryDim - 1));
  if (low == high) {
    high += 0.001;
  }
  for (size_t i = 0; i < table.inverseFrequency.size(); ++i) {
    double ramp =
        std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    double plain = table.inverseFrequency[i];
    table.inverseFrequency[i] =
        static_cast<float>(plain / config.factor * ramp + plain * (1 - ramp));
  }
  if (config.attentionFactor) {
    table.amplitude = *config.attentionFactor;
  } else if (config.mscale != 0 && config.mscaleAllDim != 0) {
    table.amplitude = yarnMagnitude(config.factor, config.mscale) /
                      yarnMagnitude(config.factor, config.mscaleAllDim);
  } else {
    table.amplitude = yarnMagnitude(config.factor, 1);
  }
}

static absl::Status applyLongRope(const RopeConfig &config, int64_t context,
                                  RopeTable &table) {
  bool isLong = context > config.originalContext;
  const std::vector<double> &factors =
      isLong ? config.longFactor : config.shortFactor;
  if (factors.size() != table.inverseFrequency.size()) {
    return absl::InvalidArgumentError(strCat(
        isLong ? "long_factor" : "short_factor", " of the rope scaling has ",
        factors.size(), " entries; this model rotates ",
        table.inverseFrequency.size(), " channel pairs"));
  }
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!(factors[i] > 0)) {
      return absl::InvalidArgumentError(
          strCat("entry ", i, " of the rope scaling's factors is ", factors[i],
                 "; it must be positive"));
    }
    float exponent =
        static_cast<float>(2 * i) / static_cast<float>(config.rotaryDim);
    table.inverseFrequency[i] =
        1.0f / (static_cast<float>(factors[i]) *
                std::pow(static_cast<float>(config.base), exponent));
  }
  if (config.attentionFactor) {
    table.amplitude = *config.attentionFactor;
  } else if (config.factor > 1) {
    table.amplitude = std::sqrt(
        1 + std::log(config.factor) /
                std::log(static_cast<double>(config.originalContext)));
  }
  return absl::OkStatus();
}

static absl::Status check(const RopeConfig &config) {
  if (config.rotaryDim <= 0 || config.rotaryDim % 2 != 0) {
    return absl::InvalidArgumentError(
        strCat("the rotary width is ", config.rotaryDim, "; it must be even"));
  }
  if (!(config.base > 1)) {
    return absl::InvalidArgumentError(
        strCat("rope_theta is ", config.base, "; it must be above 1"));
  }
  if (!(config.factor > 0)) {
    return absl::InvalidArgumentError(strCat(
        "the rope scaling factor is ", config.factor, "; it must be positive"));
  }
  bool needsContext = config.kind == RopeKind::Llama3 ||
                      config.kind == RopeKind::Yarn ||
                      config.kind == RopeKind::LongRope;
  if (needsContext && config.originalContext <= 0) {
    return absl::InvalidArgumentError(
        "the rope scaling lacks original_max_position_embeddings");
  }
  if (config.kind == RopeKind::Dynamic &&
      (config.maxContext <= 0 || config.rotaryDim <= 2)) {
    return absl::InvalidArgumentError(
        "dynamic rope scaling needs max_position_embeddings and a rotary "
        "width above 2");
  }
  return absl::OkStatus();
}

absl::StatusOr<RopeTable> makeRopeTable(const RopeConfig &config,
                                        int64_t context) {
  if (absl::Status status = check(config); !status.ok()) {
    return status;
  }
  RopeTable table;
  table.inverseFrequency = plainFrequencies(config.base, config.rotaryDim);
  switch (config.kind) {
  case RopeKind::Default:
    break;
  case RopeKind::Linear:
    for (float &frequency : table.inverseFrequency) {
      frequency /= static_cast<float>(config.factor);
    }
    break;
  case RopeKind::Llama3:
    applyLlama3(config, table.inverseFrequency);
    break;
  case RopeKind::Yarn:
    applyYarn(config, table);
    break;
  case RopeKind::Dynamic:
    table.dynamicContext = config.maxContext;
    table.dynamicBase = config.base;
    table.dynamicFactor = config.factor;
    break;
  case RopeKind::LongRope:
    if (absl::Status status = applyLongRope(config, context, table);
        !status.ok()) {
      return status;
    }
    break;
  }
  if (!config.frequencyDivisors.empty()) {
    if (config.frequencyDivisors.size() != table.inverseFrequency.size()) {
      return absl::InvalidArgumentError(strCat(
          "the rope frequency divisors have ", config.frequencyDivisors.size(),
          " entries; this model rotates ", table.inverseFrequency.size(),
          " channel pairs"));
    }
    for (size_t i = 0; i < table.inverseFrequency.size(); ++i) {
      if (!(config.frequencyDivisors[i] > 0)) {
        return absl::InvalidArgumentError(
            strCat("rope frequency divisor ", i, " is ",
                   config.frequencyDivisors[i], "; it must be positive"));
      }
      table.inverseFrequency[i] /= config.frequencyDivisors[i];
    }
  }
  return table;
}

} // namespace quire
