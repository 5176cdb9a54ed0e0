#include "frontends/gguf/Config.h"

#include "frontends/formats/Checkpoint.h"
#include "frontends/formats/Dequantize.h"
#include "frontends/formats/Json.h"
#include "frontends/gguf/ExpertFields.h"
#include "frontends/gguf/LatentFields.h"
#include "frontends/gguf/Reader.h"

#include "frontends/formats/StrCat.h"
#include "nlohmann/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace quire {

using gguf::Reader;
using nlohmann::json;

namespace {

/// What is fixed for an architecture in GGUF and not written in the file.
struct Family {
  std::string_view name; // general.architecture
  NormPlacement norms = NormPlacement::Pre;
  QueryKeyNorm queryKeyNorm = QueryKeyNorm::None;
  bool gemma = false;
  bool permutedRotary = false;
  int64_t slidingPattern = 0;  // every n-th layer sees everything
  bool localRope = false;      // layers that slide have base 10 000
  int64_t wideScaleLayers = 0; // with so many layers the query scale is
                               // 1/sqrt(hidden/heads), the 27B of the family
  gguf::ExpertDefaults experts = {};
  bool latent = false; // multi-head latent attention
};

constexpr std::array kFamilies = {
    Family{.name = "llama",
           .permutedRotary = true,
           .experts = {.normalise = true}}, // Mixtral
    Family{.name = "granite", .permutedRotary = true},
    Family{.name = "qwen2"},
    Family{.name = "qwen3", .queryKeyNorm = QueryKeyNorm::PerHead},
    Family{.name = "qwen2moe", .experts = {.sharedGate = true}},
    Family{.name = "qwen3moe",
           .queryKeyNorm = QueryKeyNorm::PerHead,
           .experts = {.normalise = true}},
    Family{.name = "gemma2",
           .norms = NormPlacement::Sandwich,
           .gemma = true,
           .slidingPattern = 2,
           .wideScaleLayers = 46},
    Family{.name = "gemma3",
           .norms = NormPlacement::Sandwich,
           .queryKeyNorm = QueryKeyNorm::PerHead,
           .gemma = true,
           .slidingPattern = 6,
           .localRope = true,
           .wideScaleLayers = 62},
    Family{.name = "phi3"},
    Family{.name = "olmo2",
           .norms = NormPlacement::Post,
           .queryKeyNorm = QueryKeyNorm::Full},
    Family{.name = "deepseek2", .latent = true},
};

// Fields under "<architecture>." that are read below, or that do not change
// the numbers.
constexpr std::array<std::string_view, 28> kFields = {
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "vocab_size",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "attention.sliding_window",
    "attention.scale",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "rope.freq_base",
    "rope.dimension_count",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scaling.original_context_length",
    "rope.scaling.attn_factor",
    "rope.scaling.finetuned",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
    "rope.freq_base_swa",
    "embedding_scale",
    "residual_scale",
    "logit_scale",
    "tensor_data_layout"};

absl::Status checkFields(const Reader &reader, const Family &family) {
  for (const auto &item : reader.object.items()) {
    if (!item.key().starts_with(reader.prefix)) {
      continue;
    }
    // Counts of experts and the like are written as 0 by some converters.
    if (item.value() == 0) {
      continue;
    }
    std::string_view field(item.key());
    field.remove_prefix(reader.prefix.size());
    if (std::ranges::find(kFields, field) == kFields.end() &&
        !gguf::isExpertField(field) &&
        !(family.latent && gguf::isLatentField(field))) {
      return absl::UnimplementedError(strCat(
          "the GGUF metadata has the field '", item.key(),
          "', which Quire does not know and which may change the numbers"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> readFactors(const Checkpoint &checkpoint,
                                               std::string_view name) {
  std::vector<float> values;
  if (const TensorView *tensor = checkpoint.find(name)) {
    if (tensor->format != NumberFormat::F32 || tensor->shape.size() != 1) {
      return absl::InvalidArgumentError(
          strCat("tensor '", name, "' must be a vector of f32"));
    }
    values.resize(tensor->shape[0]);
    dequantize(tensor->format, tensor->bytes, values);
  }
  return values;
}

absl::Status readScaling(Reader &reader, const Checkpoint &checkpoint,
                         RopeConfig &rope) {
  std::string type = reader.text("rope.scaling.type", "none");
  rope.factor = reader.number("rope.scaling.factor", 1);
  rope.originalContext =
      reader.count("rope.scaling.original_context_length", rope.maxContext);
  rope.betaFast = reader.number("rope.scaling.yarn_beta_fast", 32);
  rope.betaSlow = reader.number("rope.scaling.yarn_beta_slow", 1);
  if (type == "linear") {
    rope.kind = rope.factor != 1 ? RopeKind::Linear : RopeKind::Default;
  } else if (type == "yarn") {
    rope.kind = RopeKind::Yarn;
  } else if (type != "none" && type != "longrope") {
    return absl::UnimplementedError(strCat(
        "rope scaling '", type, "' of the GGUF metadata is not supported"));
  }
  auto divisors = readFactors(checkpoint, "rope_freqs.weight");
  auto longFactors = readFactors(checkpoint, "rope_factors_long.weight");
  auto shortFactors = readFactors(checkpoint, "rope_factors_short.weight");
  for (const absl::Status &status :
       {divisors.status(), longFactors.status(), shortFactors.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  rope.frequencyDivisors = *std::move(divisors);
  if (!longFactors->empty() || !shortFactors->empty()) {
    rope.kind = RopeKind::LongRope;
    rope.factor =
        static_cast<double>(rope.maxContext) /
        static_cast<double>(std::max<int64_t>(rope.originalContext, 1));
    rope.longFactor.assign(longFactors->begin(), longFactors->end());
    rope.shortFactor.assign(shortFactors->begin(), shortFactors->end());
  }
  if (type == "longrope" && rope.kind != RopeKind::LongRope) {
    return absl::InvalidArgumentError(
        "the GGUF metadata asks for rope scaling 'longrope', but the file has "
        "no tensors 'rope_factors_long.weight' and "
        "'rope_factors_short.weight'");
  }
  double attention = reader.number("rope.scaling.attn_factor", 0);
  if (attention != 0 && rope.kind == RopeKind::LongRope) {
    rope.attentionFactor = attention;
  } else if (attention != 0 && rope.kind == RopeKind::Yarn) {
    // GGUF's factor comes on top of YaRN's own.
    rope.attentionFactor = attention * (1 + 0.1 * std::log(rope.factor));
  }
  return absl::OkStatus();
}

absl::Status readRopes(Reader &reader, const Family &family,
                       const Checkpoint &checkpoint, ModelConfig &model) {
  RopeConfig rope;
  rope.base = reader.number("rope.freq_base", 10000);
  rope.rotaryDim = reader.count("rope.dimension_count", model.headDim);
  rope.maxContext = model.maxContext;
  if (model.permutedRotary && rope.rotaryDim != model.headDim) {
    return absl::UnimplementedError(
        strCat("'", reader.prefix, "rope.dimension_count' is ", rope.rotaryDim,
               " where heads have ", model.headDim,
               " channels; this architecture's rows are stored for whole heads "
               "that rotate"));
  }
  RopeConfig local = rope;
  if (absl::Status status = readScaling(reader, checkpoint, rope);
      !status.ok()) {
    return status;
  }
  model.ropes.push_back(std::move(rope));
  if (family.localRope) {
    local.base = reader.number("rope.freq_base_swa", 10000);
    model.ropes.push_back(std::move(local));
  }
  return absl::OkStatus();
}

void readScales(Reader &reader, const Family &family, ModelConfig &model) {
  double queryWidth = static_cast<double>(model.headDim);
  if (family.wideScaleLayers != 0 &&
      family.wideScaleLayers == static_cast<int64_t>(model.layers.size())) {
    queryWidth =
        static_cast<double>(model.hidden) / static_cast<double>(model.heads);
  }
  model.attentionScale =
      reader.number("attention.scale", 1.0 / std::sqrt(queryWidth));
  model.residualScale = reader.number("residual_scale", 1);
  double divisor = reader.number("logit_scale", 1);
  model.logitScale = divisor == 0 ? 1 : 1.0 / divisor;
  double gemmaScale =
      static_cast<float>(std::sqrt(static_cast<double>(model.hidden)));
  model.embeddingScale =
      reader.number("embedding_scale", family.gemma ? gemmaScale : 1);
  if (family.name == "gemma2") {
    model.attentionSoftcap = reader.number("attn_logit_softcapping", 50);
    model.logitSoftcap = reader.number("final_logit_softcapping", 30);
  } else {
    model.attentionSoftcap = reader.number("attn_logit_softcapping", 0);
    model.logitSoftcap = reader.number("final_logit_softcapping", 0);
  }
}

/// The channels of a head.
absl::Status readHeads(Reader &reader, const Family &family,
                       const Checkpoint &checkpoint, ModelConfig &model) {
  if (family.latent) {
    gguf::readLatent(reader, checkpoint, model);
    return reader.status;
  }
  model.headDim =
      reader.count("attention.key_length", model.hidden / model.heads);
  int64_t valueDim = reader.count("attention.value_length", model.headDim);
  if (model.headDim == 0 || valueDim != model.headDim) {
    return absl::UnimplementedError(
        strCat("key length ", model.headDim, " and value length ", valueDim,
               " of the GGUF metadata must be equal"));
  }
  return absl::OkStatus();
}

absl::Status readShape(Reader &reader, const Family &family,
                       const Checkpoint &checkpoint, ModelConfig &model) {
  model.hidden = reader.count("embedding_length");
  // Files of models with experts in every layer may say nothing or 0.
  model.intermediate = reader.count(
      "feed_forward_length", reader.count("expert_feed_forward_length", 0));
  model.heads = reader.count("attention.head_count");
  model.kvHeads = reader.count("attention.head_count_kv", model.heads);
  model.maxContext = reader.count("context_length");
  int64_t layers = reader.count("block_count");
  if (!reader.status.ok()) {
    return reader.status;
  }
  if (layers < 1 || layers > 4096) {
    return absl::InvalidArgumentError(
        strCat("'", reader.prefix, "block_count' is ", layers,
               "; it must lie between 1 and 4096"));
  }
  if (model.heads == 0 || model.kvHeads == 0 || model.hidden == 0 ||
      model.intermediate == 0 || model.heads % model.kvHeads != 0) {
    return absl::InvalidArgumentError(strCat(
        "the GGUF metadata has ", model.heads, " heads, ", model.kvHeads,
        " key/value heads and width ", model.hidden,
        "; all must be positive and the first a multiple of the second"));
  }
  if (model.maxContext == 0) {
    return absl::InvalidArgumentError(
        strCat("'", reader.prefix, "context_length' is 0"));
  }
  model.normEpsilon = reader.number("attention.layer_norm_rms_epsilon", 1e-5);
  if (absl::Status status = readHeads(reader, family, checkpoint, model);
      !status.ok()) {
    return status;
  }
  const TensorView *embedding = checkpoint.find("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2) {
    return absl::InvalidArgumentError(
        "the GGUF file has no matrix 'token_embd.weight'");
  }
  model.vocabulary = embedding->shape[0];
  model.layers.resize(layers);
  return absl::OkStatus();
}

void readWindows(Reader &reader, const Family &family, ModelConfig &model) {
  int64_t window = reader.count("attention.sliding_window", 0);
  int64_t pattern = family.slidingPattern;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    bool sliding =
        window != 0 &&
        (pattern == 0 || (static_cast<int64_t>(i) + 1) % pattern != 0);
    model.layers[i].window = sliding ? window : 0;
    model.layers[i].rope = sliding && family.localRope ? 1 : 0;
  }
}

void readBiases(const Checkpoint &checkpoint, ModelConfig &model) {
  auto has = [&](const char *name) { return checkpoint.find(name) != nullptr; };
  model.tiedHead = !has("output.weight");
  model.queryKeyValueBias = has("blk.0.attn_q.bias");
  model.attentionOutputBias = has("blk.0.attn_output.bias");
  model.mlpBias = has("blk.0.ffn_gate.bias") || has("blk.0.ffn_down.bias");
  model.headBias = has("output.bias");
}

} // namespace

absl::StatusOr<ModelConfig> readGgufConfig(const Checkpoint &checkpoint) {
  const json &config = checkpoint.config();
  auto architecture = getString(config, "general.architecture");
  if (!architecture.ok()) {
    return architecture.status();
  }
  const auto *family =
      std::ranges::find(kFamilies, *architecture, &Family::name);
  if (family == kFamilies.end()) {
    return absl::UnimplementedError(strCat(
        "GGUF architecture '", *architecture,
        "' is not supported; known are llama, granite, qwen2, qwen3, qwen2moe, "
        "qwen3moe, gemma2, gemma3, phi3, olmo2 and deepseek2"));
  }
  Reader reader(config, *architecture);
  if (absl::Status status = checkFields(reader, *family); !status.ok()) {
    return status;
  }
  ModelConfig model;
  model.architecture = *architecture;
  auto name = findString(config, "general.name");
  model.name = name.ok() ? name->value_or(*architecture) : *architecture;
  if (absl::Status status = readShape(reader, *family, checkpoint, model);
      !status.ok()) {
    return status;
  }
  model.norms = family->norms;
  model.queryKeyNorm = family->queryKeyNorm;
  model.permutedRotary = family->permutedRotary;
  model.nonlinearity =
      family->gemma ? MlpNonlinearity::GeluTanh : MlpNonlinearity::Silu;
  readWindows(reader, *family, model);
  gguf::readExperts(reader, checkpoint, family->experts, model);
  readBiases(checkpoint, model);
  if (absl::Status status = readRopes(reader, *family, checkpoint, model);
      !status.ok()) {
    return status;
  }
  readScales(reader, *family, model);
  if (family->latent) {
    gguf::readLatentScales(reader, model.ropes.front(), model);
  }
  if (!reader.status.ok()) {
    return reader.status;
  }
  return model;
}

} // namespace quire
