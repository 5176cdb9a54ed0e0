# How lit runs the IR tests of this directory and those below it.
import os

import lit.formats

config.name = "quire-ir"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["exec_root"]
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["tools"], lit_config.params["llvm_tools"],
     os.environ["PATH"]])
