#!/usr/bin/env python3
"""Trains the bundled model on generated stories; resumes where it stopped.

  train.py --work DIR --tokenizer tokenizer.json [--form deepseek_v2]
The run is a function of its arguments: step i sees the same stories whether
the run was interrupted or not. Everything that happened goes to DIR/train.log.
"""
import argparse
import dataclasses
import json
import math
import os
import time

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from forms import FORMS, build
from latent import balance_loss
from model import parameters
from stories import WHOLE, document, game


# From which step on, how small the world is; see stories.document.
SCALE = {0: WHOLE}

IGNORED = -100  # cross_entropy's own default for "no target here"


class Data:
    """Batches of one document a row, padded at the end to the longest.

    Rows never mix documents: a model this small learns to copy names sooner
    when only its own story is in sight. Every fifth batch has chats of two
    stories, half as many rows, so that late positions are trained too. While
    `games` contains the step, every second batch is of games instead, which
    teach copying. A batch is a function of (seed, step) alone.
    """

    def __init__(self, tokenizer, seed, limit, games=range(0), scales=None):
        self.tokenizer, self.seed, self.limit = tokenizer, seed, limit
        self.games, self.scales = games, scales or {0: WHOLE}

    def texts(self, step, rows):
        if step in self.games and step % 2 == 1:
            return [game(self.seed, step * 2 * rows + r)
                    for r in range(2 * rows)]
        stories = 2 if step % 5 == 4 else 1
        rows //= stories
        scale = [s for first, s in self.scales.items() if step >= first][-1]
        return [document(self.seed, step * rows + r, stories, scale)
                for r in range(rows)]

    def batch(self, step, rows):
        """Inputs and targets, [rows, tokens] each."""
        texts = self.texts(step, rows)
        ids = [torch.tensor(e.ids[:self.limit + 1]) for e in
               self.tokenizer.encode_batch(texts, add_special_tokens=False)]
        pad = torch.nn.utils.rnn.pad_sequence
        return (pad([i[:-1] for i in ids], batch_first=True),
                pad([i[1:] for i in ids], batch_first=True,
                    padding_value=IGNORED))


def loss_of(model, batch):
    inputs, targets = batch
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(inputs)
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(),
                           ignore_index=IGNORED)


@torch.no_grad()
def heldout_loss(model, data, batches, rows):
    losses = [loss_of(model, data.batch(i, rows)) for i in range(batches)]
    return torch.stack(losses).mean().item()


def learning_rate(step, args):
    """Linear warm-up, then a cosine down to a twentieth."""
    if step < args.warmup:
        return args.lr * (step + 1) / args.warmup
    done = min(1.0, (step - args.warmup) / max(1, args.steps - args.warmup))
    return args.lr * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))


class Optimizer:
    """Muon (Jordan et al. 2024) for the matrices of the layers, AdamW for
    embedding and norms: half the tokens to the same loss as AdamW alone.

    Both follow one schedule; `matrix_rate` is Muon's rate relative to AdamW's.
    """

    def __init__(self, model, args):
        matrices = [p for p in model.layers.parameters() if p.dim() == 2]
        others = [p for p in model.parameters()
                  if not any(p is m for m in matrices)]
        self.parts = [
            (args.matrix_rate, torch.optim.Muon(
                matrices, weight_decay=0.02, adjust_lr_fn="match_rms_adamw")),
            (1.0, torch.optim.AdamW(others, weight_decay=0.0,
                                    betas=(0.9, 0.98), fused=True))]

    def step(self, rate):
        for factor, part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate * factor
            part.step()
            part.zero_grad(set_to_none=True)

    def state_dict(self):
        return [part.state_dict() for _, part in self.parts]

    def load_state_dict(self, states):
        for (_, part), state in zip(self.parts, states):
            part.load_state_dict(state)


class Log:
    def __init__(self, path):
        self.path = path

    def __call__(self, **fields):
        line = json.dumps({k: round(v, 5) if isinstance(v, float) else v
                           for k, v in fields.items()})
        with open(self.path, "a") as f:
            f.write(line + "\n")
        print(line, flush=True)


def save(path, form, step, model, optimizer, tokens):
    torch.save({"form": form, "step": step, "tokens": tokens, "model": model.state_dict(),
                "config": dataclasses.asdict(model.config),
                "optimizer": optimizer.state_dict()}, path + ".part")
    os.replace(path + ".part", path)


def train(args):
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    os.makedirs(args.work, exist_ok=True)
    log = Log(os.path.join(args.work, "train.log"))
    checkpoint = os.path.join(args.work, "checkpoint.pt")
    tokenizer = Tokenizer.from_file(args.tokenizer)
    model = build(args.form, {"vocab_size": tokenizer.get_vocab_size()})
    optimizer = Optimizer(model, args)
    data = Data(tokenizer, f"train{args.seed}", args.length,
                range(*args.games), SCALE)
    heldout = Data(tokenizer, "heldout", args.length,
                   scales={0: list(SCALE.values())[-1]})
    first, tokens = 0, 0
    if os.path.exists(checkpoint):
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first, tokens = state["step"], state["tokens"]
    log(event="start", step=first, parameters=parameters(model),
        arguments=vars(args) | {"work": None, "tokenizer": None},
        torch=torch.__version__)
    begun = time.time()
    for step in range(first, args.steps):
        batch = data.batch(step, args.rows)
        loss = loss_of(model, batch)
        (loss + args.balance * balance_loss(model)).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step(learning_rate(step, args))
        tokens += (batch[1] != IGNORED).sum().item()
        done = step + 1
        if done % args.log_every == 0:
            log(step=done, loss=loss.item(), norm=norm.item(), tokens=tokens,
                lr=learning_rate(step, args), seconds=time.time() - begun)
        last = done == args.steps
        if done % args.eval_every == 0 or last:
            log(step=done, heldout_loss=heldout_loss(
                model, heldout, 15 if last else 5, 8))
            save(checkpoint, args.form, done, model, optimizer, tokens)
    log(event="end", step=args.steps, tokens=tokens,
        seconds=time.time() - begun)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--form", choices=FORMS, default="llama")
    parser.add_argument("--balance", type=float, default=0.01,
                        help="weight of the loss that keeps experts in use")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--lr", type=float, default=1.5e-3)
    parser.add_argument("--matrix-rate", type=float, default=5.0)
    parser.add_argument("--warmup", type=int, default=40)
    parser.add_argument("--games", type=int, nargs=2, default=(150, 300),
                        metavar=("FIRST", "END"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--log-every", type=int, default=20)
    parser.add_argument("--eval-every", type=int, default=50)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
