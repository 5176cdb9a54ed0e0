#include "ir/rt/KernelTable.h"

#include <algorithm>
#include <array>

namespace quire::rt {

using enum FieldKind;
using enum Access;

static constexpr KernelField kEmbed[] = {
    {"step", Step},        {"weight", Weight, Read}, {"out", Buffer, Write},
    {"features", Integer}, {"vocabulary", Integer},  {"scale", Number},
};

static constexpr KernelField kRopeTable[] = {
    {"step", Step},          {"inverseFrequency", Table, Read},
    {"out", Buffer, Write},  {"half", Integer},
    {"amplitude", Number},   {"dynamicContext", Integer},
    {"dynamicBase", Number}, {"dynamicFactor", Number},
};

static constexpr KernelField kRmsNorm[] = {
    {"step", Step},
    {"x", Buffer, Read},
    {"delta", Buffer, Read},
    {"weight", Weight, Read},
    {"sum", Buffer, Write},
    {"out", Buffer, Write},
    {"quantized", Buffer, Write},
    {"features", Integer},
    {"width", Integer},
    {"epsilon", Number},
    {"group", Integer},
    {"rowSet", Integer},
};

static constexpr KernelField kQuantize[] = {
    {"step", Step},        {"x", Buffer, Read}, {"quantized", Buffer, Write},
    {"features", Integer}, {"group", Integer},  {"rowSet", Integer},
};

static constexpr KernelField kLinear[] = {
    {"step", Step},           {"activation", Buffer, Read},
    {"weight", Weight, Read}, {"bias", Weight, Read},
    {"out", Buffer, Write},   {"inputs", Integer},
    {"outputs", Integer},     {"outStride", Integer},
    {"rowSet", Integer},
};

static constexpr KernelField kGatedLinear[] = {
    {"step", Step},
    {"activation", Buffer, Read},
    {"gate", Weight, Read},
    {"up", Weight, Read},
    {"out", Buffer, Write},
    {"inputs", Integer},
    {"outputs", Integer},
    {"outStride", Integer},
    {"activationKind", Integer},
    {"rowSet", Integer},
};

static constexpr KernelField kKvAppend[] = {
    {"step", Step},
    {"layer", Layer},
    {"key", Buffer, Read},
    {"value", Buffer, Read},
    {"keyStride", Integer},
    {"valueStride", Integer},
    {"group", CacheGroup, Write},
    {"kvHeads", Integer},
    {"keyDim", Integer},
    {"valueDim", Integer},
    {"pageSize", Integer},
    {"groupLayers", Integer},
};

static constexpr KernelField kAttention[] = {
    {"step", Step},           {"layer", Layer},
    {"query", Buffer, Read},  {"out", Buffer, Write},
    {"queryStride", Integer}, {"group", CacheGroup, Read},
    {"heads", Integer},       {"kvHeads", Integer},
    {"keyDim", Integer},      {"valueDim", Integer},
    {"pageSize", Integer},    {"groupLayers", Integer},
    {"window", Integer},      {"scale", Number},
    {"softcap", Number},
};

static constexpr KernelField kRoute[] = {
    {"step", Step},         {"scores", Buffer, Read},
    {"bias", Weight, Read}, {"routes", Buffer, Write},
    {"experts", Integer},   {"top", Integer},
    {"gate", Integer},      {"groups", Integer},
    {"topGroups", Integer}, {"groupScore", Integer},
    {"normalise", Integer}, {"scale", Number},
};

static constexpr KernelField kGroupRoutes[] = {
    {"step", Step},       {"routes", Buffer, Read}, {"pairs", Buffer, Write},
    {"experts", Integer}, {"top", Integer},
};

static constexpr KernelField kDispatch[] = {
    {"step", Step},         {"rows", Buffer, Read}, {"pairs", Buffer, Read},
    {"out", Buffer, Write}, {"experts", Integer},   {"top", Integer},
    {"features", Integer},  {"group", Integer},
};

static constexpr KernelField kExpertLinear[] = {
    {"step", Step},          {"activation", Buffer, Read},
    {"pairs", Buffer, Read}, {"weight", Weight, Read},
    {"out", Buffer, Write},  {"experts", Integer},
    {"top", Integer},        {"inputs", Integer},
    {"outputs", Integer},
};

static constexpr KernelField kExpertGatedLinear[] = {
    {"step", Step},
    {"activation", Buffer, Read},
    {"pairs", Buffer, Read},
    {"gate", Weight, Read},
    {"up", Weight, Read},
    {"out", Buffer, Write},
    {"experts", Integer},
    {"top", Integer},
    {"inputs", Integer},
    {"outputs", Integer},
    {"activationKind", Integer},
};

static constexpr KernelField kCombine[] = {
    {"step", Step},          {"rows", Buffer, Read}, {"routes", Buffer, Read},
    {"pairs", Buffer, Read}, {"out", Buffer, Write}, {"experts", Integer},
    {"top", Integer},        {"features", Integer},
};

static constexpr KernelField kHeadLinear[] = {
    {"step", Step},         {"x", Buffer, Read}, {"weight", Weight, Read},
    {"out", Buffer, Write}, {"heads", Integer},  {"inputs", Integer},
    {"outputs", Integer},   {"rowSet", Integer},
};

static constexpr KernelField kLatentAttention[] = {
    {"step", Step},
    {"layer", Layer},
    {"queryLatent", Buffer, Read},
    {"queryRotary", Buffer, Read},
    {"out", Buffer, Write},
    {"group", CacheGroup, Read},
    {"heads", Integer},
    {"latentDim", Integer},
    {"rotaryDim", Integer},
    {"pageSize", Integer},
    {"groupLayers", Integer},
    {"scale", Number},
    {"rowSet", Integer},
};

static constexpr KernelField kMaterialisedAttention[] = {
    {"step", Step},
    {"layer", Layer},
    {"queryContent", Buffer, Read},
    {"queryRotary", Buffer, Read},
    {"weightKey", Weight, Read},
    {"weightValue", Weight, Read},
    {"out", Buffer, Write},
    {"group", CacheGroup, Read},
    {"heads", Integer},
    {"contentDim", Integer},
    {"latentDim", Integer},
    {"rotaryDim", Integer},
    {"valueDim", Integer},
    {"pageSize", Integer},
    {"groupLayers", Integer},
    {"cacheFormat", Integer},
    {"valueFormat", Integer},
    {"scale", Number},
    {"rowSet", Integer},
};

static constexpr KernelField kSelectForm[] = {
    {"step", Step},        {"x", Buffer, Read}, {"out", Buffer, Write},
    {"features", Integer}, {"rowSet", Integer},
};

static constexpr KernelField kMergeForms[] = {
    {"step", Step},           {"materialised", Buffer, Read},
    {"latent", Buffer, Read}, {"out", Buffer, Write},
    {"features", Integer},
};

static constexpr KernelField kGather[] = {
    {"step", Step},
    {"x", Buffer, Read},
    {"out", Buffer, Write},
    {"features", Integer},
};

static constexpr KernelField kFused[] = {
    {"inputs", Buffers, Read},
    {"outputs", Buffers, Write},
    {"rowSet", Integer},
    {"tileRows", Integer},
};

static constexpr std::string_view kGeneratedName = "fused";

static constexpr std::array kKernels = {
    KernelInfo{"embed", true, kEmbed},
    KernelInfo{"rope_table", false, kRopeTable},
    KernelInfo{"rms_norm", false, kRmsNorm},
    KernelInfo{"quantize", false, kQuantize},
    KernelInfo{"linear", true, kLinear},
    KernelInfo{"gated_linear", true, kGatedLinear},
    KernelInfo{"kv_append", true, kKvAppend},
    KernelInfo{"attention", true, kAttention},
    KernelInfo{"gather_logit_rows", false, kGather},
    KernelInfo{"route", false, kRoute},
    KernelInfo{"group_routes", false, kGroupRoutes},
    KernelInfo{"dispatch", false, kDispatch},
    KernelInfo{"expert_linear", true, kExpertLinear},
    KernelInfo{"expert_gated_linear", true, kExpertGatedLinear},
    KernelInfo{"combine", false, kCombine},
    // A longer name comes before its own beginning.
    KernelInfo{"head_linear_t", true, kHeadLinear},
    KernelInfo{"head_linear", true, kHeadLinear},
    KernelInfo{"latent_attention", true, kLatentAttention},
    KernelInfo{"materialised_attention", true, kMaterialisedAttention},
    KernelInfo{"select_form", false, kSelectForm},
    KernelInfo{"merge_forms", false, kMergeForms},
    KernelInfo{kGeneratedName, true, kFused},
};

const KernelField *KernelInfo::field(std::string_view fieldName) const {
  auto found = std::ranges::find(fields, fieldName, &KernelField::name);
  return found == fields.end() ? nullptr : &*found;
}

std::span<const KernelInfo> kernelTable() { return kKernels; }

/// "linear_q4_k" belongs to "linear" and "kv_append_bf16" to "kv_append".
static bool belongsTo(std::string_view kernel, const KernelInfo &info) {
  if (!info.hasFormat) {
    return kernel == info.name;
  }
  return kernel.size() > info.name.size() + 1 &&
         kernel.starts_with(info.name) && kernel[info.name.size()] == '_';
}

const KernelInfo *findKernel(std::string_view kernel) {
  const auto *found =
      std::ranges::find_if(kKernels, [&](const KernelInfo &info) {
        return belongsTo(kernel, info);
      });
  return found == kKernels.end() ? nullptr : found;
}

bool isGeneratedKernel(std::string_view kernel) {
  const KernelInfo *info = findKernel(kernel);
  return info != nullptr && info->name == kGeneratedName;
}

} // namespace quire::rt
