"""quire inspect --bisect: a sound model says so, a spoiled engine is found out,
wrong calls are refused."""

import json
import os
import shutil
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

        launches = report["launches"]
        self.assertIsNone(report["first_wrong_launch"])
        self.assertTrue(all(row["sound"] for row in launches))
        self.assertEqual(launches[-1]["buffer"], "@logits")
        self.assertEqual({row["layer"] for row in launches}, set(range(-1, 6)))
        self.assertTrue(any(row["kernel"] == "kv_append_bf16" for row in launches))
        # Other code sums in another order, but as well.
        self.assertTrue(any(row["error"] > 0 for row in launches))

    def spoiled(self, slot, layer):
        """A copy of the engine with one byte of a weight in a layer changed."""
        engine = os.path.join(self.temporary.name, f"{slot}-{layer}")
        shutil.copytree(self.engine, engine)
        weights = run_json("inspect", engine, "--manifest")["weights"]
        entry = next(entry for entry in weights["entries"]
                     if entry["name"] == slot and int(entry["layer"]) == layer)
        with open(os.path.join(engine, weights["file"]["path"]), "r+b") as file:
            # Packed integers: a supertile's header of scales is shorter.
            place = int(entry["offset"]) + 1000
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 0x40]))
        return engine

    def test_a_spoiled_weight_is_named(self):
        for slot, layer, launch, tensor in [
            ("dense.mlp_down.weight", 3, "dense.mlp_down",
             "model.layers.3.mlp.down_proj.weight"),
            ("dense.attn_v.weight", 0, None, "model.layers.0.self_attn.v_proj.weight"),
            ("dense.mlp_gate.weight", 5, "dense.mlp_gated",
             "model.layers.5.mlp.gate_proj.weight"),
        ]:
            with self.subTest(slot):
                done = run("inspect", self.spoiled(slot, layer), "--bisect",
                           "--checkpoint", TINY, "--json", *IDS)
                self.assertEqual(done.returncode, 1, done.stderr)
                report = json.loads(done.stdout)
                wrong = report["first_wrong_launch"]
                self.assertEqual(wrong["layer"], layer)
                self.assertIn(tensor, wrong["tensors"])
                if launch:
                    self.assertEqual(wrong["launch"], launch)
                # It is found where it is made and nowhere behind.
                self.assertEqual([row["sound"] for row in report["launches"]].count(False), 1)
                self.assertIsNone(report["first_wrong_pass"])
                self.assertIn(tensor, done.stderr)
                self.assertEqual(done.stderr.count("quire: error: "), 1)

    def test_a_checkpoint(self):
        cache = {"XDG_CACHE_HOME": os.path.join(self.temporary.name, "cache")}
        done = run("inspect", TINY, "--bisect", "-p", "Once upon", "--isa", "portable",
                   environment=cache)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("every pass keeps the numbers\n", done.stdout)
        self.assertIn("every launch gives the interpreter's\n", done.stdout)

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
