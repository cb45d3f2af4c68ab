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
from concurrent.futures import ProcessPoolExecutor
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
DECLARATION = "namespace tw{bool mutant(int);}"
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


def read_room(folder: str, flags: dict[str, list[str]]) -> list[File]:
    """The files of a room with all their mutations."""
    files = []
    for path in sorted((ROOT / folder).rglob("*.cpp")):
        name = str(path.relative_to(ROOT))
        if name in LEFT_OUT or str(path) not in flags:
            continue
        made = File(name, flags[str(path)], path.read_text())
        for mutation in find(path, name, made.arguments):
            made.candidates.setdefault(mutation.line, []).append(mutation)
        print(f"{name}: {sum(map(len, made.candidates.values()))}", file=sys.stderr, flush=True)
        files.append(made)
    return files


def read_and_draw(room: str, flags: dict[str, list[str]], count: int, seed: int) -> list[File]:
    """The files of a room with their mutants."""
    files = read_room(ROOMS[room], flags)
    draw(room, files, count, seed)
    return files


def draw(room: str, files: list[File], count: int, seed: int) -> None:
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
    dropped: set[int] = set()
    while (short := count - sum(len(file.chosen) for file in files)) > 0:
        touched = []
        for file, line in waiting:
            fitting = [m for m in file.candidates[line] if file.fits(m) and id(m) not in dropped]
            if fitting:
                file.chosen.append(fitting[0])
                touched.append(file)
                short -= 1
                if not short:
                    break
        if not touched:
            return
        for file in {file.name: file for file in touched}.values():
            dropped |= {id(m) for m in _drop_errors(file)}


def _drop_errors(file: File) -> list[Mutation]:
    """Removes the chosen mutations that the compiler refuses."""
    gone: list[Mutation] = []
    while file.chosen:
        text, places = file.rewritten(list(range(1, len(file.chosen) + 1)))
        path = ROOT / file.name
        # The header is in the copy only; a declaration of the same length keeps all offsets.
        text = text.replace(INCLUDE, DECLARATION.ljust(len(INCLUDE)), 1)
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
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # clang reads for minutes
        drawn = [pool.submit(read_and_draw, room, flags, count, seed) for room in rooms]
    for room, files in zip(rooms, (one.result() for one in drawn), strict=True):
        for file in files:
            file.chosen.sort(key=lambda m: m.span)
            numbers = list(range(number + 1, number + 1 + len(file.chosen)))
            number += len(numbers)
            if numbers:
                texts[file.name], _ = file.rewritten(numbers)
            for own, m in zip(numbers, file.chosen, strict=True):
                mutants.append(
                    {"id": own, "room": room, "file": m.file, "line": m.line, "kind": m.kind,
                     "was": m.was, "becomes": m.becomes}
                )  # fmt: skip
        print(f"{room}: {sum(len(f.chosen) for f in files)} mutants", file=sys.stderr, flush=True)
    if tree != ROOT:
        copy_sources(tree)
    for name, text in texts.items():
        write_if_new(tree / name, text.encode())
    write_if_new(tree / HEADER, (HERE / "TwMutant.h").read_bytes())
    (tree / "mutants.json").write_text(json.dumps(mutants, indent=1, ensure_ascii=False) + "\n")
