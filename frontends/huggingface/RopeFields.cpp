#include "frontends/huggingface/RopeFields.h"

#include "frontends/formats/Json.h"

#include "frontends/formats/StrCat.h"
#include "nlohmann/json.hpp"

#include <array>
#include <optional>

namespace quire::huggingface {

using nlohmann::json;

static constexpr std::array kRopeFields = {
    std::string_view("type"),
    std::string_view("rope_type"),
    std::string_view("rope_theta"),
    std::string_view("factor"),
    std::string_view("original_max_position_embeddings"),
    std::string_view("low_freq_factor"),
    std::string_view("high_freq_factor"),
    std::string_view("beta_fast"),
    std::string_view("beta_slow"),
    std::string_view("truncate"),
    std::string_view("mscale"),
    std::string_view("mscale_all_dim"),
    std::string_view("attention_factor"),
    std::string_view("short_factor"),
    std::string_view("long_factor"),
    std::string_view("partial_rotary_factor"),
    std::string_view("max_position_embeddings"),
    std::string_view("finetuned")};

static absl::StatusOr<RopeKind> parseKind(const std::string &name) {
  if (name == "default") {
    return RopeKind::Default;
  }
  if (name == "linear") {
    return RopeKind::Linear;
  }
  if (name == "llama3") {
    return RopeKind::Llama3;
  }
  if (name == "yarn") {
    return RopeKind::Yarn;
  }
  if (name == "dynamic") {
    return RopeKind::Dynamic;
  }
  if (name == "longrope" || name == "su") {
    return RopeKind::LongRope;
  }
  return absl::UnimplementedError(strCat(
      "config.json asks for rope scaling '", name,
      "'; known are default, linear, llama3, yarn, dynamic and longrope"));
}

/// The object that holds the scaling, or null.
static absl::StatusOr<const json *> scalingObject(const json &config,
                                                  std::string_view layerType) {
  auto parameters = findObject(config, "rope_parameters");
  if (!parameters.ok()) {
    return parameters.status();
  }
  if (*parameters == nullptr) {
    return findObject(config, "rope_scaling");
  }
  bool nested = (*parameters)->contains("full_attention") ||
                (*parameters)->contains("sliding_attention");
  return nested ? findObject(**parameters, layerType) : *parameters;
}

/// A field of the scaling object, or else of the configuration itself.
static absl::StatusOr<std::optional<double>>
findEither(const json *scaling, const json &config, std::string_view field) {
  if (scaling != nullptr) {
    auto value = findFloat(*scaling, field);
    if (!value.ok() || value->has_value()) {
      return value;
    }
  }
  return findFloat(config, field);
}

static absl::StatusOr<std::vector<double>> readNumbers(const json &scaling,
                                                       std::string_view field) {
  auto array = findArray(scaling, field);
  if (!array.ok()) {
    return array.status();
  }
  std::vector<double> result;
  if (*array != nullptr) {
    for (const json &entry : **array) {
      if (!entry.is_number()) {
        return absl::InvalidArgumentError(
            strCat("'", field, "' of the rope scaling must hold numbers"));
      }
      result.push_back(entry.get<double>());
    }
  }
  return result;
}

static absl::Status checkFields(const json &scaling) {
  for (const auto &item : scaling.items()) {
    bool known = false;
    for (std::string_view field : kRopeFields) {
      known = known || field == item.key();
    }
    if (!known && !item.value().is_null()) {
      return absl::UnimplementedError(
          strCat("the rope scaling has a field '", item.key(),
                 "' that Quire does not know and that may change the "
                 "numbers"));
    }
  }
  return absl::OkStatus();
}

/// Copies the numbers that the scaling object gives.
static absl::Status readScaling(const json &scaling, RopeConfig &rope) {
  if (absl::Status status = checkFields(scaling); !status.ok()) {
    return status;
  }
  auto name = findString(scaling, "rope_type");
  if (name.ok() && !name->has_value()) {
    name = findString(scaling, "type");
  }
  if (!name.ok()) {
    return name.status();
  }
  auto kind = parseKind(name->value_or("default"));
  if (!kind.ok()) {
    return kind.status();
  }
  rope.kind = *kind;
  struct Number {
    std::string_view field;
    double *to;
  };
  double original = static_cast<double>(rope.originalContext);
  bool hasFactor = scaling.contains("factor") && !scaling["factor"].is_null();
  for (Number number :
       {Number{"factor", &rope.factor},
        Number{"original_max_position_embeddings", &original},
        Number{"low_freq_factor", &rope.lowFrequencyFactor},
        Number{"high_freq_factor", &rope.highFrequencyFactor},
        Number{"beta_fast", &rope.betaFast},
        Number{"beta_slow", &rope.betaSlow}, Number{"mscale", &rope.mscale},
        Number{"mscale_all_dim", &rope.mscaleAllDim}}) {
    auto value = findFloat(scaling, number.field);
    if (!value.ok()) {
      return value.status();
    }
    // transformers takes a beta of 0 for one that is not given.
    bool given = value->has_value() &&
                 (**value != 0 || !number.field.starts_with("beta_"));
    *number.to = given ? **value : *number.to;
  }
  if (!(original >= 0 && original <= 1e9)) {
    return absl::InvalidArgumentError(
        "original_max_position_embeddings of the rope scaling is out of range");
  }
  rope.originalContext = static_cast<int64_t>(original);
  if (rope.originalContext == 0) {
    rope.originalContext = rope.maxContext;
  }
  bool byLengths =
      rope.kind == RopeKind::Yarn || rope.kind == RopeKind::LongRope;
  if (!hasFactor && byLengths) {
    rope.factor = static_cast<double>(rope.maxContext) /
                  static_cast<double>(rope.originalContext);
  }
  auto attention = findFloat(scaling, "attention_factor");
  auto truncate = findBool(scaling, "truncate");
  auto shortFactor = readNumbers(scaling, "short_factor");
  auto longFactor = readNumbers(scaling, "long_factor");
  for (const absl::Status &status :
       {attention.status(), truncate.status(), shortFactor.status(),
        longFactor.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  rope.attentionFactor = *attention;
  rope.truncate = truncate->value_or(true);
  rope.shortFactor = *std::move(shortFactor);
  rope.longFactor = *std::move(longFactor);
  return absl::OkStatus();
}

absl::StatusOr<RopeConfig> readRope(const json &config,
                                    std::string_view layerType,
                                    const RopeDefaults &defaults) {
  auto scaling = scalingObject(config, layerType);
  if (!scaling.ok()) {
    return scaling.status();
  }
  const json *object =
      defaults.ignoreScaling && !config.contains("rope_parameters") ? nullptr
                                                                    : *scaling;
  auto base = findEither(object, config, "rope_theta");
  if (defaults.ignoreScaling && object == nullptr) {
    base = findFloat(config, "rope_local_base_freq");
  }
  auto partial = findEither(object, config, "partial_rotary_factor");
  auto original =
      findInt(config, "original_max_position_embeddings", {1, 1 << 30});
  for (const absl::Status &status :
       {base.status(), partial.status(), original.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  RopeConfig rope;
  rope.base = base->value_or(defaults.base);
  double share = partial->value_or(1.0);
  if (!(share > 0 && share <= 1)) {
    return absl::InvalidArgumentError(
        strCat("partial_rotary_factor of config.json is ", share,
               "; it must be above 0 and at most 1"));
  }
  rope.rotaryDim =
      static_cast<int64_t>(static_cast<double>(defaults.headDim) * share);
  rope.maxContext = defaults.maxContext;
  rope.originalContext = original->value_or(0);
  if (object != nullptr) {
    if (absl::Status status = readScaling(*object, rope); !status.ok()) {
      return status;
    }
  }
  return rope;
}

} // namespace quire::huggingface
