#!/usr/bin/env python3
"""Lists classes with more methods than a reader keeps in mind.

A class of more than MOST methods, those of its bases counted, does several things: its state is
shared by all of them, and none can be read or tested alone. Split it by what it knows (a service
with a small interface), and make the rest functions that take what they need. Constructors,
destructors and operators do not count. The text of the files is read, not compiled: what a macro or
a table declares is not seen.

    usage: scripts/check_classes.py [ROOT]      prints one line for each class that is too large
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faults import print_faults

MOST = 42
FOLDERS = ("include", "lib", "vgpu/include", "vgpu/lib", "python/bindings", "test/lib", "tools")

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'')
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(:[^;{}()]*)?\{")
ENUM = re.compile(r"\benum\s+$")
TEMPLATE = re.compile(r"<[^<>]*>")
METHOD = re.compile(r"(~?\w+)\s*\(")
NO_METHOD = re.compile(r"^\s*(?:friend|using|typedef|static_assert|return|enum|class|struct)\b")
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")


@dataclass(frozen=True)
class Class:
    """A definition of a class, with the names of its methods."""

    file: str
    name: str
    methods: tuple[str, ...]
    bases: tuple[str, ...]


def end_of_block(text: str, start: int) -> int:
    """The position after the brace that closes the one at `start`."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    return len(text)


def declarations(body: str) -> Iterator[str]:
    """The members of a class, each up to its semicolon or body."""
    start = position = 0
    while position < len(body):
        if body[position] == ";":
            yield body[start:position]
            start = position + 1
        elif body[position] == "{":
            yield body[start:position]
            position = end_of_block(body, position) - 1
            start = position + 1
        position += 1


def method_of(declaration: str, name: str) -> str | None:
    """The method that a member declares; nothing for a field, a type or a constructor."""
    text = ACCESS.sub(" ", declaration)
    while (simpler := TEMPLATE.sub(" ", text)) != text:
        text = simpler
    if NO_METHOD.search(text) or "operator" in text:
        return None
    found = METHOD.search(text)
    if not found or "=" in text[: found.start()] or found[1].lstrip("~") == name:
        return None
    # A method has a type before its name: what has none is a macro, or the rest of an initialiser.
    return found[1] if text[: found.start()].strip() else None


def classes_in(text: str, file: str) -> Iterator[Class]:
    """The classes that a file defines, nested ones included."""
    text = PREPROCESSOR.sub(" ", TEXT.sub('""', COMMENT.sub(" ", text)))
    for match in CLASS.finditer(text):
        if ENUM.search(text[: match.start()]):
            continue
        body = text[match.end() : end_of_block(text, match.end() - 1) - 1]
        found = (method_of(member, match[1]) for member in declarations(body))
        bases = match[2] or ""
        while (simpler := TEMPLATE.sub(" ", bases)) != bases:
            bases = simpler
        names = re.findall(r"(\w+)\s*(?:,|$)", bases.strip().rstrip(","))
        yield Class(file, match[1], tuple(m for m in found if m), tuple(names))


def methods_of(own: Class, known: dict[str, Class]) -> set[str]:
    """The methods of a class and of its bases, an override once; overloads count once as well."""
    methods = set(own.methods)
    for base in own.bases:
        if base in known and known[base] is not own:
            methods |= methods_of(known[base], known)
    return methods


def faults_below(root: Path) -> list[str]:
    """One line for each class that is too large, in the order of files."""
    found = [
        each
        for folder in FOLDERS
        for file in sorted((root / folder).rglob("*"))
        if file.suffix in (".h", ".cpp") and file.is_file()
        for each in classes_in(file.read_text(), str(file.relative_to(root)))
    ]
    known = {each.name: each for each in found}
    faults = []
    for each in found:
        count = len(methods_of(each, known))
        if count > MOST:
            faults.append(f"{each.file}: {each.name} has {count} methods, expected at most {MOST}")
    return faults


if __name__ == "__main__":
    sys.exit(print_faults(faults_below))
