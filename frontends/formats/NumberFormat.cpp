#include "frontends/formats/NumberFormat.h"

#include <array>

namespace quire {

static constexpr std::array kFormats = {
    NumberFormatInfo{NumberFormat::F32, "f32", 1, 4},
    NumberFormatInfo{NumberFormat::F16, "f16", 1, 2},
    NumberFormatInfo{NumberFormat::BF16, "bf16", 1, 2},
    NumberFormatInfo{NumberFormat::F64, "f64", 1, 8},
    NumberFormatInfo{NumberFormat::I8, "i8", 1, 1},
    NumberFormatInfo{NumberFormat::I16, "i16", 1, 2},
    NumberFormatInfo{NumberFormat::I32, "i32", 1, 4},
    NumberFormatInfo{NumberFormat::I64, "i64", 1, 8},
    NumberFormatInfo{NumberFormat::U8, "u8", 1, 1},
    NumberFormatInfo{NumberFormat::Bool, "bool", 1, 1},
    NumberFormatInfo{NumberFormat::F8E4M3, "f8_e4m3", 1, 1},
    NumberFormatInfo{NumberFormat::F8E5M2, "f8_e5m2", 1, 1},
    NumberFormatInfo{NumberFormat::Q4_0, "q4_0", 32, 18},
    NumberFormatInfo{NumberFormat::Q4_1, "q4_1", 32, 20},
    NumberFormatInfo{NumberFormat::Q5_0, "q5_0", 32, 22},
    NumberFormatInfo{NumberFormat::Q5_1, "q5_1", 32, 24},
    NumberFormatInfo{NumberFormat::Q8_0, "q8_0", 32, 34},
    NumberFormatInfo{NumberFormat::Q2_K, "q2_k", 256, 84},
    NumberFormatInfo{NumberFormat::Q3_K, "q3_k", 256, 110},
    NumberFormatInfo{NumberFormat::Q4_K, "q4_k", 256, 144},
    NumberFormatInfo{NumberFormat::Q5_K, "q5_k", 256, 176},
    NumberFormatInfo{NumberFormat::Q6_K, "q6_k", 256, 210},
    NumberFormatInfo{NumberFormat::Int8Row, "int8", 0, 0},
    NumberFormatInfo{NumberFormat::Int4Sym, "int4", 32, 18},
    NumberFormatInfo{NumberFormat::Int4Asym, "int4a", 32, 20},
};

const NumberFormatInfo &numberFormatInfo(NumberFormat format) {
  return kFormats[static_cast<size_t>(format)];
}

std::optional<NumberFormat> parseNumberFormat(std::string_view name) {
  for (const NumberFormatInfo &info : kFormats) {
    if (info.name == name) {
      return info.format;
    }
  }
  return std::nullopt;
}

} // namespace quire
