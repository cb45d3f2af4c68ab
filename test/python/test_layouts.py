"""Layouts and fragments as Python sees them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tilewright
import tilewright.language as T


def test_layout_maps_indices() -> None:
    layout = T.Layout((4, 8), lambda i, j: [j // 2, i, j % 2])
    assert layout.get_input_shape() == [4, 8]
    assert layout.get_output_shape() == [4, 4, 2]
    assert layout.map_forward_index([1, 5]) == [2, 1, 1]
    assert layout.core.is_injective()[0] == "yes"


def test_one_output_needs_no_list() -> None:
    layout = T.Layout((4, 8), lambda i, j: i * 8 + (j ^ i))
    assert layout.get_output_shape() == [32]
    assert layout.map_forward_index([3, 4]) == [31]


def test_bits_of_an_index() -> None:
    """As swizzles write them; other masks are no arithmetic on integers."""
    layout = T.Layout((64, 64), lambda i, j: [i, (j & 0x38) ^ ((i & 7) << 3), j >> 3])
    for i, j in ((0, 0), (3, 5), (63, 63)):
        assert layout.map_forward_index([i, j]) == [i, (j & 0x38) ^ ((i & 7) << 3), j >> 3]
    with pytest.raises(tilewright.TilewrightError):
        T.Layout((64,), lambda i: i & 5)


def test_inverse_and_equality() -> None:
    layout = T.Layout((4, 8), lambda i, j: [j, i])
    inverse = layout.inverse()
    for index in itertools.product(range(4), range(8)):
        assert inverse.map_forward_index(layout.map_forward_index(index)) == list(index)
    assert layout.is_equal(T.Layout((4, 8), lambda i, j: [j + 0, i]))
    assert not layout.is_equal(T.Layout((4, 8), lambda i, j: [i, j]))


def test_fragment_places_elements() -> None:
    fragment = T.Fragment((8, 8), lambda i, j: (i * 4 + j // 2, j % 2))
    assert (fragment.threads, fragment.slots, fragment.replicate) == (32, 2, 1)


def test_wrong_functions_are_explained() -> None:
    with pytest.raises(tilewright.TilewrightError, match="each of the 2 dimensions, it takes 3"):
        T.Layout((4, 8), lambda i, j, k: [i])
    with pytest.raises(tilewright.TilewrightError, match="integer expressions"):
        T.Layout((4,), lambda i: [1.5])
    with pytest.raises(tilewright.TilewrightError, match=r"must give \(thread, slot\)"):
        T.Fragment((4,), lambda i: i)


MAKERS = [
    "make_swizzled_layout",
    "make_linear_layout",
    "make_full_bank_swizzled_layout",
    "make_half_bank_swizzled_layout",
    "make_quarter_bank_swizzled_layout",
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
@pytest.mark.parametrize("maker", MAKERS)
def test_made_layouts_are_injective_and_invisible(maker: str, dtype: str) -> None:
    seen = {}
    make = getattr(tilewright.layout, maker)

    @T.prim_func
    def main(A: T.Tensor((32, 128), dtype), B: T.Tensor((32, 128), dtype)):
        with T.Kernel(1):
            s = T.alloc_shared((32, 128), dtype)
            seen["layout"] = make(s)
            T.annotate_layout({s: seen["layout"]})
            T.copy(A, s)
            T.copy(s, B)

    assert seen["layout"].core.is_injective()[0] == "yes"
    a = np.arange(32 * 128).reshape(32, 128).astype(dtype)
    b = np.zeros_like(a)
    tilewright.compile(main)(a, b)
    np.testing.assert_array_equal(a, b)


def test_repeat_and_reshape() -> None:
    layout = T.Layout((4, 8), lambda i, j: [i, j ^ i])
    twice = layout.repeat(0, 2)
    assert twice.get_input_shape() == [8, 8]
    flat = layout.reshape((32,))
    assert flat.map_forward_index([9]) == layout.map_forward_index([1, 1])
    fragment = T.Fragment((8, 8), lambda i, j: (i * 4 + j // 2, j % 2)).repeat([2, 1])
    assert (fragment.threads, fragment.slots) == (32, 4)


def test_pictures_show_banks_and_owners(tmp_path) -> None:
    from xml.etree import ElementTree

    swizzle = T.Layout((8, 8), lambda i, j: [i, j ^ i])
    path = tmp_path / "swizzle.svg"
    text = swizzle.plot(str(path), dtype="float32")
    assert path.read_text() == text
    cells = [e.text for e in ElementTree.fromstring(text).iter() if e.tag.endswith("title")]
    assert any("bank 1" in cell and "(0, 1)" in cell for cell in cells if cell)
    narrow = swizzle.plot(dtype="float16")  # two elements share a bank
    assert narrow != text

    owners = T.Fragment((8, 8), lambda i, j: (i * 4 + j // 2, j % 2)).plot()
    ElementTree.fromstring(owners)
    assert "T5:1" in owners


def test_notation_gives_layouts_and_fragments() -> None:
    swizzled = T.Layout.parse("(i, j) -> (i, j ^ 8 * (i % 8))", (8, 64))
    assert swizzled.is_equal(T.Layout((8, 64), lambda i, j: [i, j ^ 8 * (i % 8)]))
    rows = T.Fragment.parse("(i, j) -> thread i, slot j", (32, 4))
    assert (rows.threads, rows.slots) == (32, 4)
    with pytest.raises(tilewright.TilewrightError, match=r"'.*slot j' is a fragment"):
        T.Layout.parse("(i, j) -> thread i, slot j", (32, 4))


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"])
def test_layout_of_a_threads_own_array_changes_nothing(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((4,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_local([1], "float32")
            T.annotate_layout({s: T.Fragment(s.shape, forward_thread_fn=lambda i: i)})
            T.clear(s)
            for k in T.serial(4):
                s[0] = s[0] + A[k]
            for i in T.Parallel(64):
                B[i] = s[0]

    a, b = np.arange(4, dtype=np.float32), np.zeros(64, np.float32)
    tilewright.compile(main, device=device)(a, b)
    np.testing.assert_array_equal(b, np.full(64, 6.0, np.float32))
