#!/usr/bin/env python3
"""Measures Quire beside llama.cpp on the same GGUF files and writes a Markdown table.

  compare.py --quire build/tools/quire --llama-bench PATH FILE.gguf... [--pairs 3] [--threads 2] [--prompt 512] [--generate 64]

Runs are interleaved A B B A; a figure is the median over runs, a ratio the
median of the ratios of neighbouring runs. The machine's ceilings are measured
by `quire bench` in the same runs.
"""
import argparse
import datetime
import json
import pathlib
import platform
import statistics
import subprocess


def quire_run(args, model):
    """{"prefill": tokens/s, "decode": ..., and their shares of the roof}."""
    command = [args.quire, "bench", model, "--json", "--prompt", str(args.prompt), "--generate", str(args.generate),
               "--batch", "1", "--depth", "0", "--repeat", "2", "--threads", str(args.threads)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    result = {}
    for row in map(json.loads, lines):
        result[row["kind"]] = row["tokens_per_second"]["median"]
        result[row["kind"] + " share"] = row["share_of_roof"]
    return result


def llama_run(args, model):
    command = [args.llama_bench, "-m", model, "-t", str(args.threads), "-p", str(args.prompt), "-n", str(args.generate),
               "-r", "2", "-o", "json"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {"decode" if row["n_gen"] else "prefill": row["avg_ts"] for row in json.loads(out[out.index("["):])}


def measure(args, model):
    """Neighbouring runs as pairs (quire, llama.cpp)."""
    pairs = []
    for i in range(args.pairs):
        order = [quire_run, llama_run] if i % 2 == 0 else [llama_run, quire_run]
        runs = {run: run(args, model) for run in order}
        pairs.append((runs[quire_run], runs[llama_run]))
    return pairs


def row(name, kind, pairs):
    ours = [q[kind] for q, _ in pairs]
    theirs = [p[kind] for _, p in pairs]
    ratios = [a / b for a, b in zip(ours, theirs)]
    share = statistics.median(q[kind + " share"] for q, _ in pairs)
    spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
    return (f"| {name} | {kind} | {statistics.median(ours):.1f} | {statistics.median(theirs):.1f} | "
            f"**{statistics.median(ratios):.2f}** ({spread}) | {share:.2f} |")


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--quire", default="build/tools/quire")
    parser.add_argument("--llama-bench", required=True)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--generate", type=int, default=64)
    args = parser.parse_args()
    print(f"{processor()}, {args.threads} threads, {datetime.date.today()}; prompt {args.prompt}, {args.generate} new tokens, "
          f"{args.pairs} interleaved pairs\n")
    print("| model | | Quire tokens/s | llama.cpp tokens/s | ratio (spread) | share of roof |")
    print("|---|---|---|---|---|---|")
    for model in args.models:
        pairs = measure(args, model)
        for kind in ("prefill", "decode"):
            print(row(pathlib.Path(model).stem, kind, pairs), flush=True)


if __name__ == "__main__":
    main()
