# How lit runs the pass tests.
import os

import lit.formats

config.name = "quire-passes"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["exec_root"]
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["tools"], lit_config.params["llvm_tools"],
     os.environ["PATH"]])
