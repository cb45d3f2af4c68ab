"""TMA on the virtual GPU beyond boxes: im2col, and four rows at once; against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from tilewright import vgpu
from tilewright.vgpu import TensorMap

HEAD = """.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b16 %h<4>;
  .shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;
  mov.u64 %rd2, map; cvta.param.u64 %rd2, %rd2; ld.param.u64 %rd1, [out];
  mbarrier.init.shared.b64 [bar], 1;
"""
WAIT = """
again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra again;
"""


def load(instruction: str, size: int, target: str = "sm_90a", version: str = "8.4") -> str:
    """PTX that loads a tile with this instruction and stores it, as bytes, to `out`."""
    return (
        HEAD.format(target=target, version=version)
        + f"  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {size};\n  {instruction}\n"
        + WAIT
        + f"  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], {size};\n"
        + "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n  ret;\n}\n"
    )


def im2col(at: tuple[int, ...], offsets: tuple[int, ...], size: int) -> str:
    """A load at coordinates in TMA's order: channels first, images last."""
    places, moved = (", ".join(map(str, numbers)) for numbers in (at, offsets))
    return load(
        f"cp.async.bulk.tensor.{len(at)}d.shared::cluster.global.im2col"
        f".mbarrier::complete_tx::bytes [tile], [%rd2, {{{places}}}], [bar], {{{moved}}};",
        size,
    )


def walk(array, at, offsets, corners, pixels, channels):
    """The pixels of a column as the PTX ISA counts them, images outermost."""
    (low_h, low_w), (high_h, high_w) = corners
    images, height, width, _ = array.shape
    c, w, h, n = at
    rows = []
    for _ in range(pixels):
        y, x = h + offsets[1], w + offsets[0]
        row = np.zeros(channels, array.dtype)
        if 0 <= y < height and 0 <= x < width and n < images:
            found = array[n, y, x, c : c + channels]
            row[: len(found)] = found
        rows.append(row)
        w += 1
        if w > width - 1 + high_w:
            w, h = low_w, h + 1
            if h > height - 1 + high_h:
                h, n = low_h, n + 1
    return np.stack(rows)


@pytest.mark.parametrize("offsets", [(0, 0), (1, 0), (2, 2)])
@pytest.mark.parametrize("at", [(0, -1, -1, 0), (8, 2, 3, 0), (16, -1, 4, 1)])
def test_im2col_walks_the_bounding_box(at: tuple[int, ...], offsets: tuple[int, ...]) -> None:
    """3 x 3 filters with padding of 1: the box begins one pixel outside, on both sides."""
    array = np.arange(2 * 6 * 5 * 24, dtype=np.float16).reshape(2, 6, 5, 24)
    corners, pixels, channels = ((-1, -1), (-1, -1)), 24, 8
    size = pixels * channels * 2
    out = np.full(pixels * channels, -1, np.float16)
    map_ = TensorMap(array, (pixels, channels), corners=corners)
    result = vgpu.launch(im2col(at, offsets, size), "k", 1, 1, [map_, out], arch="sm_90a")
    assert not result.findings, result.findings
    expected = walk(array, at, offsets, corners, pixels, channels)
    np.testing.assert_array_equal(out.reshape(pixels, channels), expected)


def test_im2col_of_one_dimension_and_late() -> None:
    array = np.arange(3 * 10 * 8, dtype=np.float32).reshape(3, 10, 8)
    out = np.zeros((16, 8), np.float32)
    ptx = im2col((0, 4, 1), (2,), 16 * 8 * 4)
    map_ = TensorMap(array, (16, 8), corners=((0,), (-2,)))
    for mode in ("early", "late"):
        result = vgpu.launch(ptx, "k", 1, 1, [map_, out], arch="sm_90a", mode=mode)
        assert not result.findings
        pixels = [(1, w) for w in range(4, 8)] + [(2, w) for w in range(8)]
        expected = [array[n, w + 2] for n, w in pixels]
        np.testing.assert_array_equal(out[:12], expected)
        assert not out[12:].any()  # beyond the last image


def test_maps_and_instructions_must_be_of_one_mode() -> None:
    array = np.zeros((2, 6, 5, 24), np.float16)
    out = np.zeros(24 * 8, np.float16)
    ptx = im2col((0, 0, 0, 0), (0, 0), 384)
    result = vgpu.launch(ptx, "k", 1, 1, [TensorMap(array, (1, 1, 4, 8)), out], arch="sm_90a")
    assert "the tensor map is of boxes" in result.findings[0].message
    with pytest.raises(Exception, match="-128 to 127 are possible"):
        vgpu.launch(ptx, "k", 1, 1, [TensorMap(array, (24, 8), corners=((0, 200), (0, 0))), out],
                    arch="sm_90a")  # fmt: skip
    with pytest.raises(Exception, match=r"the box is \(pixels, channels\)"):
        vgpu.launch(ptx, "k", 1, 1, [TensorMap(array, (24,), corners=((0, 0), (0, 0))), out],
                    arch="sm_90a")  # fmt: skip


ROWS = (7, 2, 2, 30)


def test_four_rows_are_gathered_and_scattered() -> None:
    array = np.arange(20 * 64, dtype=np.float16).reshape(20, 64)
    out = np.full((4, 32), -1, np.float16)
    rows = ", ".join(map(str, ROWS))
    gather = load(
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
        f"[tile], [%rd2, {{8, {rows}}}], [bar];", 256, "sm_100", "8.6",
    )  # fmt: skip
    result = vgpu.launch(gather, "k", 1, 1, [TensorMap(array, (1, 32)), out], arch="sm_100")
    assert not result.findings, result.findings
    expected = [array[row, 8:40] if row < 20 else np.zeros(32, np.float16) for row in ROWS]
    np.testing.assert_array_equal(out, expected)
    back = np.zeros((20, 64), np.float16)
    scatter = (
        HEAD.format(target="sm_100", version="8.6")
        + "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n"
        + "  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%rd1], 256, "
        + "[bar];\n" + WAIT
        + "  cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
        + "[%rd2, {8, 7, 2, 9, 30}], [tile];\n"
        + "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n  ret;\n}\n"
    )  # fmt: skip
    result = vgpu.launch(scatter, "k", 1, 1, [TensorMap(back, (1, 32)), out], arch="sm_100")
    assert not result.findings, result.findings
    np.testing.assert_array_equal(back[[7, 2, 9], 8:40], out[:3])
    assert np.count_nonzero(back) == np.count_nonzero(out[:3])


def test_a_box_of_more_rows_is_no_gather() -> None:
    array, out = np.zeros((20, 64), np.float16), np.zeros((4, 32), np.float16)
    gather = load(
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
        "[tile], [%rd2, {0, 0, 1, 2, 3}], [bar];", 256, "sm_100", "8.6",
    )  # fmt: skip
    result = vgpu.launch(gather, "k", 1, 1, [TensorMap(array, (2, 32)), out], arch="sm_100")
    assert "the box of the tensor map has 2" in result.findings[0].message
