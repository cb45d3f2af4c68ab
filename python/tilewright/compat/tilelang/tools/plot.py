"""Pictures of layouts, written to files."""

from __future__ import annotations

import os
from typing import Any

from tilewright.support.errors import LanguageError, reporting


@reporting
def plot_layout(
    layout: Any,
    save_directory: str = "./tmp",
    name: str = "layout",
    colormap: str | None = None,
    verbose: bool = False,
    formats: str | list[str] = "svg",
    view: str = "input",
    grid_shape: tuple[int, int] | None = None,
) -> None:
    """Writes `<save_directory>/<name>.svg`, whatever the requested format: who holds which element.

    `view="output"` shows the inverse map; colours and grids are the picture's own.
    """
    if view not in ("input", "output"):
        raise LanguageError(f"plot_layout: view is 'input' or 'output', got {view!r}")
    if view == "output":
        layout = layout.inverse()
    os.makedirs(save_directory, exist_ok=True)
    path = os.path.join(save_directory, f"{name}.svg")
    layout.plot(path)
    print(f"{path}: {layout}" if verbose else path)
