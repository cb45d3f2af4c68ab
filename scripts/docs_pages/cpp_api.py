"""The reference of the C and C++ interfaces: the public headers, section by section."""

from __future__ import annotations

import re
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
HEADERS = ("tilewright/runtime.h", "tilewright/tilewright.h", "tilewright/builder.h")

#: A title between two rules.
_SECTION = re.compile(r"^//===-+===//\n// (.+)\n//===-+===//\n", re.MULTILINE)


def page(_out: Path) -> str:
    """All headers."""
    return "\n".join(describe(name) for name in HEADERS)


def describe(name: str) -> str:
    """One header: what it says at its top, then its declarations with their comments."""
    text = (INCLUDE / name).read_text(encoding="utf-8")
    banner, code = split_banner(text)
    parts = [f"## `{name}`\n", banner]
    title = ""
    for number, piece in enumerate(_SECTION.split(code)):
        if number % 2:
            title = f"### {piece}\n"
        elif body := without_frame(piece):
            parts.append(f"{title}\n```cpp\n{body}\n```\n")
    return "\n".join(parts)


def split_banner(text: str) -> tuple[str, str]:
    """The comment that a header begins with, as text, and the rest."""
    if text.startswith("/*"):
        comment, _, code = text.partition("*/\n")
        lines = [line.strip().removeprefix("*").rstrip() for line in comment.splitlines()[1:-1]]
    else:
        head, _, code = text.partition("#ifndef")
        lines = [line.removeprefix("//") for line in head.splitlines()[1:] if "===" not in line]
    return as_markdown([line.removeprefix(" ") for line in lines]), code


def as_markdown(lines: list[str]) -> str:
    """Text as it is, with indented lines as code."""
    blocks, is_code = [], False
    for line in lines:
        if line.startswith("  ") and not is_code:
            blocks.append("```cpp")
        if is_code and line and not line.startswith("  "):
            blocks.append("```\n")
        is_code = line.startswith("  ") or (is_code and not line)
        blocks.append(line.removeprefix("  "))
    return "\n".join([*blocks, "```"] if is_code else blocks) + "\n"


def without_frame(code: str) -> str:
    """The declarations of a piece of a header, without what frames them: guards and includes."""
    lines = [
        line
        for line in code.splitlines()
        if not re.match(r"#(ifndef|define|endif|include).*(TILEWRIGHT_|<|\"|/\*)", line)
        and not re.match(
            r"(namespace tw|\} // namespace tw)(::lang)?( \{)?$| TILEWRIGHT_\w+_H$", line
        )
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
