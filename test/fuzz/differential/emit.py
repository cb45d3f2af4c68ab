"""A program as a Python file that can be read, run by itself, and loaded by the witnesses."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from differential.program import Buffer, Program, render_block
from differential.ranges import full, is_float

HEADER = '''"""A program of the differential fuzzer: seed {seed}, {mode} mode.

    python test/fuzz/differential --seed {seed}       every engine, compared
    python {file}      this file: what each engine gives
"""

import ml_dtypes  # noqa: F401  (numpy learns its types)
import numpy as np
import tilewright
import tilewright.layout
import tilewright.language as T

'''

FOOTER = """

if __name__ == "__main__":
    np.set_printoptions(linewidth=200)
    for device in ("interp", "cpu", "vgpu:sm_80"):
        values = arguments()
        tilewright.compile(main, device=device)(*values)
        for parameter, value in zip(main.params, values, strict=True):
            if parameter["name"] in WRITTEN:
                print(device, parameter["name"], value, sep="\\n")
"""


def emit(
    program: Program, file: str = "FILE.py", arguments: Callable[[Program], list[str]] | None = None
) -> str:
    """The text of the file; `arguments` writes the function that makes those of a call."""
    mode = "exact" if program.exact else "bounded"
    parts = [HEADER.format(seed=program.seed, mode=mode, file=file)]
    static = {n: v for n, v in program.extents.items() if n not in program.dynamic}
    if static:
        parts.append(f"{', '.join(static)} = {', '.join(map(str, static.values()))}\n")
    for name in program.dynamic:
        parts.append(f'{name} = T.dynamic("{name}")\n')
    parts.append("\n\n" + "\n".join(_kernel(program)) + "\n")
    parts.append("\n\n" + "\n".join((arguments or _arguments)(program)) + "\n")
    parts.append(FOOTER)
    return "".join(parts)


def _shape(buffer: Buffer) -> str:
    return (
        f"({', '.join(buffer.shape)},)"
        if len(buffer.shape) == 1
        else f"({', '.join(buffer.shape)})"
    )


def _kernel(program: Program) -> list[str]:
    lines = [*program.helpers.splitlines(), "@T.prim_func", "def main("]
    for tensor in program.tensors:
        kind, strides = "Tensor", ""
        if tensor.strides:
            kind, strides = "StridedTensor", f"{tuple(tensor.strides)}, "
        made = f'T.{kind}({_shape(tensor)}, {strides}"{tensor.dtype}")'
        lines.append(f"    {tensor.name}: {made},")
    variables = ", ".join(program.block_variables)
    if len(program.grid) > 1:
        variables = f"({variables})"
    kind, cluster = "Kernel", ""
    if program.cluster:
        kind, cluster = "ClusterKernel", f"cluster_dims={program.cluster}, "
    grid = ", ".join(program.grid)
    head = f"T.{kind}({grid}, {cluster}threads={program.threads})"
    lines += ["):", f"    with {head} as {variables}:"]
    for tile in program.tiles:
        if tile.reducer:
            made = f'T.alloc_reducer({_shape(tile)}, "{tile.dtype}", "{tile.reducer}")'
        elif tile.role == "tile":
            made = f'T.alloc_{tile.space}({_shape(tile)}, "{tile.dtype}")'
        else:
            continue
        lines.append(f"        {tile.name} = {made}")
    for buffer in program.buffers:
        if buffer.layout:
            lines.append(f"        T.annotate_layout({{{buffer.name}: {buffer.layout}}})")
        if buffer.safe_value is not None:
            lines.append(f"        T.annotate_safe_value({{{buffer.name}: {buffer.safe_value}}})")
    return lines + [f"    {line}" for line in render_block(program.body)]


def _arguments(program: Program) -> list[str]:
    """Values that fill the bound of inputs, and half of it for what is added to."""
    written = tuple(t.name for t in program.tensors if t.role != "in")
    lines = [f"WRITTEN = {written!r}", "", "", "def arguments():",
             f"    rng = np.random.default_rng({program.seed})", "    return ["]  # fmt: skip
    for tensor in program.tensors:
        shape = tuple(program.value(extent) for extent in tensor.shape)
        largest = (
            tensor.bound.magnitude if tensor.role == "in" else min(tensor.bound.magnitude / 4, 64)
        )
        if not is_float(tensor.dtype) and largest >= full(tensor.dtype).magnitude:
            largest = min(full(tensor.dtype).magnitude - 1, 2.0**52)
        low = 0 if tensor.dtype.startswith("u") else -largest
        if is_float(tensor.dtype) and not program.exact:
            draw = f"rng.uniform({low}, {largest}, {shape})"
        else:
            scale = 2.0**tensor.bound.exponent
            draw = (
                f"rng.integers({int(low / scale)}, {int(largest / scale)}, {shape}, endpoint=True)"
            )
            draw += f" * {scale}" if scale != 1 else ""
        lines.append(f'        ({draw}).astype("{tensor.dtype}"),  # {tensor.name}')
    return [*lines, "    ]"]


_numbers = itertools.count()


def load(path: Path) -> ModuleType:
    """The file as a new module."""
    name = f"fuzz_program_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
