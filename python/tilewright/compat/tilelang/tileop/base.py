"""The policies of `T.gemm`."""

from tilewright.language.tiles import GemmWarpPolicy

__all__ = ["GemmWarpPolicy"]
