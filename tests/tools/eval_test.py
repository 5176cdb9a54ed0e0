"""quire eval: the same numbers however the text is fed."""

import math
import struct
import unittest

import support
from support import run, run_json

VOCABULARY = 64


def read_npy(path):
    """Rows of a float32 .npy file of two dimensions."""
    with open(path, "rb") as file:
        assert file.read(8) == b"\x93NUMPY\x01\x00"
        header = eval(file.read(struct.unpack("<H", file.read(2))[0]))
        assert header["descr"] == "<f4" and not header["fortran_order"]
        assert file.tell() % 64 == 0
        rows, columns = header["shape"]
        data = file.read()
    assert len(data) == 4 * rows * columns
    values = struct.unpack(f"<{rows * columns}f", data)
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


class Eval(support.ToyEngineTest):
    def evaluate(self, *arguments):
        return run_json("eval", self.engine, "--json", *arguments)

    def test_perplexity_follows_from_the_logits(self):
        tokens = [3, 4, 5, 6, 7, 8, 9, 10]
        out = self.path("logits.npy")
        result = self.evaluate("--tokens", ",".join(map(str, tokens)), "--logits", out)
        rows = read_npy(out)
        self.assertEqual((len(rows), len(rows[0])), (8, VOCABULARY))
        nll = sum(math.log(sum(map(math.exp, row))) - row[token]
                  for row, token in zip(rows, tokens[1:]))
        self.assertEqual(result["tokens"], 8)
        self.assertEqual(result["scored"], 7)
        self.assertAlmostEqual(result["nll"], nll, places=6)
        self.assertAlmostEqual(result["perplexity"], math.exp(nll / 7), places=6)

    def test_chunks_change_nothing(self):
        text = self.path("t.txt", "the quick brown fox jumps over the lazy dog. " * 20)
        results = set()
        for how in (["--chunk", "1"], ["--chunk", "7"], ["--chunk", "512"], ["--decode"],
                    [], ["--threads", "1"]):
            out = self.path("logits.npy")
            result = run("eval", self.engine, "--json", "-f", text, "--logits", out, *how)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(out, "rb") as file:
                results.add((result.stdout, file.read()))
        self.assertEqual(len(results), 1)

    def test_windows(self):
        text = ",".join(str(3 + i % 40) for i in range(25))
        result = self.evaluate("--tokens", text, "--context", "10")
        self.assertEqual((result["windows"], result["scored"]), (3, 22))
        first = self.evaluate("--tokens", ",".join(text.split(",")[:10]))
        self.assertLess(first["nll"], result["nll"])

    def test_generated_rows(self):
        tokens = ["--tokens", "3,4,5,6,7,8"]
        prompt = self.evaluate(*tokens)
        generated = self.evaluate(*tokens, "--generated-from", "3")
        # The toy's hash knows a row's role.
        self.assertNotEqual(prompt["nll"], generated["nll"])
        self.assertEqual(self.evaluate(*tokens, "--generated-from", "6")["nll"],
                         prompt["nll"])

    def test_one_token_has_no_perplexity(self):
        self.assertIsNone(self.evaluate("--tokens", "3")["perplexity"])

    def test_broken_logits_are_an_error(self):
        self.assert_fails(1, "not finite", "eval", self.engine, "--tokens", "3,63,4")

    def test_wrong_flags(self):
        self.assert_fails(2, "--chunk", "eval", self.engine, "--tokens", "1", "--chunk", "0")
        self.assert_fails(2, "--context", "eval", self.engine, "--tokens", "1",
                          "--context", "-3")
        self.assert_fails(2, "--decode", "eval", self.engine, "--tokens", "1",
                          "--decode", "--chunk", "2")
        self.assert_fails(1, "cannot write", "eval", self.engine, "--tokens", "1,2",
                          "--logits", "/nonexistent/x.npy")


if __name__ == "__main__":
    unittest.main()
