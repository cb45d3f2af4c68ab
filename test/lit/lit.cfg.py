# How lit runs the files of this folder: `tw-opt`, `tw-vgpu`, FileCheck, `not`, split-file and
# `%python` by their names.
#
# Features, for `// REQUIRES:` and `%if`:
#   ptxas   CUDA's assembler is there; `%ptxas` is its path
#   python  `%python` can import this build's tilewright (an uninstrumented python cannot load an
#           instrumented module, so not with sanitizers)
#   asan    the tools are built with sanitizers (slow, other stack depths)

import os
import shutil
from pathlib import Path

import lit.formats

source = Path(config.tw_source_dir)
binary = Path(config.tw_binary_dir)

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".ptx"]
config.excludes = ["Inputs"]
config.test_source_root = str(source / "test" / "lit")
config.test_exec_root = str(binary / "test" / "lit")

config.environment["PATH"] = os.pathsep.join(
    [str(binary / "bin"), config.llvm_tools_dir, config.environment.get("PATH", "")]
)
# The Python package of this build, for tests that start from a .py program.
config.environment["PYTHONPATH"] = os.pathsep.join([str(source / "python"), str(binary / "python")])
config.environment["TILEWRIGHT_CACHE"] = "0"  # nothing is kept in the user's folder
config.environment["TILEWRIGHT_LIBCUDA"] = "none"  # the same tests on a machine with a GPU
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "ASAN_SYMBOLIZER_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%python", config.python_executable))
config.substitutions.append(("%source_dir", str(source)))

# From PyPI's nvidia-cuda-nvcc in the environment of the build, or from a toolkit on PATH.
venv = Path(config.python_executable).parent.parent
wheel_ptxas = sorted(venv.glob("lib/python3*/site-packages/nvidia/cu13/bin/ptxas"))
ptxas = str(wheel_ptxas[0]) if wheel_ptxas else shutil.which("ptxas")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if "address" in config.tw_sanitize:
    config.available_features.add("asan")
if not config.tw_sanitize:
    config.available_features.add("python")
if "avx512f" in Path("/proc/cpuinfo").read_text().split():
    config.available_features.add("avx512")
