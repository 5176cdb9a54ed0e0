# As for the IR tests, for the .mlir files below this directory.
import os

here = os.path.dirname(__file__)
lit_config.load_config(config, os.path.join(here, "..", "ir", "lit.cfg.py"))
config.name = "quire-codegen"
config.test_source_root = here
