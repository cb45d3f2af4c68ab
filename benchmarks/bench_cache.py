"""The start of a kernel in a fresh process, with and without its code on disk, and a call's cost.

A start is everything from the imported package to the end of the first call: tracing, compiling or
loading, linking, checking the arguments; each in a process of its own, the best of a few. A call is
one of a kernel that does almost nothing. A call on a GPU is our side of it: the stand-in for the
driver (test/lib/FakeCuda, where it is built) launches nothing then. All are processor time, so that
a busy machine does not decide.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from figures import ROOT, Figure

SMALL = """
import numpy as np
import tilewright
import tilewright.language as T

@T.prim_func
def add(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32"),
        C: T.Tensor((128,), "float32"), D: T.Tensor((128,), "float32")):
    with T.Kernel(1, threads=128):
        for i in T.Parallel(128):
            D[i] = A[i] + B[i] + C[i]
"""

START_SMALL = """
import json, time
import numpy as np, tilewright
import tilewright.language as T, tilewright.jitting
start = time.process_time()
from small import add
kernel = tilewright.compile(add, device="cpu")
kernel(*np.zeros((4, 128), np.float32))
print(json.dumps(time.process_time() - start))
"""

START_SEED = """
import json, os, sys, time
os.environ["TILEWRIGHT_DEVICE"] = "cpu"
from tilewright.compat import imports
imports.install()
import numpy as np, tilewright, torch
import tilewright.language as T, tilewright.jitting
from flash_attention_backward import flashattn_bwd
q = [np.zeros((1, 2, 64, 64), np.float16) for _ in range(4)]
statistics = [np.zeros((1, 2, 64), np.float32) for _ in range(2)]
outputs = [np.zeros((1, 2, 64, 64), np.float32) for _ in range(3)]
start = time.process_time()
kernel = flashattn_bwd(1, 2, 64, 64, 1)
kernel(*q, *statistics, *outputs)
print(json.dumps(time.process_time() - start))
"""

CALL = """
import json, sys, time
from small import *
kernel = tilewright.compile(add, device="cpu")
if sys.argv[1] == "torch":
    import torch
    arrays = [torch.zeros(128) for _ in range(4)]
else:
    arrays = [np.zeros(128, np.float32) for _ in range(4)]
times = []
for _ in range(9):
    start = time.process_time()
    for _ in range(5000):
        kernel(*arrays)
    times.append((time.process_time() - start) / 5000)
print(json.dumps(min(times)))
"""

#: Tensors of a GPU, taken in turn: tensor maps are kept for 16 calls.
CALL_GPU = """
import ctypes, json, sys, time
import numpy as np, tilewright
from tilewright.compat import imports
imports.install()
from hopper_kernels import gemm
from small import add

class GpuArray:
    def __init__(self, shape, dtype):
        address = ctypes.c_ulonglong()
        bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(bytes)) == 0
        self.__cuda_array_interface__ = dict(
            shape=shape, typestr=np.dtype(dtype).str, data=(address.value, False), version=3)

driver = ctypes.CDLL(sys.argv[1])
assert tilewright.device.gpus()  # starts the driver
context = ctypes.c_void_p()
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 100) == 0
assert driver.cuCtxPushCurrent_v2(context) == 0
if sys.argv[2] == "maps":
    made = gemm(256, 256, 128, 128, 128, 64, 2, 256)
    shapes, dtype = [(256, 128), (256, 128), (256, 256)], np.float16
else:
    made, shapes, dtype = add, [(128,)] * 4, np.float32
kernel = tilewright.compile(made, device="cuda")
assert (sys.argv[2] == "maps") == (".tensormap" in kernel.ptx or "bulk.tensor" in kernel.ptx)
calls = [[GpuArray(shape, dtype) for shape in shapes] for _ in range(int(sys.argv[3]))]
times = []
for _ in range(9):
    start = time.process_time()
    for number in range(5000):
        kernel(*calls[number % len(calls)])
    times.append((time.process_time() - start) / 5000)
print(json.dumps(min(times)))
"""


def run(code: str, folder: str, *arguments: str, cache: str, **variables: str) -> float:
    """What a fresh process prints; `folder` and the seed's are on its path."""
    path = os.pathsep.join(
        [folder, str(ROOT / "examples" / "seed"), str(ROOT / "benchmarks"), *sys.path]
    )
    environment = {**os.environ, "TILEWRIGHT_CACHE_DIR": cache, "PYTHONPATH": path, **variables}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    return json.loads(done.stdout)


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "small.py"), "w") as file:
            file.write(SMALL)
        for name, code in (("a small kernel", START_SMALL), ("the seed kernel", START_SEED)):
            caches = [os.path.join(folder, f"{name}-{turn}") for turn in range(3)]
            cold = min(run(code, folder, cache=cache) for cache in caches)
            warm = min(run(code, folder, cache=caches[0]) for _ in range(5))
            yield Figure(f"cache: first call of {name}, cold", 1e3 * cold, "ms")
            yield Figure(f"cache: first call of {name}, warm", 1e3 * warm, "ms", "the budget", 30)
        budgets = {"numpy": 5} | ({"torch": 10} if find_spec("torch") else {})
        for library, budget in budgets.items():
            seconds = run(CALL, folder, library, cache=caches[0])
            name = f"cache: a call with 4 {library} tensors"
            yield Figure(name, 1e6 * seconds, "us", "the budget", budget)
        yield from gpu_calls(folder)


def gpu_calls(folder: str) -> Iterator[Figure]:
    """Our side of a call on a GPU, with tensors there."""
    from tilewright._core import core

    driver = Path(core.__file__).parents[1] / "lib" / "libTwFakeCuda.so"
    if not driver.exists():
        yield Figure("cache: a call on a GPU", None, "", note="skipped: no stand-in for the driver")
        return
    idle = {"TILEWRIGHT_LIBCUDA": str(driver), "TILEWRIGHT_FAKE_GPUS": "9.0",
            "TILEWRIGHT_FAKE_IDLE": "1"}  # fmt: skip
    for name, *arguments in (
        ("4 tensors on a GPU", "plain", "1"),
        ("3 tensor maps on a GPU", "maps", "1"),
        ("3 tensor maps on a GPU, of 16 calls in turn", "maps", "16"),
        ("3 tensor maps on a GPU, of 17 calls in turn", "maps", "17"),
    ):
        seconds = run(CALL_GPU, folder, str(driver), *arguments, cache=folder, **idle)
        yield Figure(f"cache: a call with {name}", 1e6 * seconds, "us", "the budget", 5)
