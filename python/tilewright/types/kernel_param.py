"""What the parameters of a kernel are, by name and position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.types.dtypes import canonical


class KernelParam(dict[str, Any]):
    """A parameter of a kernel: what the traced program says of it, by key, and TileLang's names.

    Extents may be the names of run-time sizes, or formulas of them.
    """

    def __init__(
        self, name: str, dtype: Any, shape: Sequence[int | str], is_tensor: bool = True
    ) -> None:
        kind = "tensor" if is_tensor else "scalar"
        super().__init__(name=name, dtype=str(dtype), shape=list(shape), kind=kind)

    @staticmethod
    def of(parameter: Mapping[str, Any]) -> KernelParam:
        """From a parameter of a traced program."""
        made = KernelParam(parameter["name"], parameter["dtype"], parameter["shape"])
        made.update(parameter)
        return made

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.name)

    @property
    def name(self) -> str:
        """Its name in the function."""
        return self["name"]

    @property
    def dtype(self) -> Any:
        """The element type."""
        return canonical(self["dtype"])

    @property
    def shape(self) -> list[int | str]:
        """The extents; none for a number."""
        return self["shape"]

    def tilelang_dtype(self) -> Any:
        """The dtype."""
        return self.dtype

    def torch_dtype(self) -> Any:
        """The dtype as torch's."""
        return self.dtype.as_torch()

    def is_scalar(self) -> bool:
        """True for a number."""
        return self["kind"] != "tensor"

    def is_unsigned(self) -> bool:
        """True for an unsigned integer."""
        return self.dtype.startswith("uint")

    def is_float8(self) -> bool:
        """True for an 8-bit float."""
        return self.dtype.startswith("float8")

    def is_float4(self) -> bool:
        """True for a 4-bit float."""
        return self.dtype.startswith("float4")

    def is_boolean(self) -> bool:
        """True for bool."""
        return self.dtype == "bool"
