"""quire run and chat on the toy engine: prompts, streams, stops, interruption."""

import json
import signal
import subprocess
import unittest

import support
from support import QUIRE, run, run_json


class Run(support.ToyEngineTest):
    def result(self, *arguments, **more):
        return run_json("run", self.engine, "--json", *arguments, **more)

    def test_the_prompt_may_come_four_ways(self):
        result = self.result("-p", "abc", "-n", "20")
        self.assertEqual(len(result["tokens"]), result["usage"]["completion_tokens"])
        self.assertEqual(result["usage"]["prompt_tokens"], 3)
        self.assertEqual(self.result("-n", "20", stdin="abc\n"), result)
        self.assertEqual(self.result("-n", "20", "-f", self.path("p.txt", "abc")), result)
        ids = run("tokenize", self.engine, "abc").stdout.strip()
        self.assertEqual(self.result("-n", "20", "--tokens", ids), result)

    def test_the_stream_is_the_text(self):
        for seed in range(5):
            sampled = ["--temperature", "1.5", "--seed", seed, "-p", "ab", "-n", "30"]
            result = self.result(*sampled)
            self.assertEqual(run("run", self.engine, *sampled).stdout, result["text"])

    def test_stop_strings(self):
        base = self.result("-p", "abc", "-n", "60", "--ignore-eos")
        text = base["text"]
        self.assertGreater(len(text), 20)
        for stop in (text[7], text[5:8], text[10:14]):
            result = self.result("-p", "abc", "-n", "60", "--ignore-eos", "--stop", stop,
                                 "--stop", "never seen")
            self.assertEqual(result["text"], text[: text.index(stop)])
            self.assertEqual(result["finish_reason"], "stop")

    def test_end_tokens(self):
        for seed in range(200):
            sampled = ["--temperature", "3", "--seed", seed, "-p", "ab", "-n", "60"]
            result = self.result(*sampled)
            if result["finish_reason"] == "stop":
                break
        self.assertEqual(result["finish_reason"], "stop")
        self.assertEqual(result["tokens"][-1], 1)
        going = self.result(*sampled, "--ignore-eos")
        self.assertEqual(going["finish_reason"], "length")
        self.assertEqual(going["tokens"][: len(result["tokens"])], result["tokens"])

    def test_logprobs(self):
        result = self.result("-p", "abc", "-n", "5", "--logprobs", "3")
        self.assertEqual([row["id"] for row in result["logprobs"]], result["tokens"])
        for row in result["logprobs"]:
            self.assertEqual(len(row["top"]), 3)
            self.assertEqual(row["top"][0]["id"], row["id"])
            self.assertLess(row["logprob"], 0)

    def test_show_tokens(self):
        result = self.result("-p", "abc", "-n", "5")
        lines = run("run", self.engine, "-p", "abc", "-n", "5", "--show-tokens").stdout
        self.assertEqual([int(line.split("\t")[0]) for line in lines.splitlines()],
                         result["tokens"])

    def test_stats_go_to_stderr(self):
        done = run("run", self.engine, "-p", "abc", "-n", "5", "--stats")
        for word in ("tokens/s", "first token", "peak memory", "preemptions"):
            self.assertIn(word, done.stderr)
            self.assertNotIn(word, done.stdout)

    def test_empty_prompt_is_refused(self):
        self.assert_fails(1, "prompt is empty", "run", self.engine, "-p", "")

    def test_broken_logits_end_with_1_and_a_result(self):
        done = run("run", self.engine, "--tokens", "3,63", "-n", "3", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["finish_reason"], "error")
        self.assertIn("quire: error: ", done.stderr)

    def test_a_small_cache_is_said_to_end_the_text(self):
        done = run("run", self.engine, "-p", "ab", "-n", "60", "--ignore-eos",
                   "--cache-tokens", "8")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--cache-tokens", done.stderr)

    def test_threads_and_steps_change_nothing(self):
        base = self.result("-p", "abcdefghijkl", "-n", "40")
        for more in (["--threads", "1"], ["--threads", "2"], ["--max-batch-tokens", "1"],
                     ["--max-batch-tokens", "5"], ["--cache-tokens", "64"]):
            self.assertEqual(self.result("-p", "abcdefghijkl", "-n", "40", *more), base)


class PromptFile(support.ToyEngineTest):
    def serve(self, lines, *arguments):
        file = self.path("p.jsonl", "".join(
            (line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        done = run("run", self.engine, "--prompts", file, "--json", *arguments)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        return done, {(r["id"], r.get("choice", 0)): r for r in results}

    def test_each_equals_its_own_run(self):
        requests = [{"id": f"r{i}", "prompt": "abcdefgh"[: i + 1], "n": 5 + 3 * i,
                     "temperature": i % 3, "seed": i} for i in range(8)]
        done, results = self.serve(requests)
        self.assertEqual(done.returncode, 0, done.stderr)
        for request in requests:
            alone = run_json("run", self.engine, "--json", "-p", request["prompt"],
                             "-n", request["n"], "--temperature", request["temperature"],
                             "--seed", request["seed"])
            together = results[(request["id"], 0)]
            for key in ("text", "tokens", "finish_reason", "usage"):
                self.assertEqual(together[key], alone[key], request)

    def test_choices(self):
        done, results = self.serve(
            [{"id": 7, "prompt": "abcde", "n": 20, "choices": 3, "temperature": 2,
              "seed": 5}])
        self.assertEqual(sorted(results), [(7, 0), (7, 1), (7, 2)])
        texts = {r["text"] for r in results.values()}
        self.assertEqual(len(texts), 3)

    def test_preemption_changes_nothing(self):
        requests = [{"id": i, "prompt": "abcdefgh", "n": 40, "temperature": 1, "seed": i}
                    for i in range(6)]
        _, ample = self.serve(requests)
        done, tight = self.serve(requests, "--cache-tokens", "100", "--stats")
        self.assertEqual(ample, tight)
        self.assertRegex(done.stderr, r"preemptions: [1-9]")

    def test_a_wrong_line_leaves_the_others_alone(self):
        done, results = self.serve([
            {"id": "good", "prompt": "abc", "n": 4, "ignore_eos": True},
            "{not json",
            {"id": "type", "prompt": 3},
            {"id": "both", "prompt": "a", "tokens": [1]},
            {"id": "vocabulary", "tokens": [1, 64]},
            {"id": "huge", "tokens": [18446744073709551615]},
            {"id": "range", "prompt": "a", "top_p": 7},
            {"id": "choices", "prompt": "a", "choices": 0},
            {"id": "none", "prompt": "a", "n": -1},
            {"id": "wraps", "prompt": "a", "n": 18446744073709551615},
            "",
            {"id": "also good", "tokens": [3, 4], "n": 2, "ignore_eos": True},
        ])
        self.assertEqual(done.returncode, 1)
        self.assertIn("9 of 11 requests failed", done.stderr)
        self.assertEqual(results[("good", 0)]["finish_reason"], "length")
        self.assertEqual(len(results[("also good", 0)]["tokens"]), 2)
        for name in ("type", "both", "vocabulary", "huge", "range", "choices", "none",
                     "wraps"):
            self.assertEqual(results[(name, 0)]["finish_reason"], "error")
            self.assertTrue(results[(name, 0)]["error"])
        self.assertIn("line 2", results[(1, 0)]["error"])

    def test_results_for_people(self):
        file = self.path("p.jsonl", '{"id": "x", "prompt": "abc", "n": 3}\n')
        done = run("run", self.engine, "--prompts", file)
        self.assertTrue(done.stdout.startswith("== x\n"))


class Interruption(support.ToyEngineTest):
    def start(self, *arguments, **more):
        return subprocess.Popen([QUIRE, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)

    def test_control_c_keeps_the_text_and_ends_with_130(self):
        process = self.start("run", self.engine, "-p", "abc", "-n", "60000",
                             "--ignore-eos")
        first = process.stdout.read(10)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(errors, b"quire: error: interrupted\n")
        whole = run("run", self.engine, "-p", "abc", "-n", str(len(first + rest)),
                    "--ignore-eos").stdout.encode()
        self.assertTrue((first + rest).startswith(whole[:10]))

    def test_a_reader_that_leaves_ends_the_run(self):
        process = self.start("run", self.engine, "-p", "abc", "-n", "60000",
                             "--ignore-eos")
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()


    def test_control_c_stops_an_answer_and_a_second_one_leaves(self):
        process = self.start("chat", self.engine, "-n", "60000", "--ignore-eos",
                             stdin=subprocess.PIPE)
        for message in (b"abc\n", b"def\n"):
            process.stdin.write(message)
            process.stdin.flush()
            process.stdout.read(10)
            process.send_signal(signal.SIGINT)
            process.stdout.readline()
            self.assertIn(b"stopped", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)


class Chat(support.ToyEngineTest):
    def test_through_a_pipe(self):
        talk = "abc\ndef\n"
        done = run("chat", self.engine, "-n", "8", stdin=talk)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The first answer depends on the first message alone, the second on
        # both.
        first = run("run", self.engine, "--chat", "-p", "abc", "-n", "8").stdout
        self.assertTrue(done.stdout.startswith(first + "\n"))
        alone = run("chat", self.engine, "-n", "8", stdin="def\n").stdout
        self.assertNotEqual(done.stdout[len(first) + 1:], alone)
        anew = run("chat", self.engine, "-n", "8", stdin="abc\n/reset\ndef\n").stdout
        self.assertEqual(anew, first + "\n" + alone)

    def test_exit(self):
        done = run("chat", self.engine, stdin="/exit\nabc\n")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_messages_never_become_control_tokens(self):
        def prompt_tokens(text):
            return run_json("run", self.engine, "--chat", "-p", text, "-n", "1",
                            "--json")["usage"]["prompt_tokens"]

        # "<s>" as text is its only known letter.
        self.assertEqual(prompt_tokens("<s>"), prompt_tokens("s"))


if __name__ == "__main__":
    unittest.main()
