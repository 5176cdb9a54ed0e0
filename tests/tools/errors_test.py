"""Wrong command lines end with 2, failed work with 1; one sentence each."""

import os
import shutil
import unittest

import support
from support import run


class CommandLine(support.ToyEngineTest):
    def test_version_and_help(self):
        self.assertRegex(run("--version").stdout, r"^quire \d+\.\d+\.\d+\n$")
        self.assertEqual(run("--help").returncode, 0)
        for command in ("run", "chat", "eval", "tokenize", "inspect", "bench"):
            done = run(command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("MODEL", done.stdout)

    def test_no_or_unknown_command(self):
        self.assert_fails(2, "no command given")
        self.assert_fails(2, "no command 'frobnicate'", "frobnicate")

    def test_flags(self):
        wrong = [
            (["--frobnicate"], "--frobnicate"),
            (["-n", "abc"], "abc"),
            (["-n", "0"], "-n must be at least 1"),
            (["-n", "99999999999999999999"], "-n"),
            (["--temperature", "-1"], "temperature"),
            (["--temperature", "nan"], "temperature"),
            (["--top-p", "0"], "top_p"),
            (["--min-p", "2"], "min_p"),
            (["--repetition-penalty", "0"], "repetition_penalty"),
            (["--seed", "-1"], "seed"),
            (["--tokens", "1,,2"], "--tokens"),
            (["--tokens", "1,x"], "--tokens"),
            (["--tokens", "9223372036854775808"], "--tokens"),
            (["--tokens", "1", "-p", "a"], "give one of"),
            (["--threads", "-1"], "--threads"),
            (["--draft", "ngram"], "--draft"),
            (["--system", "x"], "--chat"),
            (["--quantize", "int8"], "--quantize"),
            (["--kv", "f32"], "--kv"),
            (["--max-context", "8"], "--max-context"),
        ]
        for arguments, sentence in wrong:
            if "--tokens" not in arguments and "-p" not in arguments:
                arguments = arguments + ["-p", "a"]
            with self.subTest(arguments):
                self.assert_fails(2, sentence, "run", self.engine, *arguments)

    def test_missing_model(self):
        self.assert_fails(2, "MODEL", "run")
        for command in ("run", "eval", "tokenize", "inspect", "bench", "chat"):
            with self.subTest(command):
                self.assert_fails(1, "no model at", command, "/nonexistent/model")

    def test_missing_files(self):
        self.assert_fails(1, "missing.txt", "run", self.engine, "-f", "missing.txt")
        self.assert_fails(1, "missing.txt", "eval", self.engine, "-f", "missing.txt")
        self.assert_fails(1, "m.jsonl", "run", self.engine, "--prompts", "m.jsonl")

    def test_tokens_outside_the_vocabulary(self):
        for token in ("-1", "64", "2147483648", "9223372036854775807"):
            with self.subTest(token):
                self.assert_fails(1, "outside the vocabulary", "run", self.engine,
                                  "--tokens", token)
                self.assert_fails(1, "outside the vocabulary", "eval", self.engine,
                                  "--tokens", token)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            import subprocess
            done = subprocess.run([support.QUIRE, "run", self.engine, "-p", "a"],
                                  stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write to stdout", done.stderr)


class BrokenEngines(support.ToyEngineTest):
    def copy(self, name):
        target = self.path(name)
        shutil.copytree(self.engine, target)
        return target

    def test_every_file_cut_short(self):
        for name in ("manifest.pb", "weights.bin", "portable.so", "tokenizer.bin"):
            with self.subTest(name):
                broken = self.copy("cut-" + name)
                file = os.path.join(broken, name)
                os.truncate(file, os.path.getsize(file) // 2)
                self.assert_fails(1, "", "run", broken, "-p", "a")

    def test_a_directory_that_is_no_engine(self):
        os.makedirs(self.path("empty"))
        self.assert_fails(1, "neither an engine", "run", self.path("empty"),
                          "-p", "a")


if __name__ == "__main__":
    unittest.main()
