"""The public Python API outside of the language, from docstrings."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from docs_pages.docstrings import parts_of, signature_of

#: Module -> its public names, in the order of the page; a class is shown with its methods.
API: dict[str, tuple[str, ...]] = {
    "tilewright": (
        "jit", "compile", "par_compile", "autotune", "JITKernel", "export_library", "get_cmake_dir",
        "get_include", "torch_op", "Layout", "Fragment", "Profiler",
        "TensorSupplyType", "PassConfigKey", "enable_cache", "disable_cache", "is_cache_enabled",
        "cdiv", "next_power_of_2", "set_log_level", "TilewrightError",
    ),
    "tilewright.kernel": ("Remark", "TilewrightWarning"),
    "tilewright.verify": ("Verification", "Difference"),
    "tilewright.findings": ("FindingsError",),
    "tilewright.layout": (
        "make_swizzled_layout", "make_linear_layout", "make_full_bank_swizzled_layout",
        "make_half_bank_swizzled_layout", "make_quarter_bank_swizzled_layout",
    ),
    "tilewright.autotuner": ("AutoTuner", "set_autotune_executor", "set_autotune_inputs"),
    "tilewright.vgpu": ("Module", "TensorMap"),
}  # fmt: skip

#: Classes whose members are a table of constants: only their docstring is shown.
_PLAIN = ("PassConfigKey", "TensorSupplyType", "TilewrightError", "TilewrightWarning")


def page(_out: Path) -> str:
    """All modules."""
    parts = []
    for module_name, names in API.items():
        module = import_module(module_name)
        parts.append(f"## `{module_name}`\n")
        for name in names:
            parts.append(entry(f"{module_name}.{name}", getattr(module, name)))
    return "\n".join(parts)


def entry(name: str, thing: Any) -> str:
    """A function, or a class with its public members."""
    prose, example = parts_of(thing)
    text = f"### `{name}`\n\n"
    if inspect.isfunction(thing) or (inspect.isclass(thing) and name.split(".")[-1] not in _PLAIN):
        text += f"```python\n{signature_of(thing, name.split('.')[-1])}\n```\n\n"
    text += f"{prose}\n\n" + (f"```python\n{example}```\n\n" if example else "")
    if inspect.isclass(thing) and name.split(".")[-1] not in _PLAIN:
        for member_name, member in members(thing).items():
            text += member_entry(member_name, member)
    return text


def members(thing: type) -> dict[str, Any]:
    """Public methods and properties that the class or one of ours defines, in source order."""
    found = {}
    for base in thing.__mro__:
        if base.__module__.startswith("tilewright"):
            for name, member in vars(base).items():
                is_member = inspect.isfunction(member) or isinstance(member, property | classmethod)
                if is_member and not name.startswith("_"):
                    found.setdefault(name, member)
    return found


def member_entry(name: str, member: Any) -> str:
    """A method or property."""
    function = member.__func__ if isinstance(member, classmethod) else member
    prose, example = parts_of(function)
    title = name if isinstance(member, property) else signature_of(function, name)
    text = f"**`.{title}`**\n\n{prose}\n\n"
    return text + (f"```python\n{example}```\n\n" if example else "")
