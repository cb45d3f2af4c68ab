"""The pages of every `T.*` name, from docstrings and the table of TileLang's names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from docs_pages.docstrings import parts_of, signature_of

#: A page for each family: the modules of `tilewright.language` that define its names, and names
#: that are elsewhere.
FAMILIES: dict[str, tuple[str, ...]] = {
    "programs": ("kernel", "tensor", "frontend.eager", "frontend.functions", "frontend.macro",
                 "prim_func", "macro", "Ref", "clusters"),
    "memory": ("addresses", "allocate", "annotations", "pointers", "types.layout"),
    "loops": ("loops", "branches", "range"),
    "tiles": ("tiles", "composed"),
    "scalars": ("scalars", "more_math", "rounding", "random"),
    "atomics": ("atomics",),
    "threads": ("threads", "votes", "exchange", "barriers", "tvm_reduce"),
    "asynchronous": ("asynchronous", "tensor_memory"),
    "vectors": ("vectors",),
    "types": ("types.dtypes", "dtypes", "dtype"),
    "other": ("nodes", "extern"),
}  # fmt: skip


#: The engines that have no architecture.
_ENGINES = {"interp": "the interpreter", "cpu": "the CPU"}


def family_of(name: str, thing: Any) -> str:
    """The page of a name."""
    from tilewright import dtypes

    if isinstance(thing, dtypes.dtype):
        return "types"
    module = str(getattr(thing, "__module__", "")).removeprefix("tilewright.language.")
    module = module.removeprefix("tilewright.")
    for family, places in FAMILIES.items():
        if name in places or module in places:
            return family
    return "other"


def names_of(family: str) -> dict[str, Any]:
    """The public names of a page, in alphabetical order, capitals and small letters alike."""
    import tilewright.language as T

    found = {}
    for name in sorted(T.__all__, key=lambda name: (name.strip("_").lower(), name)):
        thing = getattr(T, name)
        if family_of(name, thing) == family:
            found[name] = thing
    return found


def entry(name: str, thing: Any) -> str:
    """A name with its signature, meaning, example and support."""
    from tilewright.language import names

    prose, example = parts_of(thing)
    text = f"## `T.{name}`\n\n"
    if callable(thing):
        text += f"```python\n{signature_of(thing, f'T.{name}')}\n```\n\n"
    text += f"{prose}\n\n"
    if example:
        text += f"Example:\n\n```python\n{example}```\n\n"
    facts = []
    if example:
        facts.append(f"Runs on {engines_of(name)}")
    row = names.table().get(name)
    if row is None:
        facts.append("not a name of TileLang 0.1.15")
    elif row.status != "yes":
        facts.append(f"{row.status}" + (f": {row.note}" if row.note else ""))
    return text + (f"*{'; '.join(facts)}.*\n\n" if facts else "")


def engines_of(name: str) -> str:
    """The engines and architectures on which the example of a name runs, and why not on others."""
    from docs_pages import support

    refused = support.table().get(name, {})
    missing = [device for devices in refused.values() for device in devices]
    engines = [text for device, text in _ENGINES.items() if device not in missing]
    archs = [d.removeprefix("vgpu:") for d in support.devices() if d not in (*_ENGINES, *missing)]
    if len(archs) == len(support.devices()) - len(_ENGINES):
        engines.append(f"GPUs of {archs[0]} to {archs[-1]}")
    elif archs:
        engines.append(f"GPUs of {', '.join(archs)}")
    *most, last = engines or ["no engine"]
    text = f"{', '.join(most)} and {last}" if most else last
    for reason, devices in refused.items():
        text += f"; refused by {', '.join(devices)}: {reason}"
    return text


def page_of(family: str) -> Callable[[Path], str]:
    """The function that writes the page of a family."""

    def page(_out: Path) -> str:
        if family == "types":
            return _types()
        return "".join(entry(name, thing) for name, thing in names_of(family).items())

    return page


def _types() -> str:
    from tilewright import dtypes

    rows = ["| name | type | bits | runs on |", "|---|---|---|---|"]
    for name, thing in names_of("types").items():
        if isinstance(thing, dtypes.dtype):
            rows.append(f"| `T.{name}` | {thing} | {thing.bits} | {engines_of(name)} |")
    return "\n".join(rows) + "\n"


def index_page(_out: Path) -> str:
    """All names in one table."""
    rows = ["| name | what it does |", "|---|---|"]
    entries = []
    for family in FAMILIES:
        for name, thing in names_of(family).items():
            if family == "types":
                entries.append((name, f"| [`T.{name}`](language/types.md) | an element type |"))
                continue
            prose, _ = parts_of(thing)
            first = prose.split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
            anchor = f"t{name.lower()}"
            entries.append((name, f"| [`T.{name}`](language/{family}.md#{anchor}) | {first} |"))
    entries.sort(key=lambda item: (item[0].strip("_").lower(), item[0]))
    return "\n".join([*rows, *(row for _, row in entries)]) + "\n"
