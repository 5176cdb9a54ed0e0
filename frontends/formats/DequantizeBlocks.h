// Private to Dequantize.cpp and the decoders of the block formats: each
// decodes one block into its 32 or 256 values.

#ifndef QUIRE_FRONTENDS_FORMATS_DEQUANTIZEBLOCKS_H
#define QUIRE_FRONTENDS_FORMATS_DEQUANTIZEBLOCKS_H

#include <cstddef>

namespace quire {

using BlockDecoder = void (*)(const std::byte *block, float *out);

void decodeQ4_0(const std::byte *block, float *out);
void decodeQ4_1(const std::byte *block, float *out);
void decodeQ5_0(const std::byte *block, float *out);
void decodeQ5_1(const std::byte *block, float *out);
void decodeQ8_0(const std::byte *block, float *out);

void decodeQ2_K(const std::byte *block, float *out);
void decodeQ3_K(const std::byte *block, float *out);
void decodeQ4_K(const std::byte *block, float *out);
void decodeQ5_K(const std::byte *block, float *out);
void decodeQ6_K(const std::byte *block, float *out);

} // namespace quire

#endif
