"""Wrong command lines end with 2, failed work with 1; one sentence each."""

import os
import shutil
import subprocess
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

    def test_help_lists_what_is_taken(self):
        for command in ("run", "chat"):
            self.assertNotIn("--draft", run(command, "--help").stdout)
        self.assert_fails(2, "--draft", "chat", self.engine, "--draft", "ngram")
        for command in ("run", "chat", "eval", "bench", "inspect"):
            text = " ".join(run(command, "--help").stdout.split())
            self.assertIn("keep, f32, bf16, int8, int4 or int4a", text)
            self.assertIn("bf16, f16 or f32", text)

    def test_empty_model(self):
        for command in ("run", "chat", "eval", "tokenize", "inspect", "bench"):
            with self.subTest(command):
                self.assert_fails(2, "MODEL is empty", command, "")

    def test_statistics_start_a_line(self):
        command = [support.QUIRE, "run", self.engine, "-p", "a", "-n", "4", "--stats"]
        both = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertRegex(both.stdout.decode(), r"\nquire: prompt: ")
        apart = run(*command[1:])
        self.assertTrue(apart.stderr.startswith("quire: prompt: "), apart.stderr)
        self.assertFalse(apart.stdout.endswith("\n"))

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
            (["--threads", "1025"], "--threads"),
            (["--isa", ""], "--isa"),
            (["--quantize", ""], "--quantize"),
            (["-f", ""], "--file"),
            (["--prompts", ""], "--prompts"),
            (["--page-size", "0"], "--page-size"),
            (["--page-size", "-1"], "--page-size"),
            (["--max-context", "0"], "--max-context"),
            (["--draft"], "--draft"),
        ]
        for arguments, sentence in wrong:
            if not {"--tokens", "-p", "-f", "--prompts"} & set(arguments):
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
            done = subprocess.run([support.QUIRE, "run", self.engine, "-p", "a"],
                                  stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write to stdout", done.stderr)


    def test_messages_are_one_line_of_text(self):
        for model in (b"a\nb", b"\xff\xfe", b"\x1b[31m"):
            for command in (["run", model, "-p", "a"], ["inspect", model],
                            ["compile", model, "-o", "/tmp/x"]):
                with self.subTest(command):
                    done = subprocess.run([support.QUIRE, *command], capture_output=True)
                    self.assertEqual(done.returncode, 1)
                    lines = done.stderr.decode().splitlines()
                    self.assertEqual(len(lines), 1)
                    self.assertTrue(lines[0].isprintable())

    def test_devices_stay_devices(self):
        # A link to the device, so that a failure spoils the link only.
        device = self.path("device")
        os.symlink("/dev/full", device)
        for command in (["eval", self.engine, "--tokens", "3,4", "--logits", device],
                        ["inspect", self.engine, "--html", device]):
            self.assert_fails(1, "cannot write", *command)
            self.assertTrue(os.path.islink(device))

    def test_a_pipe_is_no_model(self):
        pipe = self.path("pipe.gguf")
        os.mkfifo(pipe)
        self.assert_fails(1, "pipe", "run", pipe, "-p", "a")


class CompileOptions(unittest.TestCase):
    def test_wrong_values_are_a_wrong_command_line(self):
        for wrong in (["--quantize", "int3"], ["--kv", "int8"], ["--page-size", "0"],
                      ["--stop-after", "nope"], ["--disable-pass", "nope"],
                      ["--dump-ir-after", "nope"], ["--isa", "sse"]):
            with self.subTest(wrong):
                done = run("compile", support.TINY, "-o", "/nonexistent/x", *wrong)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(wrong[0], done.stderr)


    def test_empty_values(self):
        for wrong in (["", "-o", "x"], [support.TINY, "--output", ""],
                      [support.TINY, "-o", "x", "--kv", ""],
                      [support.TINY, "-o", "x", "--dump-ir="]):
            with self.subTest(wrong):
                done = run("compile", *wrong)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, r"^quire: error: .*\n$")

    def test_help_lists_what_is_taken(self):
        self.assertNotIn("--draft", run("compile", "--help").stdout)
        done = run("compile", support.TINY, "-o", "x", "--draft", "ngram")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--draft is not supported", done.stderr)

    def test_an_output_in_the_way_is_known_before_any_work(self):
        done = run("compile", support.TINY, "-o", support.TINY)
        self.assertEqual(done.returncode, 1)
        self.assertIn("exists already", done.stderr)
        self.assertNotIn("phase", done.stderr)


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
