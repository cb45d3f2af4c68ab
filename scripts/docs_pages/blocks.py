"""The code blocks of a page, and how each is run.

All `python` blocks of a page are one program, in order. A comment before a block says otherwise:

    <!-- kernel: A float32[64], B float32[64] -->     it is a part of a kernel with these tensors
    <!-- error: text -->                              it ends with an error that has this text
    <!-- file: first.py -->                           it is a file for console blocks
    <!-- not run: it needs a GPU -->                  it is not run, and why

A `text` block right after a `python` block is what that block prints. In a `console` block, lines
with `$ ` are commands, and what follows is what they print. `…` stands for any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(
    r"(?P<comments>(?:^<!-- [^\n]*? -->\n\n?)*)^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"<!-- (kernel|error|file|not run): (.*?) -->")


@dataclass
class Block:
    """A fenced block of a page."""

    kind: str
    text: str
    line: int
    orders: dict[str, str] = field(default_factory=dict)
    output: str | None = None


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks, where the output of a block belongs to it."""
    found: list[Block] = []
    end = 0
    for fence in _FENCE.finditer(page):
        line = page.count("\n", 0, fence.start("kind")) + 1
        orders = dict(_COMMENT.findall(fence["comments"]))
        follows = found and not page[end : fence.start()].strip() and found[-1].kind == "python"
        if fence["kind"] == "text" and follows:
            found[-1].output = fence["text"]
        else:
            found.append(Block(fence["kind"], fence["text"], line, orders))
        end = fence.end()
    return found


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a console block with what they print."""
    command, output = "", []
    for line in [*block.text.splitlines(), "$ "]:
        if command.endswith("\\"):
            command = f"{command}\n{line}"
        elif line.startswith("$ "):
            if command:
                yield command, "\n".join(output)
            command, output = line[2:], []
        else:
            output.append(line)


def matches(expected: str, got: str) -> bool:
    """Whether a text is what the page shows, `…` standing for anything."""
    parts = [re.escape(part) for part in expected.strip().split("…")]
    return re.fullmatch(".*?".join(parts), got.strip(), flags=re.DOTALL) is not None


def wrap(block: Block) -> str:
    """A part of a kernel as a whole function."""
    parameters = []
    for name, dtype, shape in re.findall(r"(\w+) (\w+)\[([^\]]*)\]", block.orders["kernel"]):
        parameters.append(f'{name}: T.Tensor(({shape},), "{dtype}")')
    lines = block.text.rstrip().splitlines()
    indent = "    "
    head = f"@T.prim_func\ndef part({', '.join(parameters)}):\n"
    if "T.Kernel(" not in block.text:
        head += f"{indent}with T.Kernel(1, threads=128) as bx:\n"
        indent += "    "
    return head + "\n".join(indent + line if line else "" for line in lines) + "\n"
