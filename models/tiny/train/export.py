#!/usr/bin/env python3
"""Writes a training checkpoint as a Hugging Face directory in bf16.

  export.py --checkpoint DIR/checkpoint.pt --tokenizer tokenizer.json --out DIR
"""
import argparse
import json
import os
import shutil

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from forms import FORMS
from stories import ASSISTANT, BEGIN, END, SPECIALS

PAD = "<|pad|>"

# The first message may be of the system; each message ends with the end token.
CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] | trim + '"
    + END + "' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '" + ASSISTANT + "' }}{% endif %}")


def own_fields(form, config):
    """The fields of config.json that only this form has."""
    if form == "llama":
        return {"architectures": ["LlamaForCausalLM"], "mlp_bias": False}
    return {
        "architectures": ["DeepseekV2ForCausalLM"],
        "first_k_dense_replace": config.first_k_dense_replace,
        "kv_lora_rank": config.kv_lora_rank,
        "moe_intermediate_size": config.moe_intermediate_size,
        "n_routed_experts": config.n_routed_experts,
        "n_shared_experts": config.n_shared_experts,
        "norm_topk_prob": False,
        "num_experts_per_tok": config.num_experts_per_tok,
        "q_lora_rank": None, "qk_nope_head_dim": config.qk_nope_head_dim,
        "qk_rope_head_dim": config.head_dim, "routed_scaling_factor": 1.0,
        "scoring_func": "softmax", "topk_method": "greedy",
        "v_head_dim": config.v_head_dim}


def model_config(form, config, ids):
    return own_fields(form, config) | {
        "model_type": form, "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": ids[BEGIN], "eos_token_id": ids[END],
        "pad_token_id": ids[PAD], "head_dim": config.head_dim,
        "hidden_act": "silu", "hidden_size": config.hidden_size,
        "initializer_range": 0.02,
        "intermediate_size": config.intermediate_size,
        "max_position_embeddings": config.max_position_embeddings,
        "num_attention_heads": config.num_attention_heads,
        "num_hidden_layers": config.num_hidden_layers,
        "num_key_value_heads": config.num_key_value_heads,
        "rms_norm_eps": config.rms_norm_eps, "rope_scaling": None,
        "rope_theta": config.rope_theta, "tie_word_embeddings": True,
        "torch_dtype": "bfloat16", "use_cache": True,
        "vocab_size": config.vocab_size}


def generation_config(ids):
    return {"bos_token_id": ids[BEGIN], "eos_token_id": ids[END],
            "pad_token_id": ids[PAD], "do_sample": True, "temperature": 0.8,
            "top_p": 0.95}


def tokenizer_config(config):
    return {"tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": BEGIN, "eos_token": END, "pad_token": PAD,
            "additional_special_tokens": [
                s for s in SPECIALS if s not in (BEGIN, END, PAD)],
            "clean_up_tokenization_spaces": False,
            "model_max_length": config.max_position_embeddings,
            "chat_template": CHAT_TEMPLATE}


def write_json(path, value):
    with open(path, "w") as f:
        json.dump(value, f, indent=2)
        f.write("\n")


def export(args):
    state = torch.load(args.checkpoint, weights_only=True)
    # Checkpoints of before there were forms are Llama's.
    form = state.get("form", "llama")
    config = FORMS[form][0](**state["config"])
    tokenizer = Tokenizer.from_file(args.tokenizer)
    ids = {s: tokenizer.token_to_id(s) for s in SPECIALS}
    weights = {"model." + name: t.to(torch.bfloat16).contiguous()
               for name, t in state["model"].items()}
    os.makedirs(args.out, exist_ok=True)
    path = lambda name: os.path.join(args.out, name)
    save_file(weights, path("model.safetensors"), metadata={"format": "pt"})
    os.chmod(path("model.safetensors"), 0o644)
    write_json(path("config.json"), model_config(form, config, ids))
    write_json(path("generation_config.json"), generation_config(ids))
    write_json(path("tokenizer_config.json"), tokenizer_config(config))
    if os.path.realpath(args.tokenizer) != os.path.realpath(
            path("tokenizer.json")):
        shutil.copyfile(args.tokenizer, path("tokenizer.json"))
    print("step", state["step"], "->", args.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--out", required=True)
    export(parser.parse_args())


if __name__ == "__main__":
    main()
