"""Docstrings as Markdown, and the examples in them.

A docstring has a first sentence, paragraphs, and at its end perhaps

    Example:
        B[i, j] = T.exp(A[i, j])

An example of the language is a part of a kernel. Names that it does not bind have a meaning of
their own (`CONTEXT`), so that it can be run (test/docs/test_docstrings.py).
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any

_EXAMPLE = re.compile(r"^Examples?:\n(.*)\Z", flags=re.MULTILINE | re.DOTALL)


def parts_of(thing: Any) -> tuple[str, str]:
    """The prose of a docstring as Markdown, and its example, empty if it has none."""
    text = inspect.cleandoc(inspect.getdoc(thing) or "")
    found = _EXAMPLE.search(text)
    if found is None:
        return as_markdown(text), ""
    return as_markdown(text[: found.start()].strip()), textwrap.dedent(found[1]).strip() + "\n"


def as_markdown(text: str) -> str:
    """Indented blocks become fenced ones."""
    lines: list[str] = []
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        after_blank = not lines or not lines[-1].strip()
        if line.startswith("    ") and (block or after_blank):
            block.append(line)
            continue
        if block and not line.strip():
            block.append("")
            continue
        if block:
            lines += [
                "```python",
                *textwrap.dedent("\n".join(block)).strip().splitlines(),
                "```",
                "",
            ]
            block = []
        lines.append(line)
    if block:
        lines += ["```python", *textwrap.dedent("\n".join(block)).strip().splitlines(), "```"]
    return "\n".join(lines).strip()


def signature_of(thing: Any, name: str) -> str:
    """`name(arguments)`, without types; for a class those of its constructor."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "span", "loc")
    ]
    text = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return name + re.sub(r"<([\w.]+)[^>]*>", r"\1", text)


# ---- Running the examples of the language ----

#: What an example may use without saying so, in the order in which it is written before it.
CONTEXT = {
    "s": 's = T.alloc_shared((64, 64), "float32")\nT.copy(A, s)',
    "f": 'f = T.alloc_fragment((64, 64), "float32")\nT.copy(A, f)',
    "tx": "tx = T.get_thread_binding()",
}
PARAMETERS = {
    "A": 'T.Tensor((64, 64), "float32")',
    "B": 'T.Tensor((64, 64), "float32")',
    "C": 'T.Tensor((64, 64), "float32")',
    "H": 'T.Tensor((64, 64), "float16")',
    "N": 'T.Tensor((64, 64), "int32")',
    "M": 'T.Tensor((64, 64), "int32")',
}


def program_of(example: str) -> str:
    """The example as a whole program, with a function `main`."""
    head = "import tilewright\nimport tilewright.language as T\n\n"
    tree = ast.parse(example)
    if "T.prim_func" in example or "tilewright.jit" in example:
        return head + example
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    bound |= {argument.arg for argument in ast.walk(tree) if isinstance(argument, ast.arg)}
    used = {name.id for name in names} - bound
    body = example
    if used & {"i", "j"}:
        body = "for i, j in T.Parallel(64, 64):\n" + textwrap.indent(body, "    ")
    setup = "\n".join(text for name, text in CONTEXT.items() if name in used)
    body = f"{setup}\n{body}" if setup else body
    if "Kernel(" not in example:
        body = "with T.Kernel(1, threads=128) as bx:\n" + textwrap.indent(body, "    ")
    wanted = [f"{name}: {kind}" for name, kind in PARAMETERS.items() if name in used | {"A"}]
    parameters = ", ".join(wanted)
    return f"{head}@T.prim_func\ndef main({parameters}):\n" + textwrap.indent(body, "    ")
