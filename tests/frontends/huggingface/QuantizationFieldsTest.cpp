// quantization_config: the one scheme that is known, and what is refused.

#include "frontends/huggingface/QuantizationFields.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quire {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json deepSeek(const json &changes = json::object()) {
  json fields = {{"activation_scheme", "dynamic"},
                 {"fmt", "e4m3"},
                 {"quant_method", "fp8"},
                 {"weight_block_size", {128, 128}}};
  fields.update(changes);
  return {{"quantization_config", fields}};
}

std::string complaint(const json &config) {
  huggingface::Reader reader(config);
  EXPECT_FALSE(huggingface::readBlockFp8(reader));
  return std::string(reader.status.message());
}

TEST(QuantizationFields, DeepSeeksBlocksAreKnown) {
  json config = deepSeek();
  huggingface::Reader reader(config);
  EXPECT_TRUE(huggingface::readBlockFp8(reader));
  EXPECT_TRUE(reader.status.ok()) << reader.status;
}

TEST(QuantizationFields, AbsentOrNullIsNone) {
  EXPECT_EQ(complaint(json::object()), "");
  EXPECT_EQ(complaint({{"quantization_config", nullptr}}), "");
}

TEST(QuantizationFields, OthersAreRefusedByName) {
  EXPECT_THAT(complaint({{"quantization_config", "fp8"}}),
              HasSubstr("quantization_config"));
  EXPECT_THAT(complaint({{"quantization_config", json::object()}}),
              HasSubstr("'quant_method'"));
  EXPECT_THAT(complaint(deepSeek({{"quant_method", "gptq"}})),
              HasSubstr("'gptq'"));
  EXPECT_THAT(complaint(deepSeek({{"quant_method", 8}})),
              HasSubstr("quant_method"));
  EXPECT_THAT(complaint(deepSeek({{"fmt", "e5m2"}})), HasSubstr("\"e5m2\""));
  EXPECT_THAT(complaint(deepSeek({{"activation_scheme", "static"}})),
              HasSubstr("'activation_scheme'"));
  EXPECT_THAT(complaint(deepSeek({{"weight_block_size", {64, 128}}})),
              HasSubstr("[64,128]"));
  EXPECT_THAT(complaint(deepSeek({{"weight_block_size", nullptr}})),
              HasSubstr("'weight_block_size'"));
  EXPECT_THAT(complaint(deepSeek({{"bits", 4}})), HasSubstr("'bits'"));
  json without = deepSeek();
  without["quantization_config"].erase("weight_block_size");
  EXPECT_THAT(complaint(without), HasSubstr("no 'weight_block_size'"));
}

} // namespace
} // namespace quire
