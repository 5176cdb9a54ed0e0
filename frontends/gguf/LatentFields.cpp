#include "frontends/gguf/LatentFields.h"

#include "models/Latent.h"

#include <algorithm>
#include <array>

namespace quire::gguf {

static constexpr std::array<std::string_view, 5> kFields = {
    "attention.q_lora_rank", "attention.kv_lora_rank",
    "attention.key_length_mla", "attention.value_length_mla",
    "rope.scaling.yarn_log_multiplier"};

bool isLatentField(std::string_view name) {
  return std::ranges::find(kFields, name) != kFields.end();
}

void readLatent(Reader &reader, const Checkpoint &checkpoint,
                ModelConfig &model) {
  if (checkpoint.find("blk.0.attn_k_b.weight") != nullptr) {
    reader.status.Update(absl::UnimplementedError(
        "the GGUF file stores the latent's products apart (attn_k_b and "
        "attn_v_b); Quire reads files with attn_kv_b, as converters wrote "
        "before, or the Hugging Face checkpoint"));
    return;
  }
  LatentConfig &latent = model.latent;
  latent.rank = reader.count("attention.kv_lora_rank");
  latent.queryRank = reader.count("attention.q_lora_rank", 0);
  latent.rotaryDim = reader.count("rope.dimension_count");
  // Files that have both spellings say in the plain one what the cache holds.
  int64_t keyDim = reader.count("attention.key_length_mla",
                                reader.count("attention.key_length"));
  latent.valueDim = reader.count("attention.value_length_mla",
                                 reader.count("attention.value_length"));
  latent.contentDim = keyDim - latent.rotaryDim;
  latent.interleaved = true;
  latent.normEpsilon = model.normEpsilon;
  model.headDim = keyDim;
  if (reader.count("attention.key_length_mla", 0) != 0) {
    model.kvHeads = model.heads; // the file counts the one latent
  }
  reader.status.Update(checkLatent(model));
}

void readLatentScales(Reader &reader, RopeConfig &rope, ModelConfig &model) {
  // Converters write 0.1 * mscale_all_dim, and drop an mscale that is equal in
  // all published models.
  double multiplier = reader.number("rope.scaling.yarn_log_multiplier", 0);
  if (rope.kind == RopeKind::Yarn) {
    if (multiplier == 0) {
      reader.status.Update(absl::InvalidArgumentError(
          strCat("the GGUF metadata asks for YaRN and lacks '", reader.prefix,
                 "rope.scaling.yarn_log_multiplier', which latent attention "
                 "needs; convert the model again")));
      return;
    }
    rope.mscale = rope.mscaleAllDim = multiplier / 0.1;
  }
  model.attentionScale = latentAttentionScale(model.latent, rope);
}

} // namespace quire::gguf
