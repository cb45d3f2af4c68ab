"""Classes of TVM's IR that programs name in annotations and ask values about."""

from __future__ import annotations

from tilewright.compat import refuse_rest
from tilewright.frontend.functions import PrimFunc
from tilewright.language.value_kinds import PrimExpr


class IRModule(dict[str, PrimFunc]):
    """Functions by name. `tilelang.lower` and `tilelang.compile` take its only function."""

    @staticmethod
    def from_expr(function: PrimFunc) -> IRModule:
        """A module of one function."""
        return IRModule({function.__name__: function})

    @property
    def functions(self) -> dict[str, PrimFunc]:
        """The functions by name."""
        return self

    def script(self) -> str:
        """The tile IR of all functions."""
        return "\n".join(function.script() for function in self.values())


__all__ = ["IRModule", "PrimExpr"]

refuse_rest(__name__)
