"""quire inspect: summary, manifest, ledger, kernels, checks."""

import os
import shutil
import unittest

import support
from support import run, run_json


class Inspect(support.ToyEngineTest):
    def test_summary(self):
        first = run("inspect", self.engine).stdout.splitlines()[0]
        self.assertTrue(first.endswith(": toy"), first)
        summary = run_json("inspect", self.engine, "--json")
        self.assertEqual(summary["model"]["vocabulary"], 64)
        self.assertEqual(summary["code"], ["portable"])

    def test_manifest(self):
        manifest = run_json("inspect", self.engine, "--manifest")
        self.assertEqual(manifest["schema_version"], 1)
        self.assertEqual(manifest["generation"]["stop_tokens"], [1])

    def test_memory_adds_up(self):
        memory = run_json("inspect", self.engine, "--memory", "--json",
                          "--cache-tokens", "1000", "--threads", "2")
        self.assertEqual(sum(row["bytes"] for row in memory["buffers"]),
                         memory["total_bytes"])
        self.assertEqual(memory["total_bytes"],
                         memory["mapped_bytes"] + memory["allocated_bytes"])
        # Two layers, one head, a key and a value of one f32 each.
        self.assertEqual(memory["kv_cache"]["bytes_per_token"], 2 * 1 * 2 * 4)
        context = memory["kv_cache"]["contexts"][-1]
        self.assertEqual(context["bytes"], context["tokens"] * 16)
        pages = [row for row in memory["buffers"] if row["owner"] == "cache"]
        # A page of four tokens takes a cache line per layer.
        self.assertEqual(pages[0]["bytes"], 250 * 2 * 64)
        self.assertIn("a slab is 1 page of 4 tokens", pages[0]["formula"])
        self.assertIn("bytes per token", run("inspect", self.engine, "--memory").stdout)

    def test_kernels(self):
        self.assertEqual(run_json("inspect", self.engine, "--kernels", "--json")[0]["name"],
                         "toy.attend")

    def test_html(self):
        page = self.path("page.html")
        self.assertEqual(run("inspect", self.engine, "--html", page).returncode, 0)
        with open(page) as file:
            text = file.read()
        self.assertTrue(text.startswith("<!doctype html>"))
        self.assertNotIn("http", text)

    def test_ir_that_was_kept_or_not(self):
        self.assert_fails(1, "keeps no IR", "inspect", self.engine, "--ir", "serve")
        engine = self.path("with-ir")
        shutil.copytree(self.engine, engine)
        os.makedirs(os.path.join(engine, "ir"))
        with open(os.path.join(engine, "ir", "serve.mlir"), "w") as file:
            file.write("module {}\n")
        self.assertEqual(run("inspect", engine, "--ir", "serve").stdout, "module {}\n")
        self.assert_fails(1, "it has serve", "inspect", engine, "--ir", "numbers")

    def test_verify(self):
        self.assertTrue(run_json("inspect", self.engine, "--verify", "--json")["ok"])
        broken = self.path("flipped")
        shutil.copytree(self.engine, broken)
        with open(os.path.join(broken, "weights.bin"), "r+b") as file:
            file.write(b"\xff")
        done = run("inspect", broken, "--verify")
        self.assertEqual(done.returncode, 1)
        self.assertIn("checksum of weights.bin", done.stdout)
        self.assertIn("quire: error: ", done.stderr)

    def test_one_view_at_a_time(self):
        self.assert_fails(2, "give one of", "inspect", self.engine, "--memory",
                          "--kernels")


if __name__ == "__main__":
    unittest.main()
