"""`determine_target`: the target that "auto" stands for."""

from __future__ import annotations

from typing import Any, Literal

from tilewright.compat import refuse_rest
from tilewright.compat.tvm.target import Target
from tilewright.runtime.device import default_arch, target_name


def determine_target(
    target: str | dict[str, Any] | Target | Literal["auto"] = "auto", return_object: bool = False
) -> Any:
    """The target for "auto": that of `with Target(...)`, else CUDA for the chosen architecture.
    Other targets are given back. With `return_object` it is a `Target`."""
    if target is None or str(target) == "auto":
        found: Any = Target.current() or Target(f"cuda -arch={default_arch()}")
    else:
        target_name(target)  # refuses what is none
        found = target
    return Target(found) if return_object else found


def auto_detect_target() -> Target:
    """The target that "auto" stands for."""
    return determine_target("auto", return_object=True)


__all__ = ["auto_detect_target", "determine_target"]

refuse_rest(__name__)
