#include "frontends/huggingface/Config.h"

#include "frontends/formats/Json.h"
#include "frontends/huggingface/ExpertFields.h"
#include "frontends/huggingface/Families.h"
#include "frontends/huggingface/LatentFields.h"
#include "frontends/huggingface/QuantizationFields.h"
#include "frontends/huggingface/Reader.h"
#include "frontends/huggingface/RopeFields.h"

#include "frontends/formats/StrCat.h"
#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>

namespace quire {

using huggingface::Family;
using huggingface::kCount;
using huggingface::Reader;
using huggingface::WindowRule;
using nlohmann::json;

namespace {

absl::StatusOr<const Family *> familyOf(const json &config) {
  auto type = findString(config, "model_type");
  if (!config.contains("architectures") && type.ok() && type->has_value()) {
    const Family *family = huggingface::findFamilyOfType(**type);
    return family != nullptr
               ? absl::StatusOr<const Family *>(family)
               : absl::UnimplementedError(
                     strCat("model_type '", **type,
                            "' of config.json is not supported; known classes "
                            "are ",
                            huggingface::familyNames()));
  }
  auto classes = getArray(config, "architectures");
  if (!classes.ok()) {
    return classes.status();
  }
  if ((*classes)->size() != 1 || !(*classes)->front().is_string()) {
    return absl::InvalidArgumentError(
        "'architectures' of config.json must name one class");
  }
  auto name = (*classes)->front().get<std::string>();
  const Family *family = huggingface::findFamily(
      name, type.ok() ? type->value_or("") : std::string());
  if (family == nullptr && name.ends_with("ForConditionalGeneration")) {
    return absl::UnimplementedError(
        strCat("architecture '", name,
               "' wraps several models; Quire takes the text model alone, "
               "saved as one of ",
               huggingface::familyNames()));
  }
  if (family == nullptr) {
    return absl::UnimplementedError(strCat("architecture '", name,
                                           "' is not supported; known are ",
                                           huggingface::familyNames()));
  }
  if (!type.ok()) {
    return type.status();
  }
  if (type->has_value() && **type != family->modelType) {
    return absl::InvalidArgumentError(strCat(
        "config.json has the architecture '", name, "' and the model_type '",
        **type,
        "', which do not belong together; the type of that architecture is '",
        family->modelType, "'"));
  }
  return family;
}

/// A field that is absent, null, false or zero changes nothing.
bool isInert(const json &value) {
  return value.is_null() || value == false || value == 0;
}

absl::Status checkFields(const json &config, const Family &family) {
  for (const auto &item : config.items()) {
    const std::string &name = item.key();
    bool own =
        std::ranges::find(family.ownFields, name) != family.ownFields.end();
    if (own || huggingface::isExpertField(family.experts, name) ||
        huggingface::isLatentField(family.latent, name) ||
        huggingface::isCommonField(name) || name.starts_with("_") ||
        isInert(item.value())) {
      continue;
    }
    return absl::UnimplementedError(
        strCat("config.json of a ", family.className, " has the field '", name,
               "', which Quire does not know and which may change the numbers; "
               "remove it if it does not"));
  }
  return absl::OkStatus();
}

void readNonlinearity(Reader &reader, const Family &family,
                      ModelConfig &model) {
  std::string name = reader.text("hidden_act", family.gemma ? "" : "silu");
  if (family.gemma) {
    // Gemma's early files say "gelu" in hidden_act and mean the tanh form.
    name = reader.text("hidden_activation", "gelu_pytorch_tanh");
  }
  if (name == "silu" || name == "swish") {
    model.nonlinearity = MlpNonlinearity::Silu;
  } else if (name == "gelu_pytorch_tanh" || name == "gelu_new" ||
             name == "gelu_fast") {
    model.nonlinearity = MlpNonlinearity::GeluTanh;
  } else if (name == "gelu") {
    model.nonlinearity = MlpNonlinearity::Gelu;
  } else {
    reader.fail(absl::UnimplementedError(
        strCat("activation function '", name, "' is not supported")));
  }
}

/// Whether layer `layer` slides where the file has no layer_types.
bool slides(WindowRule rule, int64_t layer, Reader &reader) {
  switch (rule) {
  case WindowRule::None:
    return false;
  case WindowRule::AllLayers:
  case WindowRule::AllIfUsed:
    return true;
  case WindowRule::FromLayer:
    return layer >= reader.count("max_window_layers", 28);
  case WindowRule::EverySecond:
    return layer % 2 == 0;
  case WindowRule::EverySecondBelow:
    return layer % 2 == 0 && layer < reader.count("max_window_layers", 28);
  case WindowRule::AllButEverySixth: {
    int64_t pattern = reader.count("sliding_window_pattern",
                                   reader.count("_sliding_window_pattern", 6));
    return pattern == 0 || (layer + 1) % pattern != 0;
  }
  }
  return false;
}

void readWindows(Reader &reader, const Family &family, ModelConfig &model) {
  // Absent is the family's default, null is none.
  int64_t window = reader.count(
      "sliding_window",
      reader.object.contains("sliding_window") ? 0 : family.window);
  bool mustBeUsed = family.windows == WindowRule::FromLayer ||
                    family.windows == WindowRule::EverySecondBelow ||
                    family.windows == WindowRule::AllIfUsed;
  if (mustBeUsed && !reader.flag("use_sliding_window", false)) {
    window = 0;
  }
  auto types = findArray(reader.object, "layer_types");
  if (!types.ok()) {
    reader.fail(types.status());
    return;
  }
  int64_t layers = static_cast<int64_t>(model.layers.size());
  if (*types != nullptr && static_cast<int64_t>((*types)->size()) != layers) {
    reader.fail(absl::InvalidArgumentError(
        strCat("'layer_types' of config.json has ", (*types)->size(),
               " entries for ", layers, " layers")));
    return;
  }
  for (int64_t i = 0; i < layers; ++i) {
    bool sliding = slides(family.windows, i, reader);
    if (*types != nullptr) {
      const json &type = (**types)[i];
      if (type != "sliding_attention" && type != "full_attention") {
        reader.fail(absl::UnimplementedError(strCat(
            "layer type ", type.dump(), " of config.json is not supported")));
        return;
      }
      sliding = type == "sliding_attention";
    }
    model.layers[i].window = sliding ? window : 0;
    // Gemma 3 has a rope of its own for the layers that slide.
    bool ownRope = family.windows == WindowRule::AllButEverySixth;
    model.layers[i].rope = sliding && ownRope ? 1 : 0;
  }
}

void readRopes(Reader &reader, const Family &family, ModelConfig &model) {
  bool local = family.windows == WindowRule::AllButEverySixth;
  bool latent = model.latent.rank != 0;
  int64_t rotating = latent ? model.latent.rotaryDim : model.headDim;
  auto global = huggingface::readRope(reader.object, "full_attention",
                                      {.base = family.ropeBase,
                                       .headDim = rotating,
                                       .maxContext = model.maxContext});
  reader.fail(global.status());
  // Phi-3's first files say "yarn" and mean what is now called longrope.
  if (global.ok() && family.modelType == "phi3" &&
      global->kind == RopeKind::Yarn) {
    global->kind = RopeKind::LongRope;
  }
  if (global.ok()) {
    if (latent && global->rotaryDim != rotating) {
      reader.fail(absl::InvalidArgumentError(
          "'partial_rotary_factor' of config.json has no place beside latent "
          "attention, whose qk_rope_head_dim says what rotates"));
    }
    model.ropes.push_back(*std::move(global));
  }
  if (local) {
    auto sliding = huggingface::readRope(reader.object, "sliding_attention",
                                         {.base = 1e4,
                                          .headDim = model.headDim,
                                          .maxContext = model.maxContext,
                                          .ignoreScaling = true});
    reader.fail(sliding.status());
    if (sliding.ok()) {
      model.ropes.push_back(*std::move(sliding));
    }
  }
}

void readScales(Reader &reader, const Family &family, ModelConfig &model) {
  model.attentionScale = 1.0 / std::sqrt(static_cast<double>(model.headDim));
  if (family.gemma) {
    model.attentionScale =
        1.0 / std::sqrt(reader.number("query_pre_attn_scalar", 256));
    model.embeddingScale =
        static_cast<float>(std::sqrt(static_cast<double>(model.hidden)));
    bool gemma2 = family.modelType == "gemma2";
    model.attentionSoftcap =
        reader.number("attn_logit_softcapping", gemma2 ? 50 : 0);
    model.logitSoftcap =
        reader.number("final_logit_softcapping", gemma2 ? 30 : 0);
    // An explicit null switches the cap off.
    for (auto [field, cap] :
         {std::pair("attn_logit_softcapping", &model.attentionSoftcap),
          std::pair("final_logit_softcapping", &model.logitSoftcap)}) {
      if (reader.object.contains(field) && reader.object[field].is_null()) {
        *cap = 0;
      }
    }
    if (reader.flag("use_bidirectional_attention", false)) {
      reader.fail(absl::UnimplementedError(
          "bidirectional attention (use_bidirectional_attention) is not "
          "supported"));
    }
  }
  if (family.modelType == "granite") {
    model.embeddingScale = reader.number("embedding_multiplier", 1);
    model.residualScale = reader.number("residual_multiplier", 1);
    model.attentionScale = reader.number("attention_multiplier", 1);
    double divisor = reader.number("logits_scaling", 1);
    if (divisor == 0) {
      reader.fail(absl::InvalidArgumentError(
          "'logits_scaling' of config.json is 0; it divides the logits"));
    }
    model.logitScale = 1.0 / divisor;
  }
}

void readShape(Reader &reader, const Family &family, ModelConfig &model) {
  model.vocabulary = reader.count("vocab_size");
  model.hidden = reader.count("hidden_size");
  model.intermediate = reader.count("intermediate_size");
  model.heads = reader.count("num_attention_heads");
  bool absent = !reader.object.contains("num_key_value_heads");
  model.kvHeads = reader.count("num_key_value_heads",
                               absent && family.kvHeads != 0 ? family.kvHeads
                                                             : model.heads);
  huggingface::readLatent(reader, family.latent, model);
  bool latent = family.latent != huggingface::LatentRule::None;
  bool derived = family.headDim == 0;
  // With latent attention head_dim is what transformers makes of the others.
  if (!latent) {
    model.headDim = reader.count("head_dim", derived ? -1 : family.headDim);
  }
  if (!latent && model.headDim == -1) {
    model.headDim = model.hidden / model.heads;
    if (model.hidden % model.heads != 0) {
      reader.fail(absl::InvalidArgumentError(
          strCat("hidden_size (", model.hidden,
                 ") must be a multiple of num_attention_heads (", model.heads,
                 ") where config.json has no head_dim")));
    }
  }
  model.maxContext = reader.count("max_position_embeddings", family.maxContext);
  int64_t layers = reader.count("num_hidden_layers");
  if (layers > 4096) {
    reader.fail(absl::InvalidArgumentError(strCat(
        "'num_hidden_layers' of config.json is ", layers, "; at most 4096")));
    layers = 1;
  }
  model.layers.resize(layers);
  if (model.kvHeads == 0 ||
      model.heads % std::max<int64_t>(model.kvHeads, 1) != 0) {
    reader.fail(absl::InvalidArgumentError(strCat(
        "num_attention_heads (", model.heads,
        ") must be a multiple of num_key_value_heads (", model.kvHeads, ")")));
  }
  if (model.headDim == 0 || model.maxContext == 0) {
    reader.fail(absl::InvalidArgumentError(
        "'head_dim' and 'max_position_embeddings' of config.json must not be "
        "0"));
  }
  if (model.heads * model.headDim > kCount.highest) {
    reader.fail(absl::InvalidArgumentError(
        strCat("num_attention_heads (", model.heads, ") times head_dim (",
               model.headDim, ") is out of range")));
  }
}

} // namespace

absl::StatusOr<ModelConfig> readHuggingFaceConfig(const json &config) {
  auto found = familyOf(config);
  if (!found.ok()) {
    return found.status();
  }
  const Family &family = **found;
  if (absl::Status status = checkFields(config, family); !status.ok()) {
    return status;
  }
  Reader reader(config);
  ModelConfig model;
  model.architecture = family.modelType;
  model.name = reader.text("_name_or_path", std::string(family.modelType));
  model.blockFp8 = huggingface::readBlockFp8(reader);
  readShape(reader, family, model);
  if (!reader.status.ok()) {
    return reader.status;
  }
  model.norms = family.norms;
  model.queryKeyNorm = family.queryKeyNorm;
  model.normWeightsMinusOne = family.gemma;
  model.normEpsilon = reader.number("rms_norm_eps", family.normEpsilon);
  model.tiedHead = reader.flag("tie_word_embeddings", family.tiedHead);
  bool bias = reader.flag("attention_bias", false);
  // Qwen2-MoE may switch off the biases that its family has.
  bool ownBias = family.modelType == "qwen2_moe"
                     ? reader.flag("qkv_bias", family.queryKeyValueBias)
                     : family.queryKeyValueBias;
  model.queryKeyValueBias = bias || ownBias;
  model.attentionOutputBias = bias;
  model.mlpBias = reader.flag("mlp_bias", false);
  readNonlinearity(reader, family, model);
  readWindows(reader, family, model);
  huggingface::readExperts(reader, family.experts, model);
  readRopes(reader, family, model);
  readScales(reader, family, model);
  huggingface::readLatentScales(reader, family.latent, model);
  if (!reader.status.ok()) {
    return reader.status;
  }
  return model;
}

} // namespace quire
