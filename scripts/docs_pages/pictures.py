"""Pictures for the index of examples, drawn from what the compiler decided about a kernel."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path
from typing import Any, NamedTuple

ARCH = "sm_80"
_CELLS = 32  # of a side, at most
_TILE = re.compile(
    r'tile\.alloc "(\w+)" \{[^\n]*?tile\.placement = '
    r'#tile\.(layout|fragment)<\[([\d, ]+)\], "([^"]+)"'
)


class Tile(NamedTuple):
    """A tile of a kernel and where its elements are."""

    name: str
    is_fragment: bool
    shape: list[int]
    layout: str


def tiles_of(kernel: Any) -> list[Tile]:
    """The tiles of a kernel, in program order, as layout inference placed them."""
    return [
        Tile(name, kind == "fragment", [int(e) for e in shape.split(",")], layout)
        for name, kind, shape, layout in _TILE.findall(kernel.ir("layouts", arch=ARCH))
    ]


def interest(tile: Tile) -> tuple[int, int, int]:
    """How much there is to see: matrices, in registers, with a layout that is not trivial."""
    is_matrix = len(tile.shape) == 2 and min(tile.shape) > 1
    size = 1
    for extent in tile.shape:
        size *= extent
    return (is_matrix, tile.is_fragment and "%" in tile.layout, min(size, 4096))


def draw(example: Path, file: Path) -> str:
    """Runs an example, draws a tile of the last kernel that it ran, and says what is drawn."""
    from tilewright.runtime import kernel as runtime
    from tilewright.support.errors import TilewrightError

    seen: list[Any] = []

    def listen(event: str, kernel: Any) -> None:
        if event == "ran":
            seen.append(kernel)

    runtime.listeners.append(listen)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            runpy.run_path(str(example), run_name="__main__")
    finally:
        runtime.listeners.remove(listen)
    try:
        tiles = [tile for tile in tiles_of(seen[-1]) if tile.shape]
    except TilewrightError:  # tiles for the CPU that no GPU has room for
        tiles = []
    if not tiles:
        file.write_text(_grid_svg(seen[-1]), encoding="utf-8")
        return "The blocks of its grid"
    tile = max(tiles, key=interest)
    file.write_text(tile_svg(tile), encoding="utf-8")
    extents = " x ".join(map(str, tile.shape))
    corner = " (a corner)" if max(tile.shape) > _CELLS else ""
    if tile.is_fragment:
        return f"The threads that hold '{tile.name}' ({extents}) on {ARCH}{corner}, by colour"
    return f"The banks of shared tile '{tile.name}' ({extents}) on {ARCH}{corner}, by colour"


def tile_svg(tile: Tile) -> str:
    """The corner of a tile in cells, coloured by thread or by bank; equal neighbours are merged."""
    from tilewright._core import core

    layout = core.parse_layout(tile.layout, tile.shape)
    rows = (
        tile.shape[-2] if len(tile.shape) > 1 else max(1, min(tile.shape[0], _CELLS**2) // _CELLS)
    )
    columns = tile.shape[-1] if len(tile.shape) > 1 else min(tile.shape[0], _CELLS)
    rows, columns = min(rows, _CELLS), min(columns, _CELLS)
    head = [0] * (len(tile.shape) - 2)
    cells = []
    for i in range(rows):
        line = []
        for j in range(columns):
            index = (
                [*head, i, j] if len(tile.shape) > 1 else [min(i * columns + j, tile.shape[0] - 1)]
            )
            line.append(_colour(layout, tile, index))
        cells.append(line)
    return _svg(cells)


def _colour(layout: Any, tile: Tile, index: list[int]) -> str:
    if tile.is_fragment:
        thread = layout.owner_of(index)[0]
        return f"hsl({thread % 32 * 11} 65% {72 - 9 * (thread // 32 % 4)}%)"
    offset = 0
    for position, extent in zip(layout.map(index), layout.output_shape, strict=True):
        offset = offset * extent + position
    return f"hsl({offset % 64 // 8 * 45} 60% {75 - offset % 8 * 3}%)"


def _svg(cells: list[list[str]]) -> str:
    size = 8
    parts = []
    for i, line in enumerate(cells):
        start = 0
        for j in range(1, len(line) + 1):
            if j == len(line) or line[j] != line[start]:
                x, y, width = start * size, i * size, (j - start) * size - 1
                place = f'x="{x}" y="{y}" width="{width}" height="{size - 1}"'
                parts.append(f'<rect {place} fill="{line[start]}"/>')
                start = j
    width, height = len(cells[0]) * size, len(cells) * size
    body = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{body}</svg>\n'
    )


def _grid_svg(kernel: Any) -> str:
    """The blocks of a kernel that has no tile."""
    grid = [e if isinstance(e, int) else 4 for e in kernel.summary()["kernels"][0]["grid"]] or [1]
    columns, rows = min(grid[0], _CELLS), min(grid[1] if len(grid) > 1 else 1, _CELLS)
    cells = [
        [f"hsl({(i * columns + j) * 37 % 360} 60% 70%)" for j in range(columns)]
        for i in range(rows)
    ]
    return _svg(cells)
