"""What the command-line tests share: running quire, and a toy engine.

The toy engine's model is a hash, so its text is nonsense, but it depends on
every token before it: what must not change its answers shows at once.
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

QUIRE = os.environ["QUIRE"]
SOURCE = os.environ["QUIRE_SOURCE"]
TINY = os.path.join(SOURCE, "models", "tiny")

# One token a letter, the space as byte-level tokenizers write it, and two
# control tokens.
LETTERS = "abcdefghijklmnopqrstuvwxyz.,ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CONTROL = ["<s>", "</s>"]


def run(*arguments, stdin=b"", environment=None, timeout=120):
    """Runs quire; the result has text stdout and stderr."""
    done = subprocess.run(
        [QUIRE, *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=timeout,
        env={**os.environ, **(environment or {})},
    )
    done.stdout = done.stdout.decode()
    done.stderr = done.stderr.decode()
    return done


def run_json(*arguments, **more):
    done = run(*arguments, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_text_directory(path):
    """config.json, tokenizer and template of a model without weights."""
    os.makedirs(path)
    vocabulary = {piece: i for i, piece in enumerate(CONTROL + ["\u0120"] + list(LETTERS))}
    added = [
        {"id": i, "content": piece, "special": True, "single_word": False,
         "lstrip": False, "rstrip": False, "normalized": False}
        for i, piece in enumerate(CONTROL)
    ]
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False,
                          "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": False,
                    "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": "", "end_of_word_suffix": "",
                  "fuse_unk": False, "byte_fallback": False,
                  "vocab": vocabulary, "merges": []},
    }
    template = (
        "{% for m in messages %}<s>{{ m['role'] }} {{ m['content'] }}{% endfor %}"
        "{% if add_generation_prompt %}<s>{% endif %}"
    )
    files = {
        "config.json": {"model_type": "llama", "eos_token_id": 1},
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": {"eos_token": "</s>", "chat_template": template},
    }
    for name, content in files.items():
        with open(os.path.join(path, name), "w") as file:
            json.dump(content, file)


class ToyEngineTest(unittest.TestCase):
    """A test with `self.engine`, `self.folder` and a cache of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="quire-cli-")
        text = os.path.join(cls.folder, "text")
        write_text_directory(text)
        cls.engine = os.path.join(cls.folder, "engine")
        subprocess.run(
            [os.environ["QUIRE_WRITE_TOY_ENGINE"], cls.engine,
             os.environ["QUIRE_TOY_CODE"], text],
            check=True,
        )

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w") as file:
                file.write(content)
        return path

    def assert_fails(self, status, sentence, *arguments, **more):
        """One `quire: error:` sentence with `sentence` in it, nothing else."""
        done = run(*arguments, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        errors = [line for line in done.stderr.splitlines()
                  if line.startswith("quire: error: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn(sentence, errors[0])
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
