#include "models/Latent.h"

#include "absl/strings/str_cat.h"

#include <cmath>

namespace quire {

absl::Status checkLatent(const ModelConfig &model) {
  const LatentConfig &latent = model.latent;
  if (latent.rank < 1) {
    return absl::InvalidArgumentError(
        "the configuration's latent attention has a key/value rank "
        "(kv_lora_rank) of 0; it must be at least 1");
  }
  if (latent.rotaryDim < 2 || latent.rotaryDim % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the configuration's latent attention rotates ", latent.rotaryDim,
        " channels (qk_rope_head_dim); they must be even and at least 2"));
  }
  if (latent.contentDim < 1 || latent.valueDim < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the configuration's latent attention has ", latent.contentDim,
        " content channels (qk_nope_head_dim) and values of ", latent.valueDim,
        " (v_head_dim); both must be at least 1"));
  }
  constexpr int64_t kWidest = 1 << 24;
  if (model.heads * (latent.contentDim + latent.rotaryDim) > kWidest ||
      model.heads * (latent.contentDim + latent.valueDim) > kWidest) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the configuration's ", model.heads, " heads of ", latent.contentDim,
        " + ", latent.rotaryDim, " channels and values of ", latent.valueDim,
        " are out of range"));
  }
  if (model.kvHeads != model.heads) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the configuration has ", model.heads, " heads and ", model.kvHeads,
        " key/value heads (num_key_value_heads); with latent attention every "
        "head has its own"));
  }
  return absl::OkStatus();
}

double latentAttentionScale(const LatentConfig &latent,
                            const RopeConfig &rope) {
  double scale = 1.0 / std::sqrt(double(latent.contentDim + latent.rotaryDim));
  if (rope.kind != RopeKind::Default && rope.mscaleAllDim != 0) {
    double magnitude = yarnMagnitude(rope.factor, rope.mscaleAllDim);
    scale *= magnitude * magnitude;
  }
  return scale;
}

} // namespace quire
