"""What the text of a test says about it: whether it can launch a kernel, and whether it asserts on
generated CUDA text.

A test of TileLang's own that is refused never gets as far as its launch or its assertion. Both are
read from the test function and what it calls in its file.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

#: Without a tensor or a profiler no kernel is launched. A dtype of torch's is no tensor.
_LAUNCH = re.compile(
    r"\b(torch|np|numpy)\.(?!(float|bfloat|half|u?int|bool|dtype|Tensor\b|Size\b))\w"
    r"|profiler|assert_allclose"
)

#: Where generated text comes from, and how assertions name it.
_GENERATED = re.compile(r"get_kernel_source|get_host_source|kernel_source|rt_mod|inspect_source")
_ON_TEXT = re.compile(
    r"\bin \w*(source|src|code|ptx|cuda|text|sass)|get_kernel_source|\bre\.(search|findall)"
    r"|\.count\(|FileCheck"
)


@cache
def _parse(file: Path) -> tuple[str, dict[str, ast.AST]]:
    """The text of a file, and its functions and classes by name."""
    text = file.read_text()
    kinds = (ast.FunctionDef, ast.ClassDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return text, {node.name: node for node in reversed(nodes)}


def _reach(file: Path, function: str) -> list[ast.AST]:
    """The function and what it names in its file, each once."""
    _, definitions = _parse(file)
    reached: dict[str, ast.AST] = {}
    names = [function]
    while names:
        name = names.pop()
        if name in reached or name not in definitions:
            continue
        reached[name] = definitions[name]
        for node in ast.walk(definitions[name]):
            if isinstance(node, ast.Name):
                names.append(node.id)
            elif isinstance(node, ast.Attribute):
                names.append(node.attr)
    return list(reached.values())


def _text(file: Path, node: ast.AST) -> str:
    return ast.get_source_segment(_parse(file)[0], node) or ""


def can_launch(file: Path, function: str) -> bool:
    """Something that the test reaches makes tensors or measures kernels."""
    return any(_LAUNCH.search(_text(file, node)) for node in _reach(file, function))


def assertion_on_text(file: Path, function: str) -> str | None:
    """The first assertion on generated text that the test reaches."""
    reached = _reach(file, function)
    if not any(_GENERATED.search(_text(file, node)) for node in reached):
        return None
    for node in reached:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Assert):
                line = " ".join(_text(file, inner).split())
                if _ON_TEXT.search(line.partition(",")[0]):
                    return line
    return None
