"""The texts of a kernel and the answers of the tuner, under the names TileLang gives them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tilewright.support.errors import LanguageError, reporting

if TYPE_CHECKING:
    from tilewright.frontend.functions import PrimFunc
    from tilewright.runtime.device import Placement

Which = Literal["kernel", "host", "both"]


class KernelTexts:
    """What a `JITKernel` shows of its code: each text can be had, printed and written to a file."""

    prim_func: PrimFunc
    program: Any
    placement: Placement
    latency: float | None
    ref_latency: float | None
    config: dict[str, Any] | None

    if TYPE_CHECKING:

        @property
        def ptx(self) -> str:
            """The PTX of the kernel."""
            ...

    def get_kernel_source(self, kernel_only: bool = True) -> str:
        """The generated code: PTX for a GPU target, else the tile IR that is executed."""
        target = self.placement.target
        is_gpu = self.placement.is_gpu or target.startswith("sm_") or target == "cuda"
        return self.ptx if is_gpu else self.program.text()

    def get_host_source(self) -> str:
        """The host side of the generated code: part of the tile IR."""
        return self.program.text()

    @property
    def kernel_source(self) -> str:
        """As `get_kernel_source()`."""
        return self.get_kernel_source()

    @property
    def host_source(self) -> str:
        """As `get_host_source()`."""
        return self.get_host_source()

    def _sources(self, which: Which) -> str:
        if which not in ("kernel", "host", "both"):
            raise LanguageError(f"the sources are 'kernel', 'host' and 'both', got {which!r}")
        parts = [] if which == "host" else [self.get_kernel_source()]
        return "\n".join(parts if which == "kernel" else [*parts, self.get_host_source()])

    @reporting
    def show_source(self, which: Which = "kernel") -> None:
        """Prints the generated code."""
        print(self._sources(which))

    @reporting
    def print_source_code(self, which: Which = "kernel", file: str | None = None) -> None:
        """Prints the generated code, or writes it to `file`."""
        text = self._sources(which)
        if file is None:
            sys.stdout.write(text + "\n")
        else:
            Path(file).write_text(text)

    @reporting
    def export_sources(self, kernel_path: str | None = None, host_path: str | None = None) -> None:
        """Writes the generated code of the kernel, of the host, or both."""
        if kernel_path is None and host_path is None:
            raise LanguageError("export_sources: give kernel_path, host_path or both")
        for path, text in (
            (kernel_path, self.get_kernel_source),
            (host_path, self.get_host_source),
        ):
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).write_text(text())

    def show_ptx(self) -> None:
        """Prints the PTX."""
        print(self.ptx)

    def export_ptx(self, path: str) -> None:
        """Writes the PTX."""
        Path(path).write_text(self.ptx)

    # ---- Of the tuner ----

    def update_tuner_result(
        self, latency: float, config: dict[str, Any], ref_latency: float
    ) -> Any:
        """Notes what a tuner found out about this kernel; gives the kernel back."""
        self.latency, self.config, self.ref_latency = latency, config, ref_latency
        return self

    def get_tuner_result(self) -> dict[str, Any]:
        """What a tuner found out about this kernel."""
        if self.latency is None:
            raise LanguageError("this kernel was not tuned; use @tilelang.autotune")
        return {"latency": self.latency, "config": self.config, "ref_latency": self.ref_latency}
