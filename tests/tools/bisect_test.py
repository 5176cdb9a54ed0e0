"""quire inspect --bisect: a sound model says so, wrong calls are refused."""

import os
import tempfile
import unittest

import support
from support import TINY, run, run_json

IDS = ["--tokens", "1,77,5,200"]


class Bisect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="quire-bisect-")
        cls.engine = os.path.join(cls.temporary.name, "engine")
        done = run("compile", TINY, "-o", cls.engine, "--quiet", "--quantize", "int8",
                   "--disable-pass", "fuse-qkv", "--isa", "portable")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_an_engine_beside_its_checkpoint(self):
        report = run_json("inspect", self.engine, "--bisect", "--checkpoint", TINY,
                          "--json", *IDS)
        self.assertEqual(report["tokens"], [1, 77, 5, 200])
        self.assertIsNone(report["first_wrong_pass"])
        passes = {row["pass"]: row for row in report["passes"]}
        self.assertTrue(all(row["sound"] for row in passes.values()))
        # What the engine was compiled with is what is bisected.
        self.assertNotIn("fuse-qkv", passes)
        self.assertGreater(passes["quantize-weights"]["change"]["typical"], 1e-3)
        self.assertGreater(passes["quantize-weights"]["bar"], 0.1)

    def test_a_checkpoint(self):
        cache = {"XDG_CACHE_HOME": os.path.join(self.temporary.name, "cache")}
        done = run("inspect", TINY, "--bisect", "-p", "Once upon", "--isa", "portable",
                   environment=cache)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("every pass keeps the numbers\n", done.stdout)

    def test_refusals(self):
        for status, text, arguments in [
            (2, "--checkpoint", [self.engine, "--bisect"]),
            (2, "leave it out", [TINY, "--bisect", "--checkpoint", TINY]),
            (2, "goes with --bisect", [self.engine, "--tokens", "1"]),
            (2, "one of -p and --tokens",
             [self.engine, "--bisect", "--checkpoint", TINY, "-p", "a", *IDS]),
            (2, "--bisect and --html", [self.engine, "--bisect", "--verify"]),
            (1, "not in the vocabulary",
             [self.engine, "--bisect", "--checkpoint", TINY, "--tokens", "1,999999"]),
            (1, "shorter", [self.engine, "--bisect", "--checkpoint", TINY, "--tokens",
                            ",".join(["1"] * 300)]),
            (1, "/nowhere", [self.engine, "--bisect", "--checkpoint", "/nowhere", *IDS]),
        ]:
            with self.subTest(arguments):
                done = run("inspect", *arguments)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stderr.count("quire: error: "), 1)


if __name__ == "__main__":
    unittest.main()
