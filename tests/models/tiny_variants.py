"""The tiny random checkpoints: one entry per way a decoder can differ.

A variant is a config.json exactly as a published model would spell it, so the
spelling itself is under test. `how` says what the reference needs:
  stepwise     logits come from decoding token by token (dynamic rope, where a
               row's table depends on its own position)
  reads_as     fields to change for transformers, where it no longer reads an
               old spelling itself
  max_context  the context the engine must be compiled for (longrope picks its
               table by it)
  separate     one tensor an expert, as published checkpoints have them, not
               the stacks that transformers holds
To add a variant, add an entry; keep the context below 128 tokens.
"""

BASE = {
    "vocab_size": 512, "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 256,
    "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
    "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2,
    "pad_token_id": 0,
}

HALF = 8  # rotary pairs of a head of 16

LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
YARN = {"factor": 4.0, "original_max_position_embeddings": 32}


def variant(model_type, architecture, drop=(), how=None, **fields):
    config = {"model_type": model_type, "architectures": [architecture],
              **BASE, **fields}
    for name in drop:
        del config[name]
    return {"config": config, "how": how or {}}


def llama(**fields):
    return variant("llama", "LlamaForCausalLM", **fields)


def mistral(**fields):
    return variant("mistral", "MistralForCausalLM", **fields)


def qwen2(**fields):
    return variant("qwen2", "Qwen2ForCausalLM", **fields)


def qwen3(**fields):
    return variant("qwen3", "Qwen3ForCausalLM", head_dim=32, **fields)


def mixtral(**fields):
    return variant("mixtral", "MixtralForCausalLM", **{
        "num_local_experts": 8, "num_experts_per_tok": 2,
        "sliding_window": None, **fields})


def qwen2_moe(**fields):
    return variant("qwen2_moe", "Qwen2MoeForCausalLM", **{
        "num_experts": 12, "num_experts_per_tok": 4,
        "moe_intermediate_size": 32, "shared_expert_intermediate_size": 80,
        "norm_topk_prob": False, "decoder_sparse_step": 1,
        "mlp_only_layers": [], **fields})


def qwen3_moe(**fields):
    return variant("qwen3_moe", "Qwen3MoeForCausalLM", **{
        "head_dim": 32, "num_experts": 16, "num_experts_per_tok": 4,
        "moe_intermediate_size": 48, "norm_topk_prob": True,
        "decoder_sparse_step": 1, "mlp_only_layers": [], **fields})


LATENT = {
    "num_key_value_heads": 4, "q_lora_rank": 24, "kv_lora_rank": 32,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 12,
    "rms_norm_eps": 1e-6, "attention_bias": False,
}


def deepseek_v2(**fields):
    return variant("deepseek_v2", "DeepseekV2ForCausalLM", **{
        **LATENT, "num_hidden_layers": 3, "n_routed_experts": 8,
        "n_shared_experts": 2, "num_experts_per_tok": 3,
        "moe_intermediate_size": 32, "first_k_dense_replace": 1,
        "topk_method": "greedy", "norm_topk_prob": False,
        "routed_scaling_factor": 1.0, **fields})


def deepseek_v3(**fields):
    return variant("deepseek_v3", "DeepseekV3ForCausalLM", **{
        **LATENT, "num_hidden_layers": 3, "n_routed_experts": 8,
        "n_shared_experts": 1, "num_experts_per_tok": 3, "n_group": 4,
        "topk_group": 2, "moe_intermediate_size": 32,
        "first_k_dense_replace": 1, "norm_topk_prob": True,
        "routed_scaling_factor": 2.5, **fields})


def minicpm3(**fields):
    return variant("minicpm3", "MiniCPM3ForCausalLM", **{
        **LATENT, "rms_norm_eps": 1e-5, "scale_emb": 3, "scale_depth": 1.4,
        "dim_model_base": 32, **fields})


def gemma2(**fields):
    return variant("gemma2", "Gemma2ForCausalLM", **{
        "hidden_activation": "gelu_pytorch_tanh",
        "hidden_act": "gelu_pytorch_tanh", "head_dim": 32,
        "query_pre_attn_scalar": 24, "sliding_window": 16,
        "attn_logit_softcapping": 5.0, "final_logit_softcapping": 10.0,
        "rms_norm_eps": 1e-6, "tie_word_embeddings": True, **fields})


def gemma3(**fields):
    return variant("gemma3_text", "Gemma3ForCausalLM", **{
        "hidden_activation": "gelu_pytorch_tanh", "head_dim": 32,
        "num_hidden_layers": 3, "num_key_value_heads": 1,
        "query_pre_attn_scalar": 24, "sliding_window": 16,
        "attn_logit_softcapping": None, "final_logit_softcapping": None,
        "rms_norm_eps": 1e-6, "tie_word_embeddings": True, **fields})


def phi3(**fields):
    return variant("phi3", "Phi3ForCausalLM", **{
        "original_max_position_embeddings": 256, "sliding_window": None,
        **fields})


def granite(**fields):
    return variant("granite", "GraniteForCausalLM", **{
        "embedding_multiplier": 3.0, "attention_multiplier": 0.2,
        "residual_multiplier": 0.4, "logits_scaling": 2.0,
        "attention_bias": False, "mlp_bias": False, **fields})


def olmo2(**fields):
    return variant("olmo2", "Olmo2ForCausalLM", attention_bias=False, **fields)


def ramp(low, high, pairs):
    """Factors that grow from low to high, one per rotary pair."""
    return [round(low + (high - low) * i / (pairs - 1), 4)
            for i in range(pairs)]


def longrope(pairs, kind="longrope"):
    return {"type": kind, "short_factor": ramp(1.0, 1.5, pairs),
            "long_factor": ramp(1.2, 6.0, pairs)}


VARIANTS = {
    # Llama: heads, ties, biases.
    "llama-gqa": llama(),
    "llama-mha-tied": llama(num_key_value_heads=4, tie_word_embeddings=True),
    "llama-mqa-3-layers": llama(num_key_value_heads=1, num_hidden_layers=3),
    "llama-biases": llama(attention_bias=True, mlp_bias=True),
    "llama-wide-heads": llama(head_dim=32),
    "llama-narrow-heads": llama(hidden_size=128, head_dim=16),
    # Llama: every spelling of the rotary table.
    "llama-rope-null": llama(rope_scaling=None, rope_theta=500000.0),
    "llama-rope-default": llama(rope_scaling={"rope_type": "default"}),
    "llama-rope-linear-legacy": llama(
        rope_scaling={"type": "linear", "factor": 2.0}),
    "llama-rope-linear": llama(
        rope_scaling={"rope_type": "linear", "factor": 4.0}),
    "llama-rope-parameters": llama(
        drop=["rope_theta"], rope_parameters={
            "rope_type": "linear", "factor": 2.0, "rope_theta": 5000.0}),
    "llama-rope-llama3": llama(
        rope_theta=500000.0, rope_scaling={"rope_type": "llama3", **LLAMA3}),
    "llama-rope-llama3-parameters": llama(
        drop=["rope_theta"], tie_word_embeddings=True, rope_parameters={
            "rope_type": "llama3", "rope_theta": 10000.0, **LLAMA3}),
    "llama-rope-yarn": llama(rope_scaling={"rope_type": "yarn", **YARN}),
    "llama-rope-yarn-legacy": llama(
        rope_scaling={"type": "yarn", "beta_fast": 16.0, "beta_slow": 2.0,
                      **YARN}),
    "llama-rope-yarn-factor-1": llama(
        rope_scaling={"rope_type": "yarn", "attention_factor": 1.0, **YARN}),
    "llama-rope-yarn-factor-half": llama(
        rope_scaling={"rope_type": "yarn", "attention_factor": 0.5, **YARN}),
    "llama-rope-yarn-mscale": llama(
        rope_scaling={"rope_type": "yarn", "mscale": 0.8,
                      "mscale_all_dim": 0.5, **YARN}),
    "llama-rope-yarn-no-truncate": llama(
        rope_scaling={"rope_type": "yarn", "truncate": False, **YARN}),
    "llama-rope-dynamic": llama(
        max_position_embeddings=32, how={"stepwise": True},
        rope_scaling={"rope_type": "dynamic", "factor": 2.0}),
    "llama-rope-dynamic-legacy": llama(
        max_position_embeddings=32, how={"stepwise": True},
        rope_scaling={"type": "dynamic", "factor": 4.0}),
    # Mistral.
    "mistral": mistral(sliding_window=None, head_dim=32),
    "mistral-window": mistral(sliding_window=16),
    # Qwen.
    "qwen2-tied": qwen2(tie_word_embeddings=True, rope_theta=1000000.0,
                        use_sliding_window=False, sliding_window=16,
                        max_window_layers=1),
    "qwen2-yarn": qwen2(rope_scaling={"type": "yarn", **YARN}),
    "qwen2-window": qwen2(num_hidden_layers=3, use_sliding_window=True,
                          sliding_window=16, max_window_layers=1),
    "qwen3": qwen3(attention_bias=False),
    "qwen3-bias-tied": qwen3(attention_bias=True, tie_word_embeddings=True,
                             num_key_value_heads=1),
    # Mixtures of experts.
    "mixtral": mixtral(),
    "mixtral-separate": mixtral(how={"separate": True}, num_local_experts=5,
                                num_experts_per_tok=3),
    "mixtral-window": mixtral(sliding_window=16, num_experts_per_tok=1),
    "qwen2-moe": qwen2_moe(),
    "qwen2-moe-norm-sparse": qwen2_moe(
        num_hidden_layers=4, decoder_sparse_step=2, mlp_only_layers=[3],
        norm_topk_prob=True, how={"separate": True}),
    "qwen3-moe": qwen3_moe(),
    "qwen3-moe-separate-tied": qwen3_moe(
        tie_word_embeddings=True, mlp_only_layers=[0], num_hidden_layers=3,
        norm_topk_prob=False, num_experts=7, num_experts_per_tok=7,
        how={"separate": True}),
    # Latent attention.
    "deepseek-v2-dense": deepseek_v2(first_k_dense_replace=3),
    "deepseek-v2-lite": deepseek_v2(
        q_lora_rank=None, kv_lora_rank=8, qk_nope_head_dim=8,
        qk_rope_head_dim=4, v_head_dim=6, rope_scaling={
            "type": "yarn", "mscale": 0.707, "mscale_all_dim": 0.707, **YARN}),
    "deepseek-v2-groups": deepseek_v2(
        topk_method="group_limited_greedy", n_group=4, topk_group=2,
        routed_scaling_factor=4.0, how={"separate": True}),
    "deepseek-v3": deepseek_v3(rope_scaling={
        "type": "yarn", "mscale": 1.0, "mscale_all_dim": 1.0, **YARN}),
    "deepseek-v3-half-split": deepseek_v3(
        rope_interleave=False, attention_bias=True, how={"separate": True}),
    "minicpm3": minicpm3(),
    "minicpm3-longrope-tied": minicpm3(
        tie_word_embeddings=True, rope_scaling={
            **longrope(4), "original_max_position_embeddings": 32},
        how={"max_context": 256}),
    # Gemma.
    "gemma2": gemma2(),
    "gemma2-untied-3-layers": gemma2(num_hidden_layers=3,
                                     tie_word_embeddings=False),
    "gemma3": gemma3(sliding_window_pattern=3, rope_theta=1000000.0,
                     rope_local_base_freq=10000.0),
    "gemma3-layer-types": gemma3(
        layer_types=["sliding_attention", "full_attention",
                     "sliding_attention"],
        rope_theta=100000.0, rope_local_base_freq=5000.0,
        rope_scaling={"rope_type": "linear", "factor": 8.0}),
    "gemma3-rope-parameters": gemma3(
        drop=["rope_theta"],
        layer_types=["sliding_attention", "sliding_attention",
                     "full_attention"],
        rope_parameters={
            "sliding_attention": {"rope_type": "default",
                                  "rope_theta": 10000.0},
            "full_attention": {"rope_type": "linear", "factor": 8.0,
                               "rope_theta": 1000000.0}}),
    # Phi.
    "phi3": phi3(num_key_value_heads=4, rope_scaling=None),
    "phi3-window": phi3(sliding_window=16, rope_scaling=None),
    "phi3-partial": phi3(partial_rotary_factor=0.5, rope_scaling=None,
                         tie_word_embeddings=True),
    "phi3-longrope-short": phi3(
        original_max_position_embeddings=128, max_position_embeddings=512,
        rope_scaling=longrope(HALF), how={"max_context": 128}),
    "phi3-longrope-long": phi3(
        original_max_position_embeddings=32, max_position_embeddings=256,
        rope_scaling=longrope(HALF), how={"max_context": 256}),
    "phi3-longrope-su": phi3(
        original_max_position_embeddings=32, max_position_embeddings=256,
        rope_scaling=longrope(HALF, "su"),
        how={"max_context": 256,
             "reads_as": {"rope_scaling": longrope(HALF)}}),
    "phi4-mini": phi3(
        partial_rotary_factor=0.75, tie_word_embeddings=True,
        original_max_position_embeddings=32, max_position_embeddings=256,
        rope_scaling=longrope(6), how={"max_context": 256}),
    # Granite and OLMo 2.
    "granite": granite(tie_word_embeddings=True),
    "granite-biases": granite(attention_bias=True, mlp_bias=True,
                              num_key_value_heads=1),
    "olmo2": olmo2(),
    "olmo2-mha": olmo2(num_key_value_heads=4, tie_word_embeddings=True),
}
