#!/usr/bin/env python3
"""Lists words that the glossary and the house style do not use.

One word for one thing (docs/internals/glossary.md), and plain English (CONTRIBUTING.md, "Style in
short"). The list below is short on purpose: a word is on it if it came back after it was given up.
Pages, headers, records and sources are read as text, comments and messages alike.

    usage: scripts/check_words.py [ROOT]      prints one line for each use
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from faults import print_faults

#: A pattern, and what to say instead.
WORDS = {
    r"\bbehind\b": "after",
    r"\bnobody\b": "nothing, no thread, no caller",
    r"(?<!each )(?<!all )(?<!both )(?<!most )(?<!none )(?<!some )\bof which\b": "whose, if one of",
    r"\bwhat there is\b": "what exists, or its name",
    r"\bask(?:s|ed)? for\b": "need, request, prefetch",
    r"\b(?:each|every|first|last|next|this) (?:turn|trip)s?\b(?! into)": "iteration",
    r"(?<!takes )\b(?:a|the|its|their|each|every|this|which|whose|same|other|another|source|no)"
    r" places?\b(?! of\b)": "location, address, slot, position, index",
}

FOLDERS = ("docs", "include", "lib", "vgpu/include", "vgpu/lib", "python", "tools")
SUFFIXES = (".md", ".h", ".td", ".cpp", ".py")

#: Pages that quote others, or are about the words themselves.
EXEMPT = ("docs/compatibility.md", "docs/internals/glossary.md")

#: Uses that are right: files, and words there.
ALLOWED = {
    ("python/tilewright/report/cost_model.py", "its places"),  # a marked graph has places
}


def texts_below(root: Path) -> Iterator[tuple[str, str]]:
    """The names and texts of the files that are read."""
    pages = [root / "README.md", root / "CONTRIBUTING.md"]
    files = [file for folder in FOLDERS for file in sorted((root / folder).rglob("*"))]
    for file in [*pages, *files]:
        name = str(file.relative_to(root))
        if file.suffix in SUFFIXES and file.is_file() and name not in EXEMPT:
            yield name, file.read_text(encoding="utf-8")


def faults_below(root: Path) -> list[str]:
    """One line for each use, in the order of files and lines."""
    patterns = [(re.compile(word, re.IGNORECASE), better) for word, better in WORDS.items()]
    return [
        f"{name}:{number}: '{found[0]}': say {better}"
        for name, text in texts_below(root)
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, better in patterns
        for found in pattern.finditer(line)
        if (name, found[0]) not in ALLOWED
    ]


if __name__ == "__main__":
    sys.exit(print_faults(faults_below))
