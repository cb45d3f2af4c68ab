"""The module `tilelang.jit`: the classes of jitted functions and kernels. (The name `jit` of the
package is the decorator.)"""

from __future__ import annotations

from tilewright.runtime.jitting import JITFunction as JITImpl
from tilewright.runtime.jitting import compile, jit, par_compile
from tilewright.runtime.kernel import JITKernel

__all__ = ["JITImpl", "JITKernel", "compile", "jit", "par_compile"]
