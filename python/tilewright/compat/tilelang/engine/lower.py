"""`tilelang.lower` and the module `tilelang.engine.lower`."""

from __future__ import annotations

from typing import Any

from tilewright.compat.tilelang.engine.param import CompiledArtifact, KernelParam
from tilewright.compat.tvm.target import Target
from tilewright.frontend.functions import PrimFunc
from tilewright.support.errors import LanguageError, reporting


@reporting
def lower(
    func_or_mod: Any,
    target: Any = "auto",
    target_host: Any = None,
    runtime_only: bool = False,
    enable_host_codegen: bool = False,
    enable_device_compile: bool = False,
    **options: Any,
) -> CompiledArtifact:
    """Compiles a function for `target` and gives its code; `kernel_source` is PTX for a GPU.

    Nothing runs, so a GPU target needs no GPU.
    """
    from tilewright.runtime.jitting import compile

    function = func_or_mod
    if isinstance(function, dict):
        if len(function) != 1:
            raise LanguageError(
                f"'tilelang.lower' takes a module of one function, got {len(function)}"
            )
        function = next(iter(function.values()))
    if not isinstance(function, PrimFunc):
        raise LanguageError(
            f"'tilelang.lower' expects a T.prim_func, got a Python {type(function).__name__}"
        )
    wanted = target if target not in (None, "auto") else Target.current() or "cuda"
    kernel = compile(function, target=wanted, device="cpu")
    return CompiledArtifact(kernel, kernel.params, kernel.get_kernel_source())


def extrac_params(function: PrimFunc) -> list[KernelParam]:
    """The parameters of a function. (The name is TileLang's.)"""
    return function.params


__all__ = ["extrac_params", "lower"]
