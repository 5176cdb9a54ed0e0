#include "frontends/huggingface/ExpertFields.h"

#include "frontends/formats/StrCat.h"
#include "models/Experts.h"

#include <algorithm>
#include <span>

namespace quire::huggingface {

using Names = std::string_view;

// The last fields of each list only matter for training.
static constexpr Names kMixtralFields[] = {
    "num_local_experts", "num_experts_per_tok", "router_jitter_noise",
    "output_router_logits", "router_aux_loss_coef"};
static constexpr Names kQwenFields[] = {
    "num_experts",           "num_experts_per_tok",
    "moe_intermediate_size", "shared_expert_intermediate_size",
    "decoder_sparse_step",   "mlp_only_layers",
    "norm_topk_prob",        "num_local_experts",
    "output_router_logits",  "router_aux_loss_coef"};
static constexpr Names kDeepSeekFields[] = {"n_routed_experts",
                                            "n_shared_experts",
                                            "num_experts_per_tok",
                                            "moe_intermediate_size",
                                            "first_k_dense_replace",
                                            "moe_layer_freq",
                                            "n_group",
                                            "topk_group",
                                            "topk_method",
                                            "scoring_func",
                                            "norm_topk_prob",
                                            "routed_scaling_factor",
                                            "num_nextn_predict_layers",
                                            "num_experts",
                                            "num_local_experts",
                                            "output_router_logits",
                                            "aux_loss_alpha",
                                            "seq_aux",
                                            "ep_size"};

static std::span<const Names> fieldsOf(ExpertRule rule) {
  switch (rule) {
  case ExpertRule::None:
    return {};
  case ExpertRule::Mixtral:
    return kMixtralFields;
  case ExpertRule::Qwen2:
  case ExpertRule::Qwen3:
    return kQwenFields;
  case ExpertRule::DeepSeekV2:
  case ExpertRule::DeepSeekV3:
    return kDeepSeekFields;
  }
  return {};
}

bool isExpertField(ExpertRule rule, std::string_view name) {
  return std::ranges::find(fieldsOf(rule), name) != fieldsOf(rule).end();
}

/// n where every n-th layer has experts.
static int64_t everyNth(Reader &reader, std::string_view field) {
  int64_t n = reader.count(field, 1);
  if (n == 0) {
    reader.fail(absl::InvalidArgumentError(
        strCat("'", field,
               "' of config.json is 0; every n-th layer has experts, and n is "
               "at least 1")));
    return 1;
  }
  return n;
}

static void readMixtral(Reader &reader, ModelConfig &model) {
  ExpertsConfig &experts = model.experts;
  experts.count = reader.count("num_local_experts", 8);
  experts.top = reader.count("num_experts_per_tok", 2);
  experts.intermediate = model.intermediate;
  experts.normalise = true;
  for (LayerConfig &layer : model.layers) {
    layer.experts = true;
  }
}

static void readQwen(Reader &reader, bool shared, ModelConfig &model) {
  ExpertsConfig &experts = model.experts;
  experts.count = reader.count(
      "num_experts", reader.count("num_local_experts", shared ? 60 : 128));
  experts.top = reader.count("num_experts_per_tok", shared ? 4 : 8);
  experts.intermediate =
      reader.count("moe_intermediate_size", shared ? 1408 : 768);
  experts.normalise = reader.flag("norm_topk_prob", false);
  if (shared) {
    experts.sharedIntermediate =
        reader.count("shared_expert_intermediate_size", 5632);
    experts.sharedGate = true;
    if (experts.sharedIntermediate == 0) {
      reader.fail(absl::InvalidArgumentError(
          "'shared_expert_intermediate_size' of config.json is 0"));
    }
  }
  int64_t step = everyNth(reader, "decoder_sparse_step");
  for (size_t i = 0; i < model.layers.size(); ++i) {
    model.layers[i].experts = (static_cast<int64_t>(i) + 1) % step == 0;
  }
  auto dense = findArray(reader.object, "mlp_only_layers");
  reader.fail(dense.status());
  for (size_t i = 0; dense.ok() && *dense && i < (*dense)->size(); ++i) {
    const nlohmann::json &layer = (**dense)[i];
    if (!layer.is_number_integer()) {
      reader.fail(absl::InvalidArgumentError(
          "'mlp_only_layers' of config.json must hold layer numbers"));
      return;
    }
    auto number = layer.get<int64_t>();
    if (number >= 0 && number < static_cast<int64_t>(model.layers.size())) {
      model.layers[number].experts = false;
    }
  }
}

/// A method by name, of those that a generation of DeepSeek's models has.
static bool oneOf(Reader &reader, std::string_view field,
                  const std::string &value, std::span<const Names> known) {
  bool found = std::ranges::find(known, value) != known.end();
  if (!found) {
    std::string list;
    for (Names name : known) {
      list += (list.empty() ? "'" : ", '") + std::string(name) + "'";
    }
    reader.fail(absl::UnimplementedError(
        strCat("'", field, "' of config.json is '", value,
               "'; this architecture has ", list)));
  }
  return found;
}

static void readDeepSeekMethod(Reader &reader, bool third,
                               ExpertsConfig &experts) {
  static constexpr Names kSecond[] = {"greedy", "group_limited_greedy"};
  static constexpr Names kThird[] = {"noaux_tc"};
  std::string method =
      reader.text("topk_method", third ? "noaux_tc" : "greedy");
  if (third) {
    oneOf(reader, "topk_method", method, kThird);
  } else {
    oneOf(reader, "topk_method", method, kSecond);
  }
  static constexpr Names kSoftmax[] = {"softmax"};
  static constexpr Names kSigmoid[] = {"sigmoid"};
  oneOf(reader, "scoring_func",
        reader.text("scoring_func", third ? "sigmoid" : "softmax"),
        third ? kSigmoid : kSoftmax);
  experts.gate = third ? RouterGate::Sigmoid : RouterGate::Softmax;
  experts.groupScore = third ? GroupScore::TopTwo : GroupScore::Max;
  experts.correctionBias = third;
  if (third || method == "group_limited_greedy") {
    experts.groups = reader.count("n_group", third ? 8 : 1);
    experts.topGroups = reader.count("topk_group", third ? 4 : 1);
  }
  experts.normalise = reader.flag("norm_topk_prob", third);
  if (!third && experts.normalise) {
    reader.fail(absl::UnimplementedError(
        "'norm_topk_prob' of config.json is true, which implementations of "
        "this architecture read differently; set it to false"));
  }
}

static void readDeepSeek(Reader &reader, bool third, ModelConfig &model) {
  ExpertsConfig &experts = model.experts;
  experts.count = reader.count("n_routed_experts", third ? 256 : 64);
  experts.top = reader.count("num_experts_per_tok", third ? 8 : 0);
  experts.intermediate =
      reader.count("moe_intermediate_size", third ? 2048 : 1407);
  experts.sharedIntermediate =
      experts.intermediate * reader.count("n_shared_experts", third ? 1 : 2);
  experts.scale = reader.number("routed_scaling_factor", third ? 2.5 : 1.0);
  readDeepSeekMethod(reader, third, experts);
  int64_t dense = reader.count("first_k_dense_replace", third ? 3 : 0);
  int64_t step = everyNth(reader, "moe_layer_freq");
  for (int64_t i = 0; i < static_cast<int64_t>(model.layers.size()); ++i) {
    model.layers[i].experts = i >= dense && i % step == 0;
  }
  model.draftLayers = reader.count("num_nextn_predict_layers", third ? 1 : 0);
}

void readExperts(Reader &reader, ExpertRule rule, ModelConfig &model) {
  switch (rule) {
  case ExpertRule::None:
    return;
  case ExpertRule::Mixtral:
    readMixtral(reader, model);
    break;
  case ExpertRule::Qwen2:
  case ExpertRule::Qwen3:
    readQwen(reader, rule == ExpertRule::Qwen2, model);
    break;
  case ExpertRule::DeepSeekV2:
  case ExpertRule::DeepSeekV3:
    readDeepSeek(reader, rule == ExpertRule::DeepSeekV3, model);
    break;
  }
  reader.fail(checkExperts(model.experts));
}

} // namespace quire::huggingface
