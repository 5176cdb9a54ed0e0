#!/usr/bin/env python3
"""Makes tiny random checkpoints and what transformers says they compute.

  make_tiny_random.py OUT [--only NAME,...] [--list]
Each OUT/NAME holds config.json, model.safetensors (f32), tokenizer.json and
reference.npz:
  input_ids    [48]          int64
  logits       [48, vocab]   f32 logits, all in f32
  logits_bf16  [48, vocab]   transformers' own bf16 run, stored as f32
  greedy       [64]          the greedy continuation of input_ids
  greedy_gap   [64]          best logit minus the runner-up, for near-ties
  max_context  []            the context to compile for
A directory that is complete is left alone, so OUT can be a cache.
"""
import argparse
import json
import os
import shutil
import warnings
import zlib

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.utils import logging

from tiny_variants import VARIANTS

PROMPT, CONTINUATION = 48, 64
SPECIALS = ["<pad>", "<s>", "</s>"]


def write_tokenizer(path, vocab):
    """All bytes and a few merges: enough for text in and text out."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([__doc__ * 2], trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=SPECIALS, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.save(path)


def initialise(model, seed):
    """Weights under which every part of the network shows in the logits.

    Norm weights are spread around their neutral value (0 for Gemma, whose
    norms multiply by 1 + weight), biases are not small, and query and key are
    large enough that attention is far from uniform.
    """
    generator = torch.Generator().manual_seed(seed)
    zero_centred = model.config.model_type.startswith("gemma")
    # A tied head sees the embedding twice: kept small, or every model would
    # only repeat its last token. The final norm makes up for it.
    tied = model.config.tie_word_embeddings
    for name, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=generator)
        if "norm" in name:
            value = 0.3 * noise + (0.0 if zero_centred else 1.0)
            if tied and name == "model.norm.weight":
                value = value + 1.5
        elif name.endswith("bias"):
            value = 0.3 * noise
        elif "embed_tokens" in name:
            value = (0.06 if tied else 0.3) * noise
        else:
            gain = 1.25 if "q_proj" in name or "k_proj" in name else 1.0
            value = noise * gain * p.shape[-1] ** -0.5
            if "lm_head" in name:
                value = 2.0 * value
        p.data.copy_(value)
    for name, buffer in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            buffer.copy_(0.1 * torch.randn(buffer.shape, generator=generator))


def write_config(directory, config):
    with open(os.path.join(directory, "config.json"), "w") as f:
        json.dump(config, f, indent=2)


def write_checkpoint(directory, config, how, seed):
    write_config(directory, config)
    parsed = AutoConfig.from_pretrained(directory)
    model = AutoModelForCausalLM.from_config(parsed)
    initialise(model, seed)
    tied = {"lm_head.weight"} if config["tie_word_embeddings"] else set()
    weights = {name: t.detach().clone().contiguous()
               for name, t in model.state_dict().items() if name not in tied}
    if how.get("separate"):
        model.save_pretrained(directory)
        write_config(directory, config)
    else:
        save_file(weights, os.path.join(directory, "model.safetensors"),
                  metadata={"format": "pt"})
    write_tokenizer(os.path.join(directory, "tokenizer.json"),
                    config["vocab_size"])


def load(directory, dtype):
    """The model as transformers reads it from the files, nothing missing."""
    model, report = AutoModelForCausalLM.from_pretrained(
        directory, dtype=dtype, attn_implementation="eager",
        output_loading_info=True)
    problems = [str(report[k]) for k in ("missing_keys", "unexpected_keys")
                if report.get(k)]
    if problems:
        raise RuntimeError(f"{directory}: {problems}")
    return model.eval()


def all_logits(model, ids, stepwise):
    """Logits [tokens, vocab] and the cache that produced them."""
    if not stepwise:
        out = model(ids[None], use_cache=True)
        return out.logits[0].float(), out.past_key_values
    rows, cache = [], None
    for i in range(len(ids)):
        out = model(ids[None, i:i + 1], past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        rows.append(out.logits[0].float())
    return torch.cat(rows), cache


def greedy(model, last, cache):
    tokens, gaps = [], []
    for _ in range(CONTINUATION):
        best = last.topk(2)
        tokens.append(best.indices[0].item())
        gaps.append((best.values[0] - best.values[1]).item())
        out = model(best.indices[None, :1], past_key_values=cache,
                    use_cache=True)
        cache, last = out.past_key_values, out.logits[0, -1].float()
    return np.array(tokens), np.array(gaps, dtype=np.float32)


@torch.no_grad()
def write_reference(directory, config, how, seed):
    generator = torch.Generator().manual_seed(seed + 1)
    ids = torch.randint(len(SPECIALS), config["vocab_size"], (PROMPT,),
                        generator=generator)
    stepwise = how.get("stepwise", False)
    exact = load(directory, torch.float32)
    logits, cache = all_logits(exact, ids, stepwise)
    tokens, gaps = greedy(exact, logits[-1], cache)
    rough, _ = all_logits(load(directory, torch.bfloat16), ids, stepwise)
    # Written last and renamed: its presence says the directory is complete.
    path = os.path.join(directory, "reference")
    np.savez(path + ".part.npz", input_ids=ids.numpy(),
             logits=logits.numpy(), logits_bf16=rough.numpy(), greedy=tokens,
             greedy_gap=gaps, max_context=how.get("max_context", 128))
    os.replace(path + ".part.npz", path + ".npz")
    return logits, rough, tokens


def make(out, name):
    directory = os.path.join(out, name)
    if os.path.exists(os.path.join(directory, "reference.npz")):
        return f"{name}: there already"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    entry, seed = VARIANTS[name], zlib.crc32(name.encode())
    config, how = entry["config"], entry["how"]
    readable = config | how.get("reads_as", {})
    write_checkpoint(directory, readable, how, seed)
    logits, rough, tokens = write_reference(directory, readable, how, seed)
    write_config(directory, config)
    error = (logits - rough).abs().max() / logits.std()
    return (f"{name}: deviation {logits.std():.2f}, bf16 error {error:.3f}, "
            f"{len(set(tokens.tolist()))} distinct greedy tokens")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?")
    parser.add_argument("--only")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else list(VARIANTS)
    unknown = [n for n in names if n not in VARIANTS]
    if unknown:
        parser.error(f"no such variant: {', '.join(unknown)}; see --list")
    if args.list:
        print("\n".join(names))
        return
    if args.out is None:
        parser.error("say which directory to write to")
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for name in names:
        print(make(args.out, name), flush=True)


if __name__ == "__main__":
    main()
