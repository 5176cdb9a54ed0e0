#include "frontends/gguf/ExpertFields.h"

#include "models/Experts.h"

#include <algorithm>
#include <array>

namespace quire::gguf {

static constexpr std::array<std::string_view, 13> kFields = {
    "expert_count",
    "expert_used_count",
    "expert_feed_forward_length",
    "expert_shared_feed_forward_length",
    "expert_shared_count",
    "expert_weights_scale",
    "expert_weights_norm",
    "expert_gating_func",
    "expert_group_count",
    "expert_group_used_count",
    "leading_dense_block_count",
    "nextn_predict_layers",
    "interleave_moe_layer_step"};

bool isExpertField(std::string_view name) {
  return std::ranges::find(kFields, name) != kFields.end();
}

/// The gate's number as llama.cpp counts them; 0 where the file does not say.
static RouterGate gateOf(Reader &reader, bool sigmoidByDefault) {
  constexpr int64_t kSoftmax = 1, kSigmoid = 2;
  int64_t gate = reader.count("expert_gating_func", 0);
  if (gate != 0 && gate != kSoftmax && gate != kSigmoid) {
    reader.status.Update(absl::UnimplementedError(
        strCat("'", reader.prefix, "expert_gating_func' is ", gate,
               "; 1 (softmax) and 2 (sigmoid) are supported")));
  }
  bool sigmoid = gate == kSigmoid || (gate == 0 && sigmoidByDefault);
  return sigmoid ? RouterGate::Sigmoid : RouterGate::Softmax;
}

/// Rows of the shared expert; 0 where there is none.
static int64_t sharedRows(Reader &reader, const Checkpoint &checkpoint,
                          size_t layer, int64_t intermediate) {
  std::string name = strCat("blk.", layer, ".ffn_gate_shexp.weight");
  const TensorView *shared = checkpoint.find(name);
  if (shared == nullptr) {
    return 0;
  }
  int64_t stored = shared->shape.front();
  return reader.count(
      "expert_shared_feed_forward_length",
      std::max<int64_t>(intermediate * reader.count("expert_shared_count", 0),
                        stored));
}

void readExperts(Reader &reader, const Checkpoint &checkpoint,
                 const ExpertDefaults &defaults, ModelConfig &model) {
  auto router = [&](size_t layer) {
    return strCat("blk.", layer, ".ffn_gate_inp.weight");
  };
  for (size_t i = 0; i < model.layers.size(); ++i) {
    model.layers[i].experts = checkpoint.find(router(i)) != nullptr;
  }
  auto first = std::ranges::find(model.layers, true, &LayerConfig::experts);
  if (first == model.layers.end()) {
    if (int64_t count = reader.count("expert_count", 0); count != 0) {
      reader.status.Update(absl::InvalidArgumentError(
          strCat("'", reader.prefix, "expert_count' is ", count,
                 ", but the file has no tensor '", router(0), "'")));
    }
    return;
  }
  size_t layer = first - model.layers.begin();
  ExpertsConfig &experts = model.experts;
  experts.count = reader.count("expert_count");
  experts.top = reader.count("expert_used_count");
  experts.intermediate =
      reader.count("expert_feed_forward_length", model.intermediate);
  experts.sharedIntermediate =
      sharedRows(reader, checkpoint, layer, experts.intermediate);
  experts.sharedGate = defaults.sharedGate && experts.sharedIntermediate != 0;
  experts.correctionBias =
      checkpoint.find(strCat("blk.", layer, ".exp_probs_b.bias")) != nullptr;
  experts.gate = gateOf(reader, experts.correctionBias);
  // DeepSeek-V3's rule goes with its gate, V2's with softmax.
  experts.groupScore = experts.gate == RouterGate::Sigmoid ? GroupScore::TopTwo
                                                           : GroupScore::Max;
  experts.groups = std::max<int64_t>(reader.count("expert_group_count", 1), 1);
  experts.topGroups = std::max<int64_t>(
      reader.count("expert_group_used_count", experts.groups), 1);
  auto normalise =
      findBool(reader.object, reader.prefix + "expert_weights_norm");
  reader.status.Update(normalise.status());
  experts.normalise = normalise.ok() ? normalise->value_or(defaults.normalise)
                                     : defaults.normalise;
  double scale = reader.number("expert_weights_scale", 1);
  experts.scale = scale == 0 ? 1 : scale; // converters write 0 for none
  reader.status.Update(checkExperts(experts));
}

} // namespace quire::gguf
