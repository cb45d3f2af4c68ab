"""Draws mutants and writes them into a copy of the sources."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from mutants.sites import Mutation, errors_of, fill, find, parse

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: The lowerings, and what of them computes only where a GPU is.
ROOMS = {
    "Threads": "lib/Threads",
    "Transforms": "lib/Transforms",
    "Analysis": "lib/Analysis",
    "Access": "lib/Access",
    "Layout": "lib/Layout",
    "Codegen/Cpu": "lib/Codegen/Cpu",
    "Codegen/Nvptx": "lib/Codegen/Nvptx",
    "Rt": "lib/Rt",
}
LEFT_OUT = {
    "lib/Rt/CudaDriver.cpp", "lib/Rt/CudaLaunch.cpp", "lib/Rt/GpuCode.cpp",  # need a GPU
    "lib/Codegen/Nvptx/DeviceMath/DeviceMath.cpp",  # compiled for GPUs
}  # fmt: skip
HEADER = "include/tilewright/Support/Mutant.h"
#: Of every mutated file: comparisons of constants and the like are meant here.
INCLUDE = f'#include "{HEADER.removeprefix("include/")}"'
DECLARATION = (
    "namespace tw{bool mutant(int),switched(int),differs(int,bool),always(int,bool,bool),"
    "told(int,bool,bool);}"
)
#: As long as the declarations, which stand in for the header before there is one.
INCLUDE = INCLUDE.ljust(len(DECLARATION))
PROLOGUE = f'{INCLUDE}\n#pragma clang diagnostic ignored "-Weverything"\n#line 1\n'


@dataclass
class File:
    """A source file, all its mutations by line, and those that were chosen."""

    name: str
    arguments: list[str]
    text: str
    #: Mutations by line, in the order in which they are tried.
    candidates: dict[int, list[Mutation]] = field(default_factory=dict)
    chosen: list[Mutation] = field(default_factory=list)

    def fits(self, mutation: Mutation) -> bool:
        """Whether it overlaps no chosen one."""
        start, stop = mutation.span
        return all(stop <= other.span[0] or other.span[1] <= start for other in self.chosen)

    def marked(self, mutation: Mutation) -> str:
        """The line of a mutation, with marks: the same words may stand there twice."""
        source = self.text.encode()
        start, stop = mutation.span
        begin = source.rfind(b"\n", 0, start) + 1
        end = source.find(b"\n", start)
        stop = min(stop, end)
        parts = source[begin:start], source[start:stop], source[stop:end]
        return "{}‹{}›{}".format(*(part.decode() for part in parts)).strip()

    def rewritten(self, numbers: list[int]) -> tuple[str, list[tuple[int, int, Mutation]]]:
        """The text with the chosen mutations, and where each of their edits came to lie."""
        edits = sorted(
            ((edit, number, mutation)
             for number, mutation in zip(numbers, self.chosen, strict=True)
             for edit in mutation.edits),
            key=lambda entry: entry[0].start,
        )  # fmt: skip
        source, parts, places = self.text.encode(), [PROLOGUE.encode()], []
        at, length = 0, len(parts[0])
        for edit, number, mutation in edits:
            new = fill(edit.text, number).encode()
            parts += [source[at : edit.start], new]
            begin = length + edit.start - at
            length = begin + len(new)
            places.append((begin, length, mutation))
            at = edit.stop
        parts.append(source[at:])
        return b"".join(parts).decode(), places


def compile_arguments(build: Path) -> dict[str, list[str]]:
    """The flags of each source file below `build`'s sources."""
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])[1:]
        at = words.index("-o")
        kept = words[:at] + words[at + 2 :]
        kept.remove("-c")
        kept.remove(entry["file"])
        flags.setdefault(entry["file"], [*kept, "-ferror-limit=0"])
    return flags


def read(name: str, arguments: list[str]) -> File:
    """A file with all its mutations."""
    path = ROOT / name
    made = File(name, arguments, path.read_text())
    for mutation in find(path, name, arguments):
        made.candidates.setdefault(mutation.line, []).append(mutation)
    print(f"{name}: {sum(map(len, made.candidates.values()))}", file=sys.stderr, flush=True)
    return made


def names_of(folder: str, flags: dict[str, list[str]]) -> Iterator[str]:
    """The files of a room that are compiled."""
    for path in sorted((ROOT / folder).rglob("*.cpp")):
        name = str(path.relative_to(ROOT))
        if name not in LEFT_OUT and str(path) in flags:
            yield name


def draw(room: str, files: list[File], count: int, seed: int, pool: Executor) -> None:
    """Chooses `count` mutations: lines uniformly, then one of the line's. What does not compile is
    replaced by the next in the order of drawing. The order hangs on the texts of lines, so that a
    change of one line leaves the other mutants as they were."""

    def rank(*words: str) -> bytes:
        return hashlib.sha256("\0".join((str(seed), room, *words)).encode()).digest()

    lines = []
    for file in files:
        texts = file.text.splitlines()
        for line, found in file.candidates.items():
            found.sort(key=lambda m: rank(m.kind, m.was, m.becomes))
            lines.append((rank(file.name, texts[line - 1].strip()), file, line))
    lines = [(file, line) for _, file, line in sorted(lines, key=lambda entry: entry[0])]
    waiting = iter(lines)
    dropped: set[tuple[str, tuple[int, int], str]] = set()
    while (short := count - sum(len(file.chosen) for file in files)) > 0:
        touched = []
        for file, line in waiting:
            fitting = [m for m in file.candidates[line] if file.fits(m) and m.key not in dropped]
            if fitting:
                file.chosen.append(fitting[0])
                touched.append(file)
                short -= 1
                if not short:
                    break
        if not touched:
            return
        several = list({file.name: file for file in touched}.values())
        for file, gone in zip(several, pool.map(find_refused, several), strict=True):
            keys = {m.key for m in gone}
            file.chosen = [m for m in file.chosen if m.key not in keys]
            dropped |= keys


def find_refused(file: File) -> list[Mutation]:
    """The chosen mutations that the compiler refuses."""
    gone: list[Mutation] = []
    while file.chosen:
        text, places = file.rewritten(list(range(1, len(file.chosen) + 1)))
        path = ROOT / file.name
        text = text.replace(INCLUDE, DECLARATION, 1)  # the header is in the copy only
        errors = errors_of(parse(path, file.arguments, text), path)
        if not errors:
            break
        starts = [begin for begin, _, _ in places]
        bad = []
        for offset in errors:
            at = bisect_right(starts, offset) - 1
            if at >= 0 and offset <= places[at][1] + 2:
                bad.append(places[at][2])
        if not bad:  # elsewhere: the newest is taken to be at fault
            bad = [file.chosen[-1]]
        gone += bad
        file.chosen = [m for m in file.chosen if all(m is not b for b in bad)]
    return gone


def copy_sources(tree: Path) -> None:
    """The checkout's files into `tree`, those that changed only."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others"]
    listed = subprocess.run(
        [*command, "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode().split("\0")  # fmt: skip
    for name in filter(None, listed):
        source, target = ROOT / name, tree / name
        if source.is_file():
            write_if_new(target, source.read_bytes())
            shutil.copymode(source, target)


def write_if_new(path: Path, content: bytes) -> None:
    """Ninja builds again what was written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)


def prepare(build: Path, tree: Path, count: int, seed: int, rooms: list[str]) -> None:
    """Writes the copy and its list of mutants, mutants.json."""
    flags = compile_arguments(build)
    mutants, texts, number = [], {}, 0
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        names = {room: list(names_of(ROOMS[room], flags)) for room in rooms}
        reading = {
            name: pool.submit(read, name, flags[str(ROOT / name)])
            for room in rooms
            for name in names[room]
        }
        drawn = {room: [] for room in rooms}

        def draw_room(room: str) -> None:
            drawn[room] += [reading[name].result() for name in names[room]]
            draw(room, drawn[room], count, seed, pool)

        with ThreadPoolExecutor(len(rooms)) as threads:  # the last file of one room delays no other
            list(threads.map(draw_room, rooms))
    for room, files in drawn.items():
        for file in files:
            file.chosen.sort(key=lambda m: m.span)
            numbers = list(range(number + 1, number + 1 + len(file.chosen)))
            number += len(numbers)
            if numbers:
                texts[file.name], _ = file.rewritten(numbers)
            for own, m in zip(numbers, file.chosen, strict=True):
                mutants.append(
                    {"id": own, "room": room, "file": m.file, "line": m.line, "kind": m.kind,
                     "was": m.was, "becomes": m.becomes,
                     "text": file.marked(m)}
                )  # fmt: skip
        print(f"{room}: {sum(len(f.chosen) for f in files)} mutants", file=sys.stderr, flush=True)
    if tree != ROOT:
        copy_sources(tree)
    for name, text in texts.items():
        write_if_new(tree / name, text.encode())
    write_if_new(tree / HEADER, (HERE / "TwMutant.h").read_bytes())
    (tree / "mutants.json").write_text(json.dumps(mutants, indent=1, ensure_ascii=False) + "\n")
