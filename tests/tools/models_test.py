"""Real models, fetched beforehand: their text makes sense."""

import json
import os
import subprocess
import tempfile
import unittest

import support
from support import SOURCE, run, run_json

# Prompts whose first answer is far ahead of the second: the models compute
# with rounded activations, and a near-tie may fall either way.
PROMPTS = {
    "smollm2": (["-p", "The capital of France is"], "Paris"),
    "gemma3-270m": (["-p", "Monday, Tuesday, Wednesday,"], "Thursday, Friday"),
    "qwen2.5-coder-1.5b": (["--chat", "-p", "Write a Python function that adds two "
                            "numbers. Only code."], "def "),
}


def fetch(name):
    """The model's file, without a download if it is there already."""
    done = subprocess.run([os.path.join(SOURCE, "tools", "fetch-model"), name],
                          capture_output=True, text=True, cwd=SOURCE)
    if done.returncode != 0:
        raise unittest.SkipTest(f"{name} cannot be fetched: {done.stderr.strip()}")
    return done.stdout.strip()


class RealModels(unittest.TestCase):
    def test_greedy_text_makes_sense(self):
        for name, (arguments, expected) in PROMPTS.items():
            with self.subTest(name):
                result = run_json("run", fetch(name), "--json", "-n", "40", *arguments,
                                  timeout=600)
                self.assertIn(expected, result["text"])

    def test_chunks_give_the_same_numbers(self):
        model = fetch("smollm2")
        with tempfile.TemporaryDirectory() as folder:
            text = os.path.join(folder, "t.txt")
            with open(text, "w") as file:
                file.write("The quick brown fox jumps over the lazy dog. " * 6)
            scores = {run("eval", model, "-f", text, "--json", *how, timeout=600).stdout
                      for how in (["--chunk", "7"], ["--chunk", "512"], ["--decode"])}
        self.assertEqual(len(scores), 1)
        self.assertLess(json.loads(scores.pop())["perplexity"], 20)


if __name__ == "__main__":
    unittest.main()
