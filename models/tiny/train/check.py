#!/usr/bin/env python3
"""Checks an exported directory against transformers and shows what it writes.

  check.py DIR [--samples N]
Compares our model with transformers' on the same weights in f32, tries
the chat template, measures the held-out loss, and samples stories.
"""
import argparse
import json
import os

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from forms import FORMS, build
from stories import documents
from train import SCALE

LAST = SCALE[max(SCALE)]  # the world that training ended in
PROMPTS = ["Once upon a time", "Near the forest lived"]
REQUESTS = ["Tell me a story about a fox and a kite.",
            "Write a short story about Mia the mouse.",
            "Tell me a story about a brave princess.",
            "Can you tell me a story about a spaceship?"]


def ours(path):
    with open(os.path.join(path, "config.json")) as f:
        fields = json.load(f)
    form = fields["model_type"]
    names = FORMS[form][0].__dataclass_fields__
    model = build(form, {k: v for k, v in fields.items() if k in names})
    weights = load_file(os.path.join(path, "model.safetensors"))
    model.load_state_dict({k.removeprefix("model."): v.float()
                           for k, v in weights.items()})
    return model.eval()


def compare(mine, theirs, tokenizer):
    """Greatest logit difference over the deviation of the logits."""
    worst = 0.0
    for text in documents("check", 4, LAST):
        ids = tokenizer(text, add_special_tokens=False,
                        return_tensors="pt").input_ids
        a, b = mine(ids), theirs(ids).logits
        worst = max(worst, ((a - b).abs().max() / b.std()).item())
    return worst


def heldout(model, tokenizer, count=50):
    """Mean loss per token over whole documents, each on its own."""
    total, tokens = 0.0, 0
    for text in documents("heldout-final", count, LAST):
        ids = tokenizer(text, add_special_tokens=False,
                        return_tensors="pt").input_ids
        logits = model(ids).logits[0, :-1]
        total += F.cross_entropy(logits, ids[0, 1:], reduction="sum").item()
        tokens += ids.shape[1] - 1
    return total / tokens


def sample(model, tokenizer, ids, greedy):
    how = {} if not greedy else {"do_sample": False}
    if not greedy:
        how = {"do_sample": True, "temperature": 0.8, "top_p": 1.0,
               "top_k": 0}
    out = model.generate(ids, attention_mask=torch.ones_like(ids),
                         max_new_tokens=300, **how)
    return tokenizer.decode(out[0])


def show(model, tokenizer, samples):
    for prompt in PROMPTS:
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        print("== greedy\n" + sample(model, tokenizer, ids, True))
        for _ in range(samples):
            print("== T 0.8\n" + sample(model, tokenizer, ids, False))
    for request in REQUESTS:
        ids = tokenizer.apply_chat_template(
            [{"role": "user", "content": request}], return_tensors="pt",
            add_generation_prompt=True, return_dict=True)["input_ids"]
        print("== greedy\n" + sample(model, tokenizer, ids, True))
        for _ in range(samples):
            print("== T 0.8\n" + sample(model, tokenizer, ids, False))


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory")
    parser.add_argument("--samples", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(args.directory)
    theirs = AutoModelForCausalLM.from_pretrained(
        args.directory, dtype=torch.float32).eval()
    worst = compare(ours(args.directory), theirs, tokenizer)
    print(f"greatest error over logit deviation: {worst:.2e}")
    print(f"held-out loss per token: {heldout(theirs, tokenizer):.4f}")
    show(theirs, tokenizer, args.samples)
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    raise SystemExit(main())
