"""The bundled model from checkpoint to text: cache, run, eval, inspect."""

import json
import os
import subprocess
import tempfile
import unittest

import support
from support import QUIRE, TINY, run, run_json

PROMPT = "Once upon a time"


class Tiny(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="quire-tiny-")
        cls.folder = cls.temporary.name
        cls.engine = os.path.join(cls.folder, "engine")
        done = run("compile", TINY, "-o", cls.engine, "--quiet", timeout=500)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w") as file:
                file.write(content)
        return path

    def result(self, *arguments, **more):
        return run_json("run", self.engine, "--json", *arguments, **more)

    def test_the_same_greedy_text_every_way(self):
        base = self.result("-p", PROMPT, "-n", "100")
        self.assertGreater(len(base["text"]), 100)
        self.assertEqual(self.result("-n", "100", stdin=PROMPT), base)
        ids = run("tokenize", self.engine, PROMPT).stdout.strip()
        self.assertEqual(self.result("-n", "100", "--tokens", ids), base)
        for more in (["--threads", "1"], ["--threads", "2"], ["--max-batch-tokens", "1"],
                     ["--max-batch-tokens", "3"]):
            self.assertEqual(self.result("-n", "100", "-p", PROMPT, *more), base)
        self.assertEqual(run("run", self.engine, "-p", PROMPT, "-n", "100").stdout,
                         base["text"])

    def test_alone_or_in_a_crowd(self):
        requests = [{"id": i, "prompt": PROMPT[: 3 + i], "n": 30, "choices": 1 + i % 3,
                     "temperature": 0.5 * (i % 2), "seed": i, "logprobs": 0}
                    for i in range(8)]
        file = self.path("p.jsonl", "".join(json.dumps(r) + "\n" for r in requests))
        done = run("run", self.engine, "--prompts", file, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        together = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(together), sum(r["choices"] for r in requests))
        for request in requests:
            alone = self.result("-p", request["prompt"], "-n", "30", "--logprobs", "0",
                                "--temperature", request["temperature"],
                                "--seed", request["seed"])
            first = [r for r in together
                     if r["id"] == request["id"] and r["choice"] == 0][0]
            for key in ("text", "tokens", "finish_reason", "logprobs"):
                self.assertEqual(first[key], alone[key], request)

    def test_chunks_give_the_same_bits(self):
        story = self.result("-p", PROMPT, "-n", "200", "--ignore-eos")["text"]
        text = self.path("t.txt", PROMPT + story)
        seen = set()
        for how in (["--chunk", "1"], ["--chunk", "7"], ["--chunk", "512"], ["--decode"],
                    ["--threads", "1"]):
            out = self.path("logits.npy")
            done = run("eval", self.engine, "-f", text, "--json", "--logits", out, *how)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out, "rb") as file:
                seen.add((done.stdout, file.read()))
        self.assertEqual(len(seen), 1)
        # It wrote this text itself.
        self.assertLess(json.loads(done.stdout)["perplexity"], 4)

    def test_chat(self):
        done = run("chat", self.engine, "-n", "60",
                   stdin="Tell me a story about a fox.\n/exit\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(done.stdout.split()), 20)
        one = self.result("--chat", "-p", "Tell me a story about a fox.", "-n", "60")
        self.assertEqual(done.stdout, one["text"] + "\n")

    def test_inspect(self):
        self.assertTrue(run_json("inspect", self.engine, "--verify", "--json")["ok"])
        memory = run_json("inspect", self.engine, "--memory", "--json")
        # 2 x 6 layers x 2 heads x 32 x 2 bytes of bf16
        self.assertEqual(memory["kv_cache"]["bytes_per_token"], 2 * 6 * 2 * 32 * 2)

    def test_every_isa_level_writes_the_same_beginning(self):
        levels = run_json("inspect", self.engine, "--json")["code"]
        self.assertIn("portable", levels)
        texts = set()
        for level in levels:
            done = run("run", self.engine, "-p", PROMPT, "-n", "8", "--isa", level)
            if "this CPU runs up to" in done.stderr:
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            texts.add(done.stdout)
        self.assertEqual(len(texts), 1)


class Cache(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="quire-cache-")
        self.environment = {"XDG_CACHE_HOME": self.temporary.name}

    def tearDown(self):
        self.temporary.cleanup()

    def run_tiny(self, *arguments):
        done = run("run", TINY, "-p", PROMPT, "-n", "5", *arguments,
                   environment=self.environment, timeout=500)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def engines(self):
        place = os.path.join(self.temporary.name, "quire")
        return sorted(name for name in os.listdir(place) if not name.endswith(".lock"))

    def test_compiled_once_and_again_when_broken(self):
        first = self.run_tiny("--isa", "portable")
        self.assertIn("compiling", first.stderr)
        again = self.run_tiny("--isa", "portable")
        self.assertEqual((again.stdout, again.stderr), (first.stdout, ""))
        (engine,) = self.engines()
        weights = os.path.join(self.temporary.name, "quire", engine, "weights.bin")
        os.truncate(weights, 100)
        mended = self.run_tiny("--isa", "portable")
        self.assertIn("broken", mended.stderr)
        self.assertEqual(mended.stdout, first.stdout)

    def test_two_at_once_compile_once(self):
        processes = [
            subprocess.Popen([QUIRE, "run", TINY, "-p", PROMPT, "-n", "5", "--isa",
                              "portable", "--kv", "f32"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**os.environ, **self.environment})
            for _ in range(3)
        ]
        results = [p.communicate(timeout=500) for p in processes]
        self.assertEqual([p.returncode for p in processes], [0, 0, 0], results)
        self.assertEqual(len({out for out, _ in results}), 1)
        self.assertEqual(sum(b"compiling models" in error or b"into the cache" in error
                             for _, error in results), 1)
        self.assertEqual(len(self.engines()), 1)


if __name__ == "__main__":
    unittest.main()
