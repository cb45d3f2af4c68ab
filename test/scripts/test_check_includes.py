"""The include picture: what it permits, what it refuses, and what it says then."""

from __future__ import annotations

import re
from pathlib import Path

import check_includes
import pytest
from check_includes import PICTURE, faults_below, include_fault, rooms_below

ROOT = Path(check_includes.__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("lib/Tile/TileOps.cpp", "tilewright/Tile/TileOps.h"),
        ("lib/Tile/TileOps.cpp", "tilewright/Support/Answer.h"),
        ("include/tilewright/Transforms/Passes.td", "tilewright/Tile/TileOps.td"),
        ("lib/Transforms/Distribute/Copy.cpp", "tilewright/Access/Plan.h"),
        ("lib/Interp/Gemm.cpp", "tilewright/Layout/Layout.h"),
        ("lib/Layout/Proofs.cpp", "mlir/Analysis/Presburger/IntegerRelation.h"),
        ("lib/Rt/Library.cpp", "tilewright/Support/Result.h"),
        ("lib/Driver/Pipeline.cpp", "vgpu/Vgpu.h"),
        ("lib/Frontend/Builder.cpp", "tilewright/Tile/TileOps.h"),
        ("lib/Threads/Spread.cpp", "tilewright/Tile/TileOps.h"),
        ("vgpu/lib/Exec/Memory.cpp", "vgpu/Memory/Shared.h"),
        ("vgpu/lib/Exec/Memory.cpp", "llvm/ADT/DenseMap.h"),
        ("vgpu/lib/Checks/RaceCheck.cpp", "vgpu/Machine/Report.h"),
        ("vgpu/lib/Vgpu.cpp", "vgpu/Checks/RaceCheck.h"),
        ("vgpu/test/unit/RaceShadowTest.cpp", "vgpu/Checks/RaceShadow.h"),
        ("test/unit/Interp/GemmTest.cpp", "tilewright/Transforms/Passes.h"),
        ("python/bindings/Module.cpp", "tilewright/Frontend/Builder.h"),
        ("tools/tw-opt/main.cpp", "tilewright/Tile/TileDialect.h"),
    ],
)
def test_downward_includes_are_permitted(path: str, header: str) -> None:
    assert include_fault(path, header) is None


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("lib/Tile/TileOps.cpp", "tilewright/Interp/Interp.h"),
        ("include/tilewright/Layout/Layout.h", "tilewright/Tile/TileAttrs.h"),
        ("lib/Layout/Layout.cpp", "tilewright/Target/Arch.h"),
        ("lib/Interp/Gemm.cpp", "tilewright/Access/Plan.h"),
        ("lib/Interp/Gemm.cpp", "tilewright/PlanCheck/Check.h"),
        ("lib/PlanCheck/Check.cpp", "vgpu/Vgpu.h"),
        ("lib/Rt/Image.cpp", "llvm/ADT/StringRef.h"),
        ("lib/Rt/Image.cpp", "tilewright/Layout/IndexExpr.h"),
        ("lib/Transforms/Lower.cpp", "tilewright/Codegen/Nvptx.h"),
        ("lib/Frontend/Builder.cpp", "tilewright/Analysis/Hazards.h"),
        ("lib/Frontend/Builder.cpp", "tilewright/Threads/Passes.h"),
        ("lib/Interp/Threads.cpp", "tilewright/Threads/Passes.h"),
        ("vgpu/lib/Exec/Memory.cpp", "tilewright/Support/Answer.h"),
        ("vgpu/lib/Exec/Memory.cpp", "mlir/IR/Builders.h"),
        ("vgpu/lib/Exec/Runner.cpp", "vgpu/Checks/Poison.h"),
        ("vgpu/lib/Checks/TileCheck.cpp", "vgpu/Exec/Mbarrier.h"),
        ("vgpu/include/vgpu/Checks/TileCheck.h", "vgpu/Counters/Counters.h"),
        ("vgpu/include/vgpu/Machine/Launch.h", "vgpu/Exec/SpinWatch.h"),
        ("vgpu/include/vgpu/Events/Observer.h", "vgpu/Machine/Block.h"),
        ("vgpu/lib/Exec/Memory.cpp", "vgpu/Vgpu.h"),
        ("lib/Driver/VirtualGpu.cpp", "vgpu/Exec/Decode.h"),
        ("lib/Layout/Layout.cpp", "mlir/IR/AffineExpr.h"),
        ("lib/Tile/TileOps.cpp", "../Interp/Value.h"),
    ],
)
def test_other_includes_are_refused(path: str, header: str) -> None:
    assert include_fault(path, header) is not None


def test_message_names_place_rooms_and_what_is_permitted(tmp_path: Path) -> None:
    file = tmp_path / "lib" / "Target" / "Arch.cpp"
    file.parent.mkdir(parents=True)
    file.write_text('#include "tilewright/Target/Arch.h"\n#include "tilewright/Tile/TileOps.h"\n')
    assert faults_below(tmp_path) == [
        "lib/Target/Arch.cpp:2: error: Target may not include 'tilewright/Tile/TileOps.h': "
        "below Target lie Support"
    ]


def test_room_outside_the_picture_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "lib" / "Utils" / "Misc.cpp"
    file.parent.mkdir(parents=True)
    file.write_text('#include "tilewright/Support/Answer.h"\n')
    (fault,) = faults_below(tmp_path)
    assert "room 'Utils' is not in the picture" in fault


def test_picture_has_no_cycle_and_keeps_witnesses_apart() -> None:
    for room in PICTURE:
        assert room not in rooms_below(room, PICTURE)
    judged = {"Access", "Analysis", "Transforms", "Codegen"}
    witnesses = {"Interp", "PlanCheck", "vgpu"}
    assert "vgpu/Checks" not in rooms_below("vgpu/Exec", PICTURE)
    for witness in witnesses:
        assert not rooms_below(witness, PICTURE) & (judged | witnesses - {witness})


def test_every_room_of_the_tree_is_in_the_picture() -> None:
    folders = [*(ROOT / "include" / "tilewright").iterdir(), *(ROOT / "lib").iterdir()]
    rooms = {folder.name for folder in folders if folder.is_dir()}
    assert rooms
    assert rooms <= set(PICTURE)
    folders = [*(ROOT / "vgpu" / "include" / "vgpu").iterdir(), *(ROOT / "vgpu" / "lib").iterdir()]
    assert {f"vgpu/{folder.name}" for folder in folders if folder.is_dir()} == {
        room for room in PICTURE if room.startswith("vgpu/")
    }
    assert not [room for room in rooms if re.fullmatch(r"Util\w*|Common|Misc", room)]
