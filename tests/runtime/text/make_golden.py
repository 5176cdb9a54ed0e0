#!/usr/bin/env python3
"""Writes the golden files of the tokenizer tests.

Needs the Python packages tokenizers and sentencepiece. Trains small tokenizers
with every chain of rules that models in the field use, encodes hostile strings
with the reference implementations and stores, for each string, 16 bits of a
hash of its ids and of the text they decode to (SentencePiece: of its ids; it
joins unknown pieces in its own way when it decodes). The strings are not stored: both
this script and GoldenTest.cpp make them from the seed and golden/strings.json.

    make_golden.py             writes golden/
    make_golden.py NAME INDEX  prints one string with its expected ids
"""

import json
import os
import random
import struct
import sys
import tempfile

import sentencepiece
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "golden")
STRINGS = 3000
MASK = (1 << 64) - 1

FRAGMENTS = [
    " ", "  ", "    ", "\t", "\n", "\r\n", "\n\n\n", " \n ", "\t \t", ".", ",",
    "!", "?!", "...", "''", "'s", "'LL", "'re", "'\u017f", "don't", "WE'VE",
    " the", "the", "The", " river", "Mill", " house", "ing", " runs", "xyz",
    "under_score", "camelCase", "HTTPServer", "a-b", "x=1;", "foo(bar)",
    "{\"k\":[1]}", "</div>", "//", "/*", "#!", "\\n", "1", "22", "333", "4444",
    "55555", "666666", "7777777", "3.14", "1,000", "\u0663\u0664\u0665", "\u0968",
    "\u00b2", "\u00bd", "\u2167", "\u2460", "\u216b5", "\u00e9", "e\u0301",
    "a\u0323\u0307", "a\u0307\u0323", "o\u0308\u0301\u0323", "\u1ec7", "\u0130",
    "\u00df", "\u1e9e", "\u0391\u03a3", "\ufb01", "\uff21\uff42", "\u212b",
    "\u2126", "\u00c4pfel", "na\u00efve", "\u043d\u0435\u0449\u043e",
    "\u0411\u044a\u043b", "\u4f60\u597d", "\u4e16\u754c", "\u6771\u4eac",
    "\u3053\u3093", "\u30ab\u30fc", "\ud55c\uae00", "\u1112\u1161\u11ab",
    "\u0e2a\u0e27\u0e31\u0e2a", "\u0627\u0644\u0639", "\u0647\u0646\u0627",
    "\u0915\u094d\u0937", "\u0939\u093f\u0928", "\u1780\u17b6\u1793\u17cb",
    "\U0001f600", "\U0001f999", "\U0001f468\u200d\U0001f469\u200d\U0001f466",
    "\U0001f1e9\U0001f1ea", "\u2764\ufe0f", "\u26051", "\u00a0", "\u3000",
    "\u2003", "\u200b", "\u200c", "\u200d", "\ufeff", "\u180e", "\u0085",
    "\u2028", "\u202f", "\u00ad", "\u0001", "\u007f", "\u0000", "\ufffd",
    "\u2581", "\u2581\u2581", "\u0120", "\u010a", "<|endoftext|>", "<s>",
    "</s>", "<unk>", "<pad>", "[TAG]", " [TAG] ", "[WORD]", "x[WORD]", "[left]",
    "  [left]", "[right]  ", "[Norm]", "<tool>", "<|im_end|", "<<s>>", "<0x41>",
    "\u3002", "\uff0c", "\u2026", "\u00ab", "\u20ac5", "$9", "+1", "a+b", "^",
    "`", "~", "|", "\u00b7", "\u2014", "\u0301", "\u0308x", "\u20dd",
]

# Characters of blocks that all Unicode versions in use agree on.
RANGES = [[0x20, 0x7E], [0xA0, 0x17F], [0x300, 0x36F], [0x391, 0x3A1],
          [0x400, 0x4FF], [0x5D0, 0x5EA], [0x621, 0x64A], [0x905, 0x939],
          [0xE01, 0xE3A], [0x1E00, 0x1EFF], [0x2010, 0x2027], [0x2030, 0x205E],
          [0x2070, 0x2071], [0x2100, 0x218B], [0x2190, 0x23FF],
          [0x2460, 0x24FF], [0x3041, 0x3096], [0x30A1, 0x30FA],
          [0x4E00, 0x9FA5], [0xAC00, 0xD7A3], [0xF900, 0xFA2D],
          [0xFF01, 0xFF5E], [0x10400, 0x1044F], [0x1D400, 0x1D454],
          [0x1F300, 0x1F5FF], [0x20000, 0x2A6D6]]


class Generator:
    """The same numbers as GoldenTest.cpp's, from the same seed."""

    def __init__(self, seed):
        self.state = seed

    def next(self, bound):
        x = self.state
        x ^= (x << 13) & MASK
        x ^= x >> 7
        x ^= (x << 17) & MASK
        self.state = x
        return (x >> 20) % bound

    def string(self):
        out = []
        for _ in range(1 + self.next(14)):
            kind = self.next(10)
            if kind < 7:
                out.append(FRAGMENTS[self.next(len(FRAGMENTS))])
            elif kind == 7:
                low, high = RANGES[self.next(len(RANGES))]
                out.append(chr(low + self.next(high - low + 1)))
            elif kind == 8:
                out.append(chr(32 + self.next(95)) * (1 + self.next(7)))
            else:
                out.append(" " * self.next(5))
                out.append("\n" * self.next(3))
        return "".join(out)


def strings(seed):
    generator = Generator(seed)
    return [generator.string() for _ in range(STRINGS)]


def corpus():
    """Text to train on: plain sentences and some of the fragments."""
    rng = random.Random(7)
    subjects = "the miller,a small dog,our teacher,Mara,the old king".split(",")
    verbs = "runs to,looks at,doesn't see,we've painted,is under".split(",")
    objects = "the river,a red house,12 apples,the café,das Übermaß".split(",")
    lines = []
    for _ in range(1500):
        line = " ".join([rng.choice(subjects), rng.choice(verbs),
                         rng.choice(objects)])
        if rng.random() < 0.3:
            line += rng.choice(["!", "...", " (again)", "\n\n  x = 10;"])
        if rng.random() < 0.4:
            line += " " + rng.choice(FRAGMENTS)
        lines.append(line)
    return lines


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace("{1,3}", "")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}"
         r"\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}"
         r"\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|"
         r"'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)"
         r"|\s+")


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(prefix=False, regex=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex)


def train_bpe(tokenizer, size, alphabet=(), special=()):
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=list(alphabet), show_progress=False,
        special_tokens=list(special)))
    return tokenizer


def bytes_bpe(chain, size=520, special=("<|endoftext|>",), normalizer=None,
              **options):
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = chain
    tokenizer.decoder = decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    return train_bpe(tokenizer, size, pre_tokenizers.ByteLevel.alphabet(),
                     special)


def gpt2():
    return bytes_bpe(byte_level(regex=True))


def llama3():
    tokenizer = bytes_bpe(
        pre_tokenizers.Sequence([split(LLAMA3), byte_level()]),
        special=["<s>", "</s>"], ignore_merges=True)
    tokenizer.add_tokens([
        AddedToken("[TAG]", normalized=False),
        AddedToken("[WORD]", single_word=True, normalized=False),
        AddedToken("[left]", lstrip=True, normalized=False),
        AddedToken("[right]", rstrip=True, normalized=False),
        AddedToken("<tool>")])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", 0)])])
    return tokenizer


def qwen():
    return bytes_bpe(pre_tokenizers.Sequence([split(QWEN), byte_level()]),
                     normalizer=normalizers.NFC())


def o200k():
    return bytes_bpe(pre_tokenizers.Sequence([split(O200K), byte_level()]))


def chain():
    """Punctuation, digits, splits with every behaviour, a prefix space."""
    return bytes_bpe(pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.Digits(individual_digits=False),
        split(r"[A-Z]", "merged_with_next"),
        split(r"[aeiou]\s?", "merged_with_previous"),
        split(r"\s+$"),
        byte_level(prefix=True, regex=True)]))


def deepseek():
    return bytes_bpe(pre_tokenizers.Sequence([
        split(r"[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"),
        split(r"[一-龥ࠀ-一가-퟿]+"), pre_tokenizers.Digits(individual_digits=True),
        byte_level()]))


def nested_classes():
    """Bloom's expression: a class within a class, and what lies outside."""
    return bytes_bpe(pre_tokenizers.Sequence([
        split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), split(r"\w+\W", "contiguous"),
        byte_level()]))


BYTES = [f"<0x{i:02X}>" for i in range(256)]


def with_bytes(special):
    return list(special) + BYTES


def demote_bytes(tokenizer):
    """Byte pieces are trained as special tokens but are none."""
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [
        token for token in document["added_tokens"]
        if token["content"] not in BYTES]
    return Tokenizer.from_str(json.dumps(document))


def llama2():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    # Trained with word borders, used without: the whole text is one word.
    tokenizer.pre_tokenizer = split(r"▁", "merged_with_next")
    train_bpe(tokenizer, 560, special=with_bytes(["<unk>", "<s>", "</s>"]))
    tokenizer.pre_tokenizer = None
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
        decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    return demote_bytes(tokenizer)


def mistral():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    train_bpe(tokenizer, 400, special=["<unk>", "<s>", "</s>"])
    tokenizer.add_tokens([AddedToken("[TAG]", normalized=True)])
    return tokenizer


def gemma():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    train_bpe(tokenizer, 560, special=with_bytes(["<pad>", "</s>", "<unk>"]))
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer = demote_bytes(tokenizer)
    tokenizer.add_tokens([AddedToken("▁▁", normalized=False),
                          AddedToken("\n\n\n", normalized=False),
                          AddedToken("</div>", normalized=False)])
    return tokenizer


def words():
    """Whitespace words, lower case, stripped; unknown characters not fused."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents(),
        normalizers.Strip(), normalizers.Replace(Regex(r"\d{3,}"), "#")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation("removed")])
    tokenizer.decoder = decoders.Fuse()
    train_bpe(tokenizer, 300, special=["<unk>"])
    tokenizer.add_tokens([AddedToken("[norm]", normalized=True),
                          AddedToken("[TAG]", normalized=False)])
    return tokenizer


def train_unigram(tokenizer, size, special):
    tokenizer.train_from_iterator(corpus(), trainers.UnigramTrainer(
        vocab_size=size, show_progress=False, unk_token="<unk>",
        special_tokens=special))
    return tokenizer


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    train_unigram(tokenizer, 400, ["<s>", "</s>", "<unk>"])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 1), ("<s>", 0))
    return tokenizer


def t5():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKD()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Sequence([
        decoders.ByteFallback(), decoders.Metaspace()])
    train_unigram(tokenizer, 350, ["<pad>", "</s>", "<unk>"])
    document = json.loads(tokenizer.to_str())
    document["model"]["byte_fallback"] = True
    document["model"]["vocab"] += [[piece, -30.0] for piece in BYTES]
    return Tokenizer.from_str(json.dumps(document))


TOKENIZERS = [gpt2, llama3, qwen, o200k, chain, deepseek, nested_classes,
              llama2, mistral, gemma, words, unigram, t5]
OLD_MERGES = {"qwen", "mistral"}  # written "a b" instead of ["a", "b"]


def sentencepiece_model(kind, path):
    with tempfile.TemporaryDirectory() as directory:
        text = os.path.join(directory, "text")
        with open(text, "w", encoding="utf-8") as file:
            file.write("\n".join(corpus()).replace("\0", ""))
        options = {"bpe": dict(byte_fallback=True, vocab_size=620,
                               remove_extra_whitespaces=False,
                               user_defined_symbols=["[TAG]", "▁▁▁"],
                               normalization_rule_name="identity"),
                   "unigram": dict(vocab_size=380, add_dummy_prefix=True,
                                   user_defined_symbols=["[TAG]"],
                                   normalization_rule_name="identity")}[kind]
        sentencepiece.SentencePieceTrainer.train(
            input=text, model_prefix=os.path.join(directory, "m"),
            model_type=kind,
            character_coverage=0.99, minloglevel=2, hard_vocab_limit=False,
            num_threads=1, **options)
        with open(os.path.join(directory, "m.model"), "rb") as file:
            data = file.read()
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "tokenizer.model"), "wb") as file:
        file.write(data)


class SentencePiece:
    """Gives a SentencePiece model the face of a tokenizers.Tokenizer."""

    def __init__(self, path):
        self.processor = sentencepiece.SentencePieceProcessor(
            model_file=os.path.join(path, "tokenizer.model"))

    def ids(self, text):
        return self.processor.encode(text)

    def text(self, ids):
        return self.processor.decode(ids)


class HuggingFace:
    def __init__(self, path):
        self.tokenizer = Tokenizer.from_file(
            os.path.join(path, "tokenizer.json"))

    def ids(self, text):
        return self.tokenizer.encode(text).ids

    def text(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=False)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return (value >> 32) & 0xFFFF


def write_expected(path, reference, seed):
    out = bytearray(struct.pack("<QI", seed, STRINGS))
    for text in strings(seed):
        ids = reference.ids(text)
        data = struct.pack(f"<{len(ids)}i", *ids)
        if not isinstance(reference, SentencePiece):
            data += reference.text(ids).encode("utf-8", "replace")
        out += struct.pack("<H", fnv(data))
    with open(os.path.join(path, "expected.bin"), "wb") as file:
        file.write(out)


def reference_of(path):
    if os.path.exists(os.path.join(path, "tokenizer.json")):
        return HuggingFace(path)
    return SentencePiece(path)


def write_all():
    os.makedirs(GOLDEN, exist_ok=True)
    with open(os.path.join(GOLDEN, "strings.json"), "w") as file:
        json.dump({"fragments": FRAGMENTS, "ranges": RANGES}, file)
    names = []
    for make in TOKENIZERS:
        name = make.__name__
        path = os.path.join(GOLDEN, name)
        os.makedirs(path, exist_ok=True)
        document = json.loads(make().to_str())
        if name in OLD_MERGES:
            document["model"]["merges"] = [
                " ".join(pair) for pair in document["model"]["merges"]]
        with open(os.path.join(path, "tokenizer.json"), "w") as file:
            json.dump(document, file, ensure_ascii=False,
                      separators=(",", ":"))
        names.append(name)
    for kind in ("bpe", "unigram"):
        name = "sentencepiece_" + kind
        sentencepiece_model(kind, os.path.join(GOLDEN, name))
        names.append(name)
    for index, name in enumerate(names):
        path = os.path.join(GOLDEN, name)
        write_expected(path, reference_of(path), 0x9E3779B97F4A7C15 + index)
        print(name)


def show(name, index):
    path = os.path.join(GOLDEN, name)
    with open(os.path.join(path, "expected.bin"), "rb") as file:
        seed, _ = struct.unpack("<QI", file.read(12))
    text = strings(seed)[index]
    reference = reference_of(path)
    ids = reference.ids(text)
    print(ascii(text), ids, ascii(reference.text(ids)), sep="\n")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        show(sys.argv[1], int(sys.argv[2]))
    else:
        write_all()
