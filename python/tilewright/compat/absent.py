"""Modules of TileLang 0.1.15 and of the TVM beside it that have no counterpart here.

They can be imported, as a program may do for one of its modes; what they give is refused where it
is used, with the reason below.
"""

from __future__ import annotations

_PASSES = "the passes are Tilewright's own: kernel.ir(pass) shows the program after one"
_IR = "Tilewright has no TVM IR; kernel.ir(stage) shows its own"
_OTHER_GPUS = "kernels are compiled for NVIDIA GPUs and for the CPU"
_TOOLS = "kernel.ir(stage), kernel.remarks and kernel.summary() show what was decided"

#: A module, with everything below it, and what to use instead.
ABSENT = {
    "tilelang._ffi_api": "there is no C interface of TVM here",
    "tilelang.analysis": _PASSES,
    "tilelang.ascend": _OTHER_GPUS,
    "tilelang.autodd": _TOOLS,
    "tilelang.autotuner": "tilelang.autotune and tilelang.autotuner.AutoTuner tune kernels",
    "tilelang.backend": "a device is chosen by target=, device= or TILEWRIGHT_DEVICE",
    "tilelang.cache": "compiled code is kept on disk; tilelang.disable_cache() turns that off",
    "tilelang.carver": "the carver's cost models are not here; give the configurations as a list",
    "tilelang.contrib": "the code generators are Tilewright's own; nvcc is not called",
    "tilelang.cpu": "the CPU is a device here: device='cpu'",
    "tilelang.cuda": "T.gemm picks the instructions; kernel.ptx shows them",
    "tilelang.engine": "tilelang.compile compiles a function",
    "tilelang.instrumentation": _TOOLS,
    "tilelang.intrinsics": "T.gemm picks the instructions; kernel.ptx shows them",
    "tilelang.ir": _IR,
    "tilelang.jit": "tilelang.compile and tilelang.jit compile a function",
    "tilelang.language.ast": _IR,
    "tilelang.language.eager": "write kernels with tilelang.language",
    "tilelang.layout": "T.Layout and T.Fragment describe layouts",
    "tilelang.libinfo": "there are no libraries of TVM here",
    "tilelang.metal": _OTHER_GPUS,
    "tilelang.quantize": "CUDA source text cannot run here; write the conversion in the language",
    "tilelang.rocm": _OTHER_GPUS,
    "tilelang.tileop": "T.gemm picks the instructions; kernel.ptx shows them",
    "tilelang.tools": _TOOLS,
    "tilelang.transform": _PASSES,
    "tilelang.utils": _TOOLS,
    "tilelang.webgpu": _OTHER_GPUS,
    "tvm.arith": "index arithmetic is proved by the compiler itself",
    "tvm.base": _IR,
    "tvm.contrib": "the code generators are Tilewright's own",
    "tvm.ffi": "there is no C interface of TVM here",
    "tvm.ir": _IR,
    "tvm.rpc": "kernels run in this process",
    "tvm.runtime": "kernels take numpy arrays and torch tensors",
    "tvm.script": "write kernels with tilelang.language",
    "tvm.te": "write kernels with tilelang.language",
    "tvm.tirx": _IR,
    "tvm.tl": "write kernels with tilelang.language",
    "tvm.topi": "write kernels with tilelang.language",
    "tvm.transform": _PASSES,
    "tvm_ffi": "there is no C interface of TVM here; kernels take numpy arrays and torch tensors",
}


def why_absent(module: str) -> str | None:
    """What to use instead of a module that is not here; None if TileLang has no such module."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        reason = ABSENT.get(".".join(parts[:length]))
        if reason is not None:
            return reason
    return None
