// The kernel table in ir/rt against the structs that kernels are compiled
// with: same fields, same places.

#include "ir/rt/KernelTable.h"
#include "codegen/cpu/kernels/Args.h"
#include "codegen/cpu/kernels/KernelList.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <string>

namespace quire::rt {
namespace {

struct StructField {
  std::string_view name;
  size_t offset;
};

void expectSame(std::string_view kernel, size_t structBytes,
                std::initializer_list<StructField> fields) {
  const KernelInfo *info = findKernel(kernel);
  ASSERT_NE(info, nullptr) << kernel;
  ASSERT_EQ(info->fields.size(), fields.size()) << kernel;
  EXPECT_EQ(structBytes, 8 * fields.size()) << kernel;
  size_t index = 0;
  for (const StructField &field : fields) {
    EXPECT_EQ(info->fields[index].name, field.name) << kernel;
    EXPECT_EQ(field.offset, 8 * index) << kernel << "." << field.name;
    ++index;
  }
}

#define FIELD(name)                                                            \
  StructField { #name, offsetof(Args, name) }

TEST(KernelTable, HasTheFieldsOfTheStructs) {
  using namespace quire::cpu;
  {
    using Args = EmbedArgs;
    expectSame("embed_q4_k", sizeof(Args),
               {FIELD(step), FIELD(weight), FIELD(out), FIELD(features),
                FIELD(vocabulary), FIELD(scale)});
  }
  {
    using Args = RopeTableArgs;
    expectSame("rope_table", sizeof(Args),
               {FIELD(step), FIELD(inverseFrequency), FIELD(out), FIELD(half),
                FIELD(amplitude), FIELD(dynamicContext), FIELD(dynamicBase),
                FIELD(dynamicFactor)});
  }
  {
    using Args = RmsNormArgs;
    expectSame("rms_norm", sizeof(Args),
               {FIELD(step), FIELD(x), FIELD(delta), FIELD(weight), FIELD(sum),
                FIELD(out), FIELD(quantized), FIELD(features), FIELD(width),
                FIELD(epsilon), FIELD(group), FIELD(rowSet)});
  }
  {
    using Args = QuantizeArgs;
    expectSame("quantize", sizeof(Args),
               {FIELD(step), FIELD(x), FIELD(quantized), FIELD(features),
                FIELD(group), FIELD(rowSet)});
  }
  {
    using Args = LinearArgs;
    expectSame("linear_bf16", sizeof(Args),
               {FIELD(step), FIELD(activation), FIELD(weight), FIELD(bias),
                FIELD(out), FIELD(inputs), FIELD(outputs), FIELD(outStride),
                FIELD(rowSet)});
  }
  {
    using Args = GatedLinearArgs;
    expectSame("gated_linear_q6_k", sizeof(Args),
               {FIELD(step), FIELD(activation), FIELD(gate), FIELD(up),
                FIELD(out), FIELD(inputs), FIELD(outputs), FIELD(outStride),
                FIELD(activationKind), FIELD(rowSet)});
  }
  {
    using Args = RouteArgs;
    expectSame("route", sizeof(Args),
               {FIELD(step), FIELD(scores), FIELD(bias), FIELD(routes),
                FIELD(experts), FIELD(top), FIELD(gate), FIELD(groups),
                FIELD(topGroups), FIELD(groupScore), FIELD(normalise),
                FIELD(scale)});
  }
  {
    using Args = GroupRoutesArgs;
    expectSame(
        "group_routes", sizeof(Args),
        {FIELD(step), FIELD(routes), FIELD(pairs), FIELD(experts), FIELD(top)});
  }
  {
    using Args = DispatchArgs;
    expectSame("dispatch", sizeof(Args),
               {FIELD(step), FIELD(rows), FIELD(pairs), FIELD(out),
                FIELD(experts), FIELD(top), FIELD(features), FIELD(group)});
  }
  {
    using Args = ExpertLinearArgs;
    expectSame("expert_linear_q4_k", sizeof(Args),
               {FIELD(step), FIELD(activation), FIELD(pairs), FIELD(weight),
                FIELD(out), FIELD(experts), FIELD(top), FIELD(inputs),
                FIELD(outputs)});
  }
  {
    using Args = ExpertGatedLinearArgs;
    expectSame("expert_gated_linear_bf16", sizeof(Args),
               {FIELD(step), FIELD(activation), FIELD(pairs), FIELD(gate),
                FIELD(up), FIELD(out), FIELD(experts), FIELD(top),
                FIELD(inputs), FIELD(outputs), FIELD(activationKind)});
  }
  {
    using Args = CombineArgs;
    expectSame("combine", sizeof(Args),
               {FIELD(step), FIELD(rows), FIELD(routes), FIELD(pairs),
                FIELD(out), FIELD(experts), FIELD(top), FIELD(features)});
  }
  {
    using Args = KvAppendArgs;
    expectSame("kv_append_f16", sizeof(Args),
               {FIELD(step), FIELD(layer), FIELD(key), FIELD(value),
                FIELD(keyStride), FIELD(valueStride), FIELD(group),
                FIELD(kvHeads), FIELD(keyDim), FIELD(valueDim), FIELD(pageSize),
                FIELD(groupLayers)});
  }
  {
    using Args = AttentionArgs;
    expectSame("attention_bf16", sizeof(Args),
               {FIELD(step), FIELD(layer), FIELD(query), FIELD(out),
                FIELD(queryStride), FIELD(group), FIELD(heads), FIELD(kvHeads),
                FIELD(keyDim), FIELD(valueDim), FIELD(pageSize),
                FIELD(groupLayers), FIELD(window), FIELD(scale),
                FIELD(softcap)});
  }
  {
    using Args = HeadLinearArgs;
    for (const char *name : {"head_linear_q4_k", "head_linear_t_q4_k"}) {
      expectSame(name, sizeof(Args),
                 {FIELD(step), FIELD(x), FIELD(weight), FIELD(out),
                  FIELD(heads), FIELD(inputs), FIELD(outputs), FIELD(rowSet)});
    }
  }
  {
    using Args = LatentAttentionArgs;
    expectSame("latent_attention_bf16", sizeof(Args),
               {FIELD(step), FIELD(layer), FIELD(queryLatent),
                FIELD(queryRotary), FIELD(out), FIELD(group), FIELD(heads),
                FIELD(latentDim), FIELD(rotaryDim), FIELD(pageSize),
                FIELD(groupLayers), FIELD(scale), FIELD(rowSet)});
  }
  {
    using Args = MaterialisedAttentionArgs;
    expectSame("materialised_attention_q4_k", sizeof(Args),
               {FIELD(step), FIELD(layer), FIELD(queryContent),
                FIELD(queryRotary), FIELD(weightKey), FIELD(weightValue),
                FIELD(out), FIELD(group), FIELD(heads), FIELD(contentDim),
                FIELD(latentDim), FIELD(rotaryDim), FIELD(valueDim),
                FIELD(pageSize), FIELD(groupLayers), FIELD(cacheFormat),
                FIELD(valueFormat), FIELD(scale), FIELD(rowSet)});
  }
  {
    using Args = SelectFormArgs;
    expectSame(
        "select_form", sizeof(Args),
        {FIELD(step), FIELD(x), FIELD(out), FIELD(features), FIELD(rowSet)});
  }
  {
    using Args = MergeFormsArgs;
    expectSame("merge_forms", sizeof(Args),
               {FIELD(step), FIELD(materialised), FIELD(latent), FIELD(out),
                FIELD(features)});
  }
  {
    using Args = GatherArgs;
    expectSame("gather_logit_rows", sizeof(Args),
               {FIELD(step), FIELD(x), FIELD(out), FIELD(features)});
  }
}

TEST(KernelTable, HasTheRowSetsOfTheKernels) {
  EXPECT_EQ(kAllRows, cpu::kBatchRows);
  EXPECT_EQ(kRowsWithLogits, cpu::kLogitRows);
  EXPECT_EQ(kLatentRows, cpu::kLatentRows);
  EXPECT_EQ(kMaterialisedRows, cpu::kMaterialisedRows);
  EXPECT_EQ(kPairRows, cpu::kPairRows);
}

TEST(KernelTable, KnowsEveryKernel) {
#define EXPECT_KNOWN(name, Args)                                               \
  {                                                                            \
    const KernelInfo *info = findKernel(#name);                                \
    ASSERT_NE(info, nullptr) << #name;                                         \
    EXPECT_EQ(sizeof(cpu::Args), 8 * info->fields.size()) << #name;            \
    EXPECT_FALSE(isGeneratedKernel(#name));                                    \
  }
  QUIRE_KERNELS(EXPECT_KNOWN)
  EXPECT_TRUE(isGeneratedKernel("fused_12"));
  for (const char *unknown : {"", "linear", "linear_", "linearq4_k", "norm"}) {
    EXPECT_EQ(findKernel(unknown), nullptr) << unknown;
  }
}

TEST(KernelTable, SaysWhatIsReadAndWritten) {
  const KernelInfo *append = findKernel("kv_append_bf16");
  EXPECT_TRUE(writes(append->field("group")->access));
  EXPECT_TRUE(reads(append->field("key")->access));
  const KernelInfo *norm = findKernel("rms_norm");
  EXPECT_FALSE(writes(norm->field("x")->access));
  EXPECT_TRUE(writes(norm->field("sum")->access));
  EXPECT_EQ(norm->field("nothing"), nullptr);
}

} // namespace
} // namespace quire::rt
