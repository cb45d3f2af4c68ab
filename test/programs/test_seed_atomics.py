"""What the planner makes of the seed's atomics: one procedure, five answers, each with its reason.

The kernel is the seed script; two cases change dQ's layout in its text, and all keep it from TMA,
which would add whole tiles on sm_90. PTX and remarks are both checked: the remark must name the
instruction that is there.
"""

from __future__ import annotations

import os
import re
import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEED = ROOT / "examples" / "seed" / "flash_attention_backward.py"

ANNOTATION = "                dQ: make_dq_layout(dQ),\n"
SEED_LAYOUT = "[b, h, l // 8, d // 8, (d % 2), 4 * (l % 8) + (d % 8) // 2]"
# The four results that a tensor core gives to one thread lie next to each other.
QUADS = "[b, h, l // 16, d // 8, 4 * (l % 8) + (d % 8) // 2, 2 * (l % 16 // 8) + d % 2]"
FAST_MATH = "    tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True,\n"
NO_TMA = "    tilelang.PassConfigKey.TL_DISABLE_TMA_LOWER: True,\n"
CHANGES = {"seed": ("", ""), "plain": (ANNOTATION, ""), "quads": (SEED_LAYOUT, QUADS)}

Compiler = Callable[[str, str], Any]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    """The seed kernel with dQ laid out as the script says, row-major, or in quads, for an arch."""
    folder = tmp_path_factory.mktemp("seed")

    @cache
    def compile_seed(layout: str, arch: str) -> Any:
        text = SEED.read_text()
        old, new = CHANGES[layout]
        assert text.count(old) == 1 or not old
        path = folder / f"seed_{layout}_{arch}.py"
        assert text.count(FAST_MATH) == 1
        text = text.replace(FAST_MATH, FAST_MATH + NO_TMA)
        path.write_text(text.replace(old, new) if old else text)
        with patch.dict(os.environ, TILEWRIGHT_ARCH=arch, TILEWRIGHT_DEVICE=f"vgpu:{arch}"):
            make = runpy.run_path(str(path))["flashattn_bwd"]
            return make(batch=1, heads=4, seq_len=128, dim=64, groups=2)

    return compile_seed


def remark(kernel: Any, buffer: str, instruction: str) -> str:
    """What is said about the one access of a buffer by this kind of instruction."""
    pattern = re.compile(rf"{buffer}: \d+ x {instruction}\.")
    [message] = [r.message for r in kernel.remarks if pattern.match(r.message)]
    return message


def updates(kernel: Any) -> set[str]:
    """The forms of float32 additions to global memory in the PTX."""
    return set(re.findall(r"\bred\.(?:\w+\.)*global\.add\.((?:v\d\.)?f32)", kernel.ptx))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_dq_in_the_seeds_layout_is_scalar(compiled: Compiler, arch: str) -> None:
    said = remark(compiled("seed", arch), "dQ", "red.global")
    assert said.startswith("dQ: 1 x red.global.add.f32")
    if arch == "sm_90":
        assert "2 wide refused: slots 0, 1 of thread 0 lie 32 elements apart in dQ's layout" in said
    assert said.endswith("a warp covers one 128-byte line")


def test_dq_row_major_goes_in_pairs_on_sm_90(compiled: Compiler) -> None:
    kernel = compiled("plain", "sm_90")
    assert remark(kernel, "dQ", "red.global").startswith(
        "dQ: 2 x red.global.add.v2.f32 (4 wide refused: "
    )
    assert updates(kernel) == {"v2.f32", "v4.f32"}  # v4 for dK and dV


def test_dq_in_quads_goes_by_four_on_sm_90(compiled: Compiler) -> None:
    kernel = compiled("quads", "sm_90")
    assert remark(kernel, "dQ", "red.global").startswith("dQ: 4 x red.global.add.v4.f32")
    assert updates(kernel) == {"v4.f32"}


def test_dk_and_dv_go_by_four_from_16_byte_reads_on_sm_90(compiled: Compiler) -> None:
    kernel = compiled("seed", "sm_90")
    for buffer in ("dK", "dV"):
        said = remark(kernel, buffer, "red.global")
        assert said.startswith(f"{buffer}: 4 x red.global.add.v4.f32")
        tile = f"{buffer.lower()}_shared"
        assert remark(kernel, tile, "ld.shared").startswith(f"{tile}: 4 x ld.shared.v4.f32")
    assert updates(kernel) == {"f32", "v4.f32"}  # scalars for dQ
    assert re.search(r"ld\.shared\.v4\.\w32", kernel.ptx)


def test_all_are_scalar_and_coalesced_on_sm_80(compiled: Compiler) -> None:
    kernel = compiled("seed", "sm_80")
    for buffer in ("dK", "dV", "dQ"):
        said = remark(kernel, buffer, "red.global")
        assert said.startswith(f"{buffer}: 1 x red.global.add.f32")
        assert said.endswith("a warp covers one 128-byte line")
    assert updates(kernel) == {"f32"}
