"""What the checks of the interpreter and of the virtual GPU found, in the program's words.

Each engine reports what it saw where it saw it: the interpreter at a statement of the tile program,
the virtual GPU at an instruction of a thread. A user's mistake is one line of source and one cause,
however many unrolled copies of the statement and however many threads meet it. So findings are
merged by line, kind and buffer, with a count and one example; what the virtual GPU says about
instructions is kept one level down, in "details".

A finding is a dict: severity ("error" ends the run, "finding" is a defect, "note" is worth
knowing), kind, message, file, line, column, count, buffer, index, block, thread, details, text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tilewright.support.errors import Note, Place, TilewrightError, render, widen

#: How many findings the text of an error shows.
_MOST_SHOWN = 10


class FindingsError(TilewrightError):
    """The checks found defects while a kernel ran. `findings` has all; the results are written."""

    __module__ = "tilewright.findings"  # where users find it

    def __init__(self, findings: Sequence[dict[str, Any]], fallback: Place | None) -> None:
        first = findings[0]
        super().__init__(headline(first), place_of(first) or fallback, notes_of(first))
        self.findings = list(findings)
        shown = [render_finding(finding, fallback) for finding in self.findings[:_MOST_SHOWN]]
        if len(self.findings) > _MOST_SHOWN:
            shown.append(f"… and {len(self.findings) - _MOST_SHOWN} more, in '.findings'")
        self.args = ("\n".join(shown),)


# ---- Showing ----


def headline(finding: dict[str, Any]) -> str:
    """The message with how often it arose and its kind."""
    count = finding["count"]
    times = f" ({count} times)" if count > 1 else ""
    return f"{finding['message']}{times} [{finding['kind']}]"


def place_of(finding: dict[str, Any]) -> Place | None:
    """The statement in the user's source, if it has one."""
    if not finding["file"]:
        return None
    if finding["column"]:
        return widen(Place(finding["file"], finding["line"], finding["column"]))
    from tilewright.support.source import statement_at

    place = Place(finding["file"], finding["line"])
    return statement_at(place) or place


def notes_of(finding: dict[str, Any]) -> list[Note]:
    """The other access, and what the instructions did."""
    notes = []
    if finding.get("other"):
        file, _, line = finding["other"].rpartition(":")
        notes.append(Note(Place(file, int(line)), "the other access is here"))
    return notes + [Note(None, text) for text in finding.get("details", [])]


def render_finding(
    finding: dict[str, Any], fallback: Place | None = None, kind: str = "error"
) -> str:
    """The whole text of one finding."""
    place = place_of(finding) or fallback
    return render(kind, headline(finding), place, notes_of(finding))


def is_serious(finding: dict[str, Any]) -> bool:
    """Whether it is a defect, not a note."""
    return finding["severity"] != "note"


# ---- From what the engines say ----


def findings_of(run: dict[str, Any], kernel: Any, values: Sequence[Any]) -> list[dict[str, Any]]:
    """The findings of a run in one form, merged, whichever engine made them. `values` are the
    arguments of the call, for the shapes of tensors."""
    if "launches" not in run:
        return merge({**finding, "details": []} for finding in run.get("findings", []))
    from tilewright.runtime.vgpu import read_launch

    found = []
    for launch, tiles in zip(map(read_launch, run["launches"]), run["tiles"], strict=True):
        words = _Words(kernel, values, tiles)
        for severity, entries in (("finding", launch.findings), ("note", launch.notes)):
            found += words.tell(entries, severity)
    return merge(found)


_KEY = ("severity", "kind", "file", "line", "buffer", "other")


def merge(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One for each line, kind and buffer: the first stands for all, counts add up."""
    merged: dict[Any, dict[str, Any]] = {}
    for finding in findings:
        key = tuple(finding.get(name) for name in _KEY)
        known = merged.get(key)
        if known is None:
            merged[key] = dict(finding)
        else:
            known["count"] += finding["count"]
    for finding in merged.values():
        severity = "note" if finding["severity"] == "note" else "error"
        place = f"{finding['file']}:{finding['line']}: " if finding["file"] else ""
        finding["text"] = f"{place}{severity}: {headline(finding)}"
    return list(merged.values())


#: Kinds by which the program itself says that it is wrong.
_ENDS = ("assertion", "trap")

_IN_PTX = re.compile(r" \(ptx:\d+\)")


class _Words:
    """Says what an instruction did in the words of the program that it came from."""

    def __init__(self, kernel: Any, values: Sequence[Any], tiles: list[dict[str, Any]]) -> None:
        self.kernel, self.values, self.tiles = kernel, values, tiles

    def tell(self, entries: Sequence[Any], severity: str) -> list[dict[str, Any]]:
        """The findings for entries of the virtual GPU; of equal ones only the first has words."""
        known: set[Any] = set()
        found = []
        for entry in entries:
            finding = self._place(entry, severity)
            key = tuple(finding[name] for name in _KEY)
            if key not in known:
                known.add(key)
                memory = entry.data.get("memory")
                finding["index"] = self._index(memory) if memory else None
                finding["message"] = self._message(entry, memory, finding)
            found.append(finding)
        return found

    def _place(self, entry: Any, severity: str) -> dict[str, Any]:
        file, _, line = entry.source.rpartition(":")  # empty for code of no Python line
        source = entry.data.get("other", {}).get("source", "")
        return {
            "severity": "error" if entry.kind in _ENDS else severity,
            "kind": entry.kind, "file": file, "line": int(line or 0), "column": 0,
            "message": "", "count": entry.data.get("occurrences", 1),
            "buffer": self._buffer(entry.data.get("memory")), "index": None,
            "block": list(entry.block), "thread": list(entry.thread),
            "other": source if source != entry.source else "",
            "details": [str(entry).removeprefix(f"{entry.source}: {entry.kind}: ")],
        }  # fmt: skip

    def _message(self, entry: Any, memory: Any, finding: dict[str, Any]) -> str:
        buffer = finding["buffer"]
        element = f"'{buffer}'{_bracketed(finding['index'])}" if buffer else ""
        other = entry.data.get("other")
        if entry.kind in ("race", "same_value") and element and other:
            here, there = _who(entry.data, other), _who(other, entry.data)
            text = f"{element} is {memory['access']} by {here} and "
            text += f"{memory['other_access']} by {there}"
            if entry.kind == "same_value":
                return f"{text}, with the same bits"
            return f"{text}, and nothing orders them"
        if entry.kind == "uninitialized":
            if element:
                return f"{element} is {memory['access']} with a value that was never written"
            return _unwritten(entry.message)
        if entry.kind in ("async_not_waited", "async_overwrite") and element:
            done = "has not been waited for"
            return f"{element} is {memory['access']} while a copy of it {done}"
        return _IN_PTX.sub("", entry.message)

    def _buffer(self, memory: dict[str, Any] | None) -> str:
        """The name of the tensor or tile; of tiles that share their bytes, all of them."""
        if memory is None:
            return ""
        if memory["space"] == "shared":
            return "' or '".join(tile["name"] for tile in self._tiles_at(memory["offset"]))
        return memory["name"]

    def _tiles_at(self, offset: int) -> list[dict[str, Any]]:
        return [t for t in self.tiles if t["offset"] <= offset < t["offset"] + t["bytes"]]

    def _index(self, memory: dict[str, Any]) -> list[int] | None:
        """The index of the element, as far as it is known."""
        from tilewright.types.dtypes import canonical

        offset = memory["offset"]
        if memory["space"] == "shared":
            tiles = self._tiles_at(offset)
            return _index_in_tile(tiles[0], offset) if len(tiles) == 1 else None
        for position, parameter in enumerate(self.kernel.params):
            shape = getattr(self.values[position], "shape", None)
            if parameter["name"] == memory["name"] and shape is not None:
                place = offset // canonical(parameter["dtype"]).bytes
                return self.kernel.program.logical_index(position, [int(e) for e in shape], place)
        return None


def _index_in_tile(tile: dict[str, Any], offset: int) -> list[int] | None:
    """The element of a tile that its layout puts there; None for padding."""
    from itertools import product

    from tilewright._core import core

    place = (offset - tile["offset"]) // tile["element_bytes"]

    layout = core.parse_layout(tile["layout"], tile["shape"])
    extents = layout.output_shape
    for index in product(*(range(extent) for extent in tile["shape"])):
        at = 0
        for coordinate, extent in zip(layout.map(list(index)), extents, strict=True):
            at = at * extent + coordinate
        if at == place:
            return list(index)
    return None


def _bracketed(index: Sequence[int] | None) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _who(site: dict[str, Any], other: dict[str, Any]) -> str:
    """A thread; with its block where two blocks meet."""
    x, y, z = site["thread"]
    thread = f"thread {x}" if not (y or z) else f"thread ({x}, {y}, {z})"
    if site["block"] == other["block"]:
        return thread
    return f"{thread} of block ({', '.join(map(str, site['block']))})"


def _unwritten(message: str) -> str:
    what = "a value"
    for word, meaning in (
        ("predicate", "a condition"),
        ("address", "an index"),
        ("index", "a choice"),
    ):
        if word in message.split("'")[0]:
            what = meaning
            break
    return f"{what} depends on elements that were never written"
