#include "frontends/formats/Dequantize.h"

#include "frontends/formats/ByteReader.h"
#include "frontends/formats/DequantizeBlocks.h"

#include <cassert>

namespace quire {

namespace {
using RunDecoder = void (*)(const std::byte *bytes, float *out, size_t blocks);
} // namespace

template <typename Stored, float (*convert)(Stored)>
static void decodeValues(const std::byte *bytes, float *out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = convert(loadAs<Stored>(bytes + i * sizeof(Stored)));
  }
}

template <typename Stored> static float nearestFloat(Stored value) {
  return static_cast<float>(value);
}

template <typename Stored>
static constexpr RunDecoder decodeNumbers =
    decodeValues<Stored, nearestFloat<Stored>>;

static float boolToFloat(uint8_t value) { return value ? 1.0f : 0.0f; }

template <BlockDecoder decode, NumberFormat format>
static void decodeBlocks(const std::byte *bytes, float *out, size_t blocks) {
  const NumberFormatInfo &info = numberFormatInfo(format);
  for (size_t block = 0; block < blocks; ++block) {
    decode(bytes + block * info.blockBytes, out + block * info.blockValues);
  }
}

/// Null for Int8Row.
static RunDecoder decoderOf(NumberFormat format) {
  switch (format) {
  case NumberFormat::F32:
    return decodeNumbers<float>;
  case NumberFormat::F16:
    return decodeValues<uint16_t, halfToFloat>;
  case NumberFormat::BF16:
    return decodeValues<uint16_t, bfloat16ToFloat>;
  case NumberFormat::F64:
    return decodeNumbers<double>;
  case NumberFormat::I8:
    return decodeNumbers<int8_t>;
  case NumberFormat::I16:
    return decodeNumbers<int16_t>;
  case NumberFormat::I32:
    return decodeNumbers<int32_t>;
  case NumberFormat::I64:
    return decodeNumbers<int64_t>;
  case NumberFormat::U8:
    return decodeNumbers<uint8_t>;
  case NumberFormat::Bool:
    return decodeValues<uint8_t, boolToFloat>;
  case NumberFormat::F8E4M3:
    return decodeValues<uint8_t, float8E4M3ToFloat>;
  case NumberFormat::F8E5M2:
    return decodeValues<uint8_t, float8E5M2ToFloat>;
  // Our own int4 groups are laid out as the GGML blocks of the same maths.
  case NumberFormat::Q4_0:
  case NumberFormat::Int4Sym:
    return decodeBlocks<decodeQ4_0, NumberFormat::Q4_0>;
  case NumberFormat::Q4_1:
  case NumberFormat::Int4Asym:
    return decodeBlocks<decodeQ4_1, NumberFormat::Q4_1>;
  case NumberFormat::Q5_0:
    return decodeBlocks<decodeQ5_0, NumberFormat::Q5_0>;
  case NumberFormat::Q5_1:
    return decodeBlocks<decodeQ5_1, NumberFormat::Q5_1>;
  case NumberFormat::Q8_0:
    return decodeBlocks<decodeQ8_0, NumberFormat::Q8_0>;
  case NumberFormat::Q2_K:
    return decodeBlocks<decodeQ2_K, NumberFormat::Q2_K>;
  case NumberFormat::Q3_K:
    return decodeBlocks<decodeQ3_K, NumberFormat::Q3_K>;
  case NumberFormat::Q4_K:
    return decodeBlocks<decodeQ4_K, NumberFormat::Q4_K>;
  case NumberFormat::Q5_K:
    return decodeBlocks<decodeQ5_K, NumberFormat::Q5_K>;
  case NumberFormat::Q6_K:
    return decodeBlocks<decodeQ6_K, NumberFormat::Q6_K>;
  case NumberFormat::Int8Row:
    return nullptr;
  }
  return nullptr;
}

void dequantize(NumberFormat format, std::span<const std::byte> bytes,
                std::span<float> out) {
  const NumberFormatInfo &info = numberFormatInfo(format);
  RunDecoder decode = decoderOf(format);
  assert(decode && "rows of int8 carry their scale elsewhere");
  size_t blocks = bytes.size() / static_cast<size_t>(info.blockBytes);
  assert(out.size() == blocks * static_cast<size_t>(info.blockValues) &&
         bytes.size() % static_cast<size_t>(info.blockBytes) == 0 &&
         "the bytes must be exactly the blocks of the values");
  decode(bytes.data(), out.data(), blocks);
}

} // namespace quire
