// Everything in `lm`, for the generators.
include "ir/lm/LmModelOps.td"
include "ir/lm/LmWeightOps.td"
include "ir/lm/LmLinearOps.td"
include "ir/lm/LmNormOps.td"
include "ir/lm/LmAttentionOps.td"
include "ir/lm/LmLatentOps.td"
include "ir/lm/LmElementwiseOps.td"
include "ir/lm/LmExpertOps.td"
