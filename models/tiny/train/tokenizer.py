#!/usr/bin/env python3
"""Trains the byte-level BPE vocabulary on generated stories.

  tokenizer.py --out DIR [--seed train] [--stories 20000] [--vocab 2048]
Every byte is in the vocabulary, so any text can be encoded.
"""
import argparse
import os

from tokenizers import (Tokenizer, decoders, models, pre_tokenizers,
                        processors, trainers)

from stories import BEGIN, SPECIALS, documents


def plain(texts):
    """The stories without their markers, which are never split anyway."""
    for text in texts:
        for special in SPECIALS:
            text = text.replace(special, "\n")
        yield text


def train(texts, vocab):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=SPECIALS, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(plain(texts), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", pair=f"{BEGIN} $A $B",
        special_tokens=[(BEGIN, tokenizer.token_to_id(BEGIN))])
    return tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", default="train")
    parser.add_argument("--stories", type=int, default=20000)
    parser.add_argument("--vocab", type=int, default=2048)
    args = parser.parse_args()
    tokenizer = train(documents(args.seed, args.stories), args.vocab)
    os.makedirs(args.out, exist_ok=True)
    tokenizer.save(os.path.join(args.out, "tokenizer.json"))
    print("vocabulary:", tokenizer.get_vocab_size())


if __name__ == "__main__":
    main()
