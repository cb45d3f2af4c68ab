"""The notebooks run from top to bottom, cell by cell, as Jupyter would run them."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def run_cell(text: str, file: Path, namespace: dict[str, Any]) -> Any:
    """Runs a cell from a file, so that kernels have a source; the value of its last expression."""
    file.write_text(text, encoding="utf-8")
    tree = ast.parse(text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(file), "exec"), namespace)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), str(file), "eval"), namespace)


def test_there_are_three() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["first_kernel", "layouts", "tune"]


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of ours that a cell ends with show themselves as HTML."""
    monkeypatch.chdir(notebook.parent)
    document = json.loads(notebook.read_text(encoding="utf-8"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(document["cells"]):
        assert cell.get("outputs", []) == [], "notebooks are kept without output"
        if cell["cell_type"] == "code":
            text = "".join(cell["source"])
            value = run_cell(text, tmp_path / f"cell_{number}.py", namespace)
            if type(value).__module__.startswith("tilewright"):
                assert value._repr_html_().startswith("<")
