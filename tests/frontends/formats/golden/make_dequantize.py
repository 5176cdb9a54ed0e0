"""Writes dequantize.safetensors: random blocks of every GGML block format and
the f32 values that the `gguf` package decodes from them.

    python make_dequantize.py

Scales are kept finite (their top exponent bit cleared), because NaN payloads
are not part of the contract.
"""

import pathlib

import gguf
import numpy as np
from safetensors.numpy import save_file

# Byte positions of the f16 scales in a block.
SCALES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2],
    "Q6_K": [208],
}

random = np.random.default_rng(20240229)
tensors = {}
for name, scales in SCALES.items():
    kind = gguf.GGMLQuantizationType[name]
    values, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (1 if values == 256 else 4, size), np.uint8)
    for position in scales:
        blocks[:, position + 1] &= 0xBF
    tensors[f"{name.lower()}.blocks"] = blocks
    tensors[f"{name.lower()}.values"] = gguf.dequantize(blocks, kind)
save_file(tensors, pathlib.Path(__file__).with_name("dequantize.safetensors"))
