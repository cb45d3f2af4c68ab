"""The lint of passes: what it asks of a pass, and that ours have it."""

from __future__ import annotations

from pathlib import Path

import check_passes
import pytest
from check_passes import faults_below

ROOT = Path(check_passes.__file__).resolve().parent.parent

COMPLETE = {
    "include/tilewright/Room/Passes.td": """
def FoldTiles : Pass<"tile-fold"> {
  let summary = "Fold tiles";
  let description = [{
    ```mlir
    tile.copy %a, %b : ...
    ```
  }];
}
""",
    "docs/internals/walkthrough.md": "### `tile-fold`",
    "lib/Driver/Pipeline.cpp": "pm.addPass(createFoldTiles());",
    "test/lit/Room/fold.mlir": "// RUN: tw-opt %s -tile-fold",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_complete_pass_has_no_faults(tmp_path: Path) -> None:
    assert faults_below(write(tmp_path, COMPLETE)) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("include/tilewright/Room/Passes.td", "summary", "other", "has no summary"),
        ("include/tilewright/Room/Passes.td", "description", "other", "has no description"),
        ("include/tilewright/Room/Passes.td", "mlir", "", "has no example in its description"),
        ("lib/Driver/Pipeline.cpp", "FoldTiles", "Other", "is not in Driver/Pipeline.cpp"),
        (
            "docs/internals/walkthrough.md",
            "tile-fold",
            "tile-fold-more",
            "is not in docs/internals/walkthrough.md",
        ),
        (
            "test/lit/Room/fold.mlir",
            "-tile-fold",
            "-tile-fold-more",
            "is run by no lit test (expected '-tile-fold' below test/lit)",
        ),
    ],
)
def test_what_is_missing_is_told(tmp_path: Path, file: str, old: str, new: str, fault: str) -> None:
    files = {**COMPLETE, file: COMPLETE[file].replace(old, new)}
    where = "include/tilewright/Room/Passes.td: tile-fold"
    assert faults_below(write(tmp_path, files)) == [f"{where} {fault}"]


def test_a_pass_without_a_record_is_told(tmp_path: Path) -> None:
    pass_ = "struct HiddenPass : PassWrapper<HiddenPass, OperationPass<ModuleOp>> {"
    root = write(tmp_path, {**COMPLETE, "lib/Room/Hidden.cpp": pass_})
    assert faults_below(root) == ["lib/Room/Hidden.cpp: HiddenPass has no record in a Passes.td"]


@pytest.mark.parametrize(
    ("text", "is_fault"),
    [
        ("PassManager pm(module.getContext());", True),
        ("llvm::legacy::PassManager passes;", False),
        ("static void build(OpPassManager &pm);", False),
    ],
)
def test_a_list_of_passes_beside_the_drivers_is_told(
    tmp_path: Path, text: str, is_fault: bool
) -> None:
    root = write(tmp_path, {**COMPLETE, "lib/Room/Emit.cpp": text})
    fault = "lib/Room/Emit.cpp runs passes that lib/Driver/Pipeline.cpp does not list"
    assert faults_below(root) == ([fault] if is_fault else [])


def test_our_passes_are_complete() -> None:
    assert faults_below(ROOT) == []
