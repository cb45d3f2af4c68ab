"""Compiles kernels with TileLang itself and nvcc, for bench_static.py and bench_compile.py.

Runs in a process of its own: there `tilelang` means TileLang, in the benchmark it means tilewright.
Needs the package and nvcc, no GPU. Standard input has a JSON list of requests, each the file and
the name of a function, its keyword arguments and where to put the PTX; standard output gets a JSON
list of what a launch needs to know, and the processor time that it took: TileLang's to CUDA source,
and nvcc's.
"""

from __future__ import annotations

import contextlib
import json
import runpy
import sys
import time
from pathlib import Path
from typing import Any

from figures import child_seconds


def lower(request: dict[str, Any], arch: str) -> tuple[Any, dict[str, Any]]:
    """The function as TileLang lowers it, and the pass configuration that it needs."""
    import tilelang
    import tilelang.language
    from tilelang import tvm

    # The examples import Tilewright under its own name.
    sys.modules.update({"tilewright": tilelang, "tilewright.language": tilelang.language})
    function = runpy.run_path(request["file"])[request["function"]]
    configs: dict[str, Any] = request["pass_configs"]
    if hasattr(function, "get_tir"):  # @tilelang.jit: calling it would compile for the GPU at hand
        configs = {**(function.pass_configs or {}), **configs}
        function = function.get_tir
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    with target, tvm.transform.PassContext(opt_level=3, config=configs):
        return tilelang.lower(function(**request["arguments"]), target=target), configs


def compile_with_nvcc(source: str, fast_math: bool, arch: str) -> bytes:
    """CUDA source as PTX, with the options of TileLang's own run of nvcc."""
    from tilelang.contrib import nvcc

    options = nvcc.default_compile_options(["--use_fast_math"] if fast_math else None)
    return bytes(nvcc.compile_cuda(source, "ptx", [f"-arch={arch}"], options))


def tensor_maps(host_module: Any) -> dict[str, dict[str, Any]]:
    """The descriptors that the host makes for a kernel's TMA parameters, dimensions innermost
    first. The arguments of the call are those of cuTensorMapEncodeTiled, with TileLang's name for a
    dtype in front; a rank of r is followed by the tensor, r extents, strides, box extents and
    steps."""
    found: dict[str, dict[str, Any]] = {}
    for function in host_module.functions.values():
        calls = (function.attrs or {}).get("tma_descriptor_args") or {}
        for name, call in calls.items():
            rank, tensor = int(call[3]), call[4].name
            numbers = [int(number) for number in call[5:]]
            extents, strides, box, steps = (numbers[n * rank : (n + 1) * rank] for n in range(4))
            if set(steps) != {1}:
                raise RuntimeError(f"the descriptor of {tensor} takes every other element")
            found[getattr(name, "name", str(name))] = {
                "tensor": tensor, "extents": extents, "strides": strides, "box": box,
                "swizzle": ("none", "32B", "64B", "128B")[numbers[4 * rank + 1]],
            }  # fmt: skip
    return found


def answer(request: dict[str, Any], arch: str) -> dict[str, Any]:
    """Compiles one request and writes its PTX."""
    start = time.process_time()
    artifact, configs = lower(request, arch)
    seconds = time.process_time() - start
    ((symbol, kernel),) = artifact.device_mod.functions.items()
    attributes = {key: kernel.attrs[key] for key in kernel.attrs.keys()}
    extents = {tag: int(extent) for tag, extent in attributes["thread_extent"].items()}
    fast_math = bool(configs.get("tl.enable_fast_math", False))
    start = child_seconds()
    ptx = compile_with_nvcc(artifact.kernel_source, fast_math, arch)
    nvcc_seconds = child_seconds() - start
    Path(request["ptx"]).write_bytes(ptx)
    return {
        "entry": symbol.name_hint,
        "parameters": [parameter.name for parameter in kernel.params],
        "maps": tensor_maps(artifact.host_mod) if artifact.host_mod else {},
        "grid": [extents.get(f"blockIdx.{axis}", 1) for axis in "xyz"],
        "block": [extents.get(f"threadIdx.{axis}", 1) for axis in "xyz"],
        "shared_bytes": int(attributes.get("dyn_shared_memory_buf", 0)),
        "seconds": seconds,
        "nvcc_seconds": nvcc_seconds,
    }


def main() -> None:
    arch = sys.argv[1]
    import torch

    digits = arch.removeprefix("sm_").rstrip("af")
    capability = (int(digits[:-1]), int(digits[-1]))
    torch.cuda.get_device_capability = lambda *_: capability  # the seed reads it
    with contextlib.redirect_stdout(sys.stderr):  # TileLang prints
        answers = [answer(request, arch) for request in json.load(sys.stdin)]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
