"""The machine profile: measured once, kept, and never seen in the numbers."""

import glob
import json
import os
import tempfile
import unittest

from support import TINY, run, run_json

SLOW = {"read_gbps": 0.5, "int8_gops": 3, "f32_gops": 900}
FAST = {"read_gbps": 900, "int8_gops": 90000, "f32_gops": 2}


class Profile(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="quire-profile-")
        self.folder = self.temporary.name
        # Empty counts as unset: this test alone may measure.
        self.environment = {"XDG_CACHE_HOME": self.folder, "QUIRE_MACHINE_PROFILE": ""}

    def tearDown(self):
        self.temporary.cleanup()

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w") as file:
                json.dump(content, file)
        return path

    def kept(self):
        return glob.glob(os.path.join(self.folder, "quire", "machine-*.json"))

    def compile(self, engine, *arguments, status=0, **environment):
        done = run("compile", TINY, "-o", self.path(engine), "--quiet", "--isa", "portable",
                   *arguments, environment={**self.environment, **environment}, timeout=500)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def manifest(self, engine):
        return run_json("inspect", self.path(engine), "--manifest", "--json")

    def test_measured_once_and_again_when_damaged(self):
        self.compile("first")
        (path,) = self.kept()
        with open(path) as file:
            text = file.read()
        before = os.stat(path)
        self.compile("second")
        self.assertEqual(os.stat(path).st_mtime_ns, before.st_mtime_ns)
        name = self.manifest("first")["machine_profile"]
        self.assertRegex(name, "^[0-9a-f]{16}$")
        self.assertEqual(self.manifest("second")["machine_profile"], name)
        for damaged in ("", text[: len(text) // 2], '{"read_gbps": -1}', "\0\xff[[["):
            with open(path, "w") as file:
                file.write(damaged)
            self.compile("again", "--stop-after", "import")
            with open(path) as file:
                self.assertGreater(json.load(file)["read_gbps"], 0)

    def test_no_place_to_keep_it_is_no_error(self):
        self.compile("engine", XDG_CACHE_HOME="/dev/null")
        self.assertEqual(self.manifest("engine")["machine_profile"], "default")

    def test_not_measured_for_help_or_a_wrong_command_line(self):
        for arguments in (["--help"], ["--quantize", "int3"], ["--no-such-option"]):
            run("compile", TINY, *arguments, environment=self.environment)
        self.assertEqual(self.kept(), [])

    def test_a_given_profile_must_be_one(self):
        for wish in (self.folder, self.path("missing.json"), self.path("empty.json", {}),
                     self.path("text.json", {**SLOW, "f32_gops": "fast"})):
            done = self.compile("engine", "--machine-profile", wish, status=1)
            self.assertIn("machine profile", done.stderr)

    def test_the_numbers_do_not_depend_on_it(self):
        tokens = ",".join(str(i * 37 % 500) for i in range(1, 80))
        seen = {}
        for name, rates in (("slow", SLOW), ("fast", FAST)):
            self.compile(name, "--machine-profile", self.path(name + ".json", rates))
            logits = self.path(name + ".npy")
            done = run("eval", self.path(name), "--tokens", tokens, "--logits", logits)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = run("run", self.path(name), "--tokens", tokens, "-n", "60").stdout
            with open(logits, "rb") as file:
                seen[name] = (file.read(), text, self.manifest(name))
        slow, fast = seen["slow"], seen["fast"]
        self.assertEqual(slow[:2], fast[:2])
        self.assertEqual(slow[2]["weights"], fast[2]["weights"])
        # They were different profiles, though.
        self.assertNotEqual(slow[2]["machine_profile"], fast[2]["machine_profile"])
        self.assertNotEqual(slow[2]["programs"], fast[2]["programs"])

    def test_each_profile_has_engines_of_its_own_in_the_cache(self):
        for rates in (SLOW, FAST, SLOW):
            wish = self.path("profile.json", rates)
            done = run("run", TINY, "-p", "Once", "-n", "2", "--isa", "portable",
                       environment={**self.environment, "QUIRE_MACHINE_PROFILE": wish},
                       timeout=500)
            self.assertEqual(done.returncode, 0, done.stderr)
        engines = glob.glob(os.path.join(self.folder, "quire", "tiny-*"))
        self.assertEqual(len([e for e in engines if not e.endswith(".lock")]), 2)


if __name__ == "__main__":
    unittest.main()
