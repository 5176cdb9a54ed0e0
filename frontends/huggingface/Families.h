// The families of decoders that config.json can name, as data: what is fixed
// for the family, and the defaults of fields that files leave out. Adding a
// family of the usual shape is adding a row.

#ifndef QUIRE_FRONTENDS_HUGGINGFACE_FAMILIES_H
#define QUIRE_FRONTENDS_HUGGINGFACE_FAMILIES_H

#include "models/ModelConfig.h"

#include <span>
#include <string_view>

namespace quire::huggingface {

/// How the layers of a family slide.
enum class WindowRule {
  None,
  AllLayers,        // sliding_window holds for every layer (Mistral, Phi-3)
  FromLayer,        // layers from max_window_layers on, if use_sliding_window
  EverySecond,      // even layers slide (Gemma 2)
  EverySecondBelow, // even ones below max_window_layers, if use_sliding_window
  AllIfUsed,        // all, if use_sliding_window
  AllButEverySixth  // layers 6, 12, ... see everything (Gemma 3)
};

/// How a family's configuration speaks of experts (ExpertFields.h).
enum class ExpertRule { None, Mixtral, Qwen2, Qwen3, DeepSeekV2, DeepSeekV3 };

/// How a family's configuration speaks of latent attention (LatentFields.h).
enum class LatentRule { None, DeepSeekV2, DeepSeekV3, MiniCpm3 };

struct Family {
  std::string_view className; // in "architectures"
  std::string_view modelType; // "model_type", and ModelConfig::architecture
  NormPlacement norms = NormPlacement::Pre;
  QueryKeyNorm queryKeyNorm = QueryKeyNorm::None;
  bool gemma = false; // norm weights minus one, embeddings times sqrt(hidden)
  bool queryKeyValueBias = false; // always, whatever attention_bias says
  bool tiedHead = false;          // default
  int64_t headDim = 0;            // default; 0: hidden / heads
  double normEpsilon = 1e-6;      // default
  // Defaults that transformers takes for fields a file leaves out.
  int64_t kvHeads = 0; // 0: as many as heads
  int64_t maxContext = 2048;
  int64_t window = 4096; // where the family slides
  WindowRule windows = WindowRule::None;
  double ropeBase = 1e4; // default of rope_theta
  ExpertRule experts = ExpertRule::None;
  LatentRule latent = LatentRule::None;
  /// Fields that this family alone has, beside the common ones.
  std::span<const std::string_view> ownFields = {};
};

/// Null when the class is not known. One class may serve several model types;
/// the first stands for them where none of them is `modelType`.
const Family *findFamily(std::string_view className,
                         std::string_view modelType = {});
/// The same by "model_type", for files without "architectures".
const Family *findFamilyOfType(std::string_view modelType);
/// "LlamaForCausalLM, MistralForCausalLM, ...", for messages.
std::string familyNames();

/// Whether every family may have the field, or it never changes the numbers.
bool isCommonField(std::string_view name);

} // namespace quire::huggingface

#endif
