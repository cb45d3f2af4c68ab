"""The import picture of the Python package: what it permits, what it refuses, and what it says."""

from __future__ import annotations

from pathlib import Path

import check_imports
import pytest
from check_imports import PICTURE, faults_below, import_fault, room_of
from check_includes import rooms_below

ROOT = Path(check_imports.__file__).resolve().parent.parent
MODULES = {"tilewright", "tilewright.stray", "tilewright.runtime.kernel"}


@pytest.mark.parametrize(
    ("importer", "module"),
    [
        ("tilewright.language.tiles", "tilewright.frontend.trace"),
        ("tilewright.language.tiles", "tilewright.support.errors"),
        ("tilewright.language.clusters", "tilewright.runtime.device"),
        ("tilewright.runtime.kernel", "tilewright.runtime.device"),
        ("tilewright.runtime.kernel", "tilewright._core"),
        ("tilewright.compat.tilelang", "tilewright"),
        ("tilewright.cli.run", "tilewright.runtime.kernel"),
        ("tilewright.types.dtypes", "numpy"),
    ],
)
def test_downward_imports_are_permitted(importer: str, module: str) -> None:
    assert import_fault(importer, module, MODULES) is None


@pytest.mark.parametrize(
    ("importer", "module", "fault"),
    [
        ("tilewright.frontend.hooks", "tilewright.language.vectors", "frontend may not import"),
        ("tilewright.language.tiles", "tilewright.runtime.kernel", "language may not import"),
        ("tilewright.runtime.device", "tilewright.runtime.kernel", "runtime.device may not import"),
        ("tilewright.runtime.kernel", "tilewright.cli.progress", "runtime may not import"),
        ("tilewright.runtime.kernel", "tilewright", "runtime may not import"),
        ("tilewright.runtime.kernel", "tilewright.errors", "'tilewright.errors' is an alias"),
        ("tilewright.stray", "tilewright.support.errors", "'tilewright.stray' is in no package"),
        ("tilewright.runtime.kernel", ".device", "import of '.device' is relative"),
    ],
)
def test_other_imports_are_refused(importer: str, module: str, fault: str) -> None:
    assert (import_fault(importer, module, MODULES) or "").startswith(fault)


def test_imports_inside_functions_count_and_those_for_type_checkers_do_not(tmp_path: Path) -> None:
    folder = tmp_path / "python" / "tilewright" / "types"
    folder.mkdir(parents=True)
    (folder / "dtypes.py").write_text(
        "if TYPE_CHECKING:\n    from tilewright.language import T\n\n\n"
        "def convert():\n    from tilewright.language import scalars\n"
    )
    assert faults_below(tmp_path) == [
        "python/tilewright/types/dtypes.py:6: error: types may not import 'tilewright.language': "
        "below types lie _core, support"
    ]


def test_picture_has_no_cycle() -> None:
    for room in PICTURE:
        assert room not in rooms_below(room, PICTURE)


def test_every_package_is_in_the_picture() -> None:
    packages = {file.parent.name for file in (ROOT / check_imports.SOURCES).glob("*/__init__.py")}
    assert packages
    assert {room_of(f"tilewright.{package}") for package in packages} == packages


def test_our_imports_follow_the_picture() -> None:
    assert faults_below(ROOT) == []
