#include "frontends/formats/GgufTypes.h"

#include "frontends/formats/StrCat.h"

namespace quire {

size_t ggufTypeBytes(GgufType type) {
  switch (type) {
  case GgufType::U8:
  case GgufType::I8:
  case GgufType::Bool:
    return 1;
  case GgufType::U16:
  case GgufType::I16:
    return 2;
  case GgufType::U32:
  case GgufType::I32:
  case GgufType::F32:
    return 4;
  case GgufType::U64:
  case GgufType::I64:
  case GgufType::F64:
    return 8;
  case GgufType::String:
  case GgufType::Array:
    return 0;
  }
  return 0;
}

std::string_view ggufTypeName(GgufType type) {
  switch (type) {
  case GgufType::U8:
  case GgufType::I8:
  case GgufType::U16:
  case GgufType::I16:
  case GgufType::U32:
  case GgufType::I32:
  case GgufType::U64:
  case GgufType::I64:
    return "an integer";
  case GgufType::F32:
  case GgufType::F64:
    return "a float";
  case GgufType::Bool:
    return "a boolean";
  case GgufType::String:
    return "a string";
  case GgufType::Array:
    return "an array";
  }
  return "of an unknown type";
}

namespace {
struct GgmlType {
  uint32_t number;
  std::string_view name;
  std::optional<NumberFormat> format;
};
} // namespace

static constexpr GgmlType kGgmlTypes[] = {
    {0, "f32", NumberFormat::F32},    {1, "f16", NumberFormat::F16},
    {2, "q4_0", NumberFormat::Q4_0},  {3, "q4_1", NumberFormat::Q4_1},
    {6, "q5_0", NumberFormat::Q5_0},  {7, "q5_1", NumberFormat::Q5_1},
    {8, "q8_0", NumberFormat::Q8_0},  {9, "q8_1", std::nullopt},
    {10, "q2_k", NumberFormat::Q2_K}, {11, "q3_k", NumberFormat::Q3_K},
    {12, "q4_k", NumberFormat::Q4_K}, {13, "q5_k", NumberFormat::Q5_K},
    {14, "q6_k", NumberFormat::Q6_K}, {15, "q8_k", std::nullopt},
    {16, "iq2_xxs", std::nullopt},    {17, "iq2_xs", std::nullopt},
    {18, "iq3_xxs", std::nullopt},    {19, "iq1_s", std::nullopt},
    {20, "iq4_nl", std::nullopt},     {21, "iq3_s", std::nullopt},
    {22, "iq2_s", std::nullopt},      {23, "iq4_xs", std::nullopt},
    {24, "i8", NumberFormat::I8},     {25, "i16", NumberFormat::I16},
    {26, "i32", NumberFormat::I32},   {27, "i64", NumberFormat::I64},
    {28, "f64", NumberFormat::F64},   {29, "iq1_m", std::nullopt},
    {30, "bf16", NumberFormat::BF16}, {34, "tq1_0", std::nullopt},
    {35, "tq2_0", std::nullopt},      {39, "mxfp4", std::nullopt},
};

std::optional<NumberFormat> formatOfGgmlType(uint32_t type) {
  for (const GgmlType &known : kGgmlTypes) {
    if (known.number == type) {
      return known.format;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> ggmlTypeOfFormat(NumberFormat format) {
  for (const GgmlType &known : kGgmlTypes) {
    if (known.format == format) {
      return known.number;
    }
  }
  return std::nullopt;
}

std::string ggmlTypeName(uint32_t type) {
  for (const GgmlType &known : kGgmlTypes) {
    if (known.number == type) {
      return strCat(known.name, " (", type, ")");
    }
  }
  return strCat("number ", type);
}

} // namespace quire
