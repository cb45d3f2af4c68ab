"""The reference of the C and C++ interfaces: what Doxygen reads from the public headers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
#: What of a header is shown. In C each typedef has the name of the struct that it follows.
SECTIONS = "innerclass enum func public-type public-func public-attrib public-static-func"
HEADERS = ("tilewright/runtime.h", "tilewright/tilewright.h", "tilewright/builder.h")

#: Doxygen's settings; the rest are its own.
SETTINGS = """
QUIET = YES
WARN_AS_ERROR = YES
WARN_IF_UNDOCUMENTED = NO
EXTRACT_ALL = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXCLUDE_SYMBOLS = *::detail *::Impl
PREDEFINED = TW_API=
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
"""


def page(_out: Path) -> str:
    """What each header says at its top, and a directive of Breathe for its declarations."""
    return "\n".join(describe(name) for name in HEADERS)


def describe(name: str) -> str:
    """One header."""
    banner = read_banner((INCLUDE / name).read_text(encoding="utf-8"))
    label = Path(name).name.replace(".", "_8")  # by which Breathe links to the header
    sections = SECTIONS if name == HEADERS[0] else f"{SECTIONS} typedef"
    return (
        f"({label})=\n## `{name}`\n\n{banner}\n"
        f"```{{doxygenfile}} {Path(name).name}\n:sections: {sections}\n```\n"
    )


def run_doxygen(out: Path) -> Path:
    """Writes what Doxygen knows of the headers as XML below `out`; the folder."""
    out.mkdir(parents=True, exist_ok=True)
    inputs = " ".join(str(INCLUDE / name) for name in HEADERS)
    settings = (
        f"{SETTINGS}INPUT = {inputs}\nSTRIP_FROM_PATH = {INCLUDE}\nOUTPUT_DIRECTORY = {out}\n"
    )
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    for file in (out / "xml").glob("*.xml"):  # the page says which header it is about
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"\s*<includes .*?</includes>", "", text), encoding="utf-8")
    return out / "xml"


def read_banner(text: str) -> str:
    """The comment that a header begins with, as Markdown."""
    if text.startswith("/*"):
        comment = text.partition("*/\n")[0]
        lines = [line.strip().removeprefix("*").rstrip() for line in comment.splitlines()[1:-1]]
    else:
        head = text.partition("#ifndef")[0]
        lines = [line.removeprefix("//") for line in head.splitlines()[1:] if "===" not in line]
    return as_markdown([line.removeprefix(" ") for line in lines])


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
