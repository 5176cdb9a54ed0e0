#include "frontends/huggingface/LatentFields.h"

#include "frontends/formats/StrCat.h"
#include "models/Latent.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace quire::huggingface {

using Names = std::string_view;

// qk_head_dim is the sum of two others, which transformers writes down.
static constexpr Names kDeepSeekFields[] = {
    "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
    "v_head_dim",  "qk_head_dim",  "rope_interleave"};
static constexpr Names kMiniCpmFields[] = {
    "q_lora_rank",      "kv_lora_rank", "qk_nope_head_dim",
    "qk_rope_head_dim", "v_head_dim",   "qk_head_dim",
    "scale_emb",        "scale_depth",  "dim_model_base"};

static std::span<const Names> fieldsOf(LatentRule rule) {
  switch (rule) {
  case LatentRule::None:
    return {};
  case LatentRule::DeepSeekV2:
  case LatentRule::DeepSeekV3:
    return kDeepSeekFields;
  case LatentRule::MiniCpm3:
    return kMiniCpmFields;
  }
  return {};
}

bool isLatentField(LatentRule rule, std::string_view name) {
  return std::ranges::find(fieldsOf(rule), name) != fieldsOf(rule).end();
}

static bool isNull(const Reader &reader, std::string_view field) {
  auto found = reader.object.find(field);
  return found != reader.object.end() && found->is_null();
}

void readLatent(Reader &reader, LatentRule rule, ModelConfig &model) {
  if (rule == LatentRule::None) {
    return;
  }
  bool miniCpm = rule == LatentRule::MiniCpm3;
  LatentConfig &latent = model.latent;
  latent.rank = reader.count("kv_lora_rank", miniCpm ? 256 : 512);
  // Null says that queries are one product; a file without the field has the
  // default of transformers.
  latent.queryRank = isNull(reader, "q_lora_rank")
                         ? 0
                         : reader.count("q_lora_rank", miniCpm ? 768 : 1536);
  if (latent.queryRank == 0 && !isNull(reader, "q_lora_rank")) {
    reader.fail(absl::InvalidArgumentError(
        "'q_lora_rank' of config.json is 0; queries without a latent of their "
        "own have null there"));
  }
  latent.contentDim = reader.count("qk_nope_head_dim", miniCpm ? 64 : 128);
  latent.rotaryDim = reader.count("qk_rope_head_dim", miniCpm ? 32 : 64);
  latent.valueDim =
      reader.count("v_head_dim", miniCpm ? model.hidden / model.heads : 128);
  // transformers reads rope_interleave for the third generation alone.
  latent.interleaved = !miniCpm && (rule == LatentRule::DeepSeekV2 ||
                                    reader.flag("rope_interleave", true));
  // Implementations give the latents' norms no epsilon of the file's.
  latent.normEpsilon = 1e-6;
  reader.fail(checkLatent(model));
  model.headDim = latent.contentDim + latent.rotaryDim;
  int64_t said = reader.count("qk_head_dim", model.headDim);
  if (said != model.headDim) {
    reader.fail(absl::InvalidArgumentError(
        strCat("'qk_head_dim' of config.json is ", said,
               ", but qk_nope_head_dim and qk_rope_head_dim are ",
               latent.contentDim, " and ", latent.rotaryDim)));
  }
}

static void readMiniCpmScales(Reader &reader, ModelConfig &model) {
  double layers = static_cast<double>(model.layers.size());
  double hidden = static_cast<double>(model.hidden);
  model.embeddingScale = reader.number("scale_emb", 12);
  // Null switches a factor off.
  model.residualScale =
      isNull(reader, "scale_depth")
          ? 1
          : reader.number("scale_depth", 1.4) / std::sqrt(layers);
  double base = isNull(reader, "dim_model_base")
                    ? hidden
                    : reader.number("dim_model_base", 256);
  if (!(base > 0)) {
    reader.fail(absl::InvalidArgumentError(strCat(
        "'dim_model_base' of config.json is ", base, "; it must be positive")));
    return;
  }
  model.logitScale = base / hidden;
}

void readLatentScales(Reader &reader, LatentRule rule, ModelConfig &model) {
  if (rule == LatentRule::None || model.ropes.empty()) {
    return;
  }
  model.attentionScale =
      latentAttentionScale(model.latent, model.ropes.front());
  if (rule == LatentRule::MiniCpm3) {
    readMiniCpmScales(reader, model);
  }
}

} // namespace quire::huggingface
