"""quire bench: rows, profiles and traces."""

import json
import os
import tempfile
import unittest

from support import TINY, run

SHAPE = ["--prompt", "64", "--generate", "8", "--repeat", "2", "--threads", "2"]


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="quire-bench-")
        cls.engine = os.path.join(cls.temporary.name, "engine")
        done = run("compile", TINY, "-o", cls.engine, "--quiet", "--isa", "portable",
                   timeout=500)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def bench(self, *arguments, status=0):
        done = run("bench", self.engine, *SHAPE, *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, *arguments):
        return [json.loads(line)
                for line in self.bench("--json", *arguments).stdout.splitlines()]

    def test_rows(self):
        rows = self.rows("--batch", "1,2", "--depth", "0,16")
        self.assertEqual([(r["kind"], r["depth"], r["batch"]) for r in rows],
                         [("prefill", 0, 1), ("decode", 0, 1), ("batch-decode", 0, 2),
                          ("prefill", 16, 1), ("decode", 16, 1), ("batch-decode", 16, 2)])
        for row in rows:
            self.assertGreater(row["tokens_per_second"]["median"], 0)
            self.assertNotIn("profile", row)

    def test_a_profile_adds_up(self):
        rows = self.rows("--profile")
        self.assertEqual([row["kind"] for row in rows], ["prefill", "decode"])
        for row, tokens in zip(rows, (64, 1)):
            profile = row["profile"]
            self.assertEqual((profile["rows"], profile["workers"]), (tokens, 2))
            shares = [launch["share"] for launch in profile["launches"]]
            self.assertAlmostEqual(sum(shares) + profile["late_share"], 1, places=6)
            self.assertGreater(min(shares), 0)
            self.assertLess(profile["waiting_microseconds"], profile["step_microseconds"])
            # Every launch of the engine: six layers, and what stands around them.
            times = {launch["times"] for launch in profile["launches"]}
            self.assertEqual(times, {1, 6})

    def test_the_trace_is_one_document_with_a_track_for_each_worker(self):
        path = self.path("trace.json")
        self.bench("--profile", "--trace", path)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
        names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertEqual(names, {0: "steps", 1: "worker 0", 2: "worker 1"})
        slices = [e for e in events if e["ph"] == "X"]
        for track in names:
            own = sorted((e["ts"], e["dur"]) for e in slices if e["tid"] == track)
            self.assertGreater(len(own), 2)
            for (ts, duration), (following, _) in zip(own, own[1:]):
                self.assertGreaterEqual(duration, 0)
                self.assertLessEqual(ts + duration, following + 0.002)
        self.assertEqual({e["cat"] for e in slices}, {"step", "kernel", "barrier"})
        titles = {e["name"] for e in slices if e["cat"] == "step"}
        self.assertEqual(titles, {"prefill at depth 0", "decode at depth 0"})

    def test_for_people(self):
        text = self.bench("--profile").stdout
        self.assertIn("waiting at barriers", text)
        self.assertIn("us a step of 64 rows on 2 workers", text)

    def test_a_trace_wants_a_profile_and_a_place(self):
        self.assertIn("--profile", self.bench("--trace", "x.json", status=2).stderr)
        done = self.bench("--profile", "--trace", self.path("no/such/place.json"), status=1)
        self.assertIn("cannot write the trace", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
