// What `quantization_config` of config.json says about the numbers of the
// weights. One scheme is known: the FP8 of DeepSeek-V3, e4m3 with one scale for
// each block of 128 x 128.

#ifndef QUIRE_FRONTENDS_HUGGINGFACE_QUANTIZATIONFIELDS_H
#define QUIRE_FRONTENDS_HUGGINGFACE_QUANTIZATIONFIELDS_H

#include "frontends/huggingface/Reader.h"

namespace quire::huggingface {

/// Whether the weights are said to be FP8 in blocks; other schemes, and one
/// that contradicts itself, fail the reader by name.
bool readBlockFp8(Reader &reader);

} // namespace quire::huggingface

#endif
