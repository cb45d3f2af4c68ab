"""Run-time extents on the virtual GPU: a call takes code made for what 16 divides in its shapes."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.cli.commands import main as tw

ROWS, COLUMNS, DEPTH = 32, 64, 32


def matmul():
    m, n, k = T.symbolic("m"), T.symbolic("n"), T.symbolic("k")

    @T.prim_func
    def main(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((k, n), "float16"),
        C: T.Tensor((m, n), "float32"),
    ):
        with T.Kernel(T.ceildiv(n, COLUMNS), T.ceildiv(m, ROWS), threads=64) as (bx, by):
            a = T.alloc_shared((ROWS, DEPTH), "float16")
            b = T.alloc_shared((DEPTH, COLUMNS), "float16")
            c = T.alloc_fragment((ROWS, COLUMNS), "float32")
            T.clear(c)
            for ko in T.Pipelined(T.ceildiv(k, DEPTH), num_stages=2):
                T.copy(A[by * ROWS, ko * DEPTH], a)
                T.copy(B[ko * DEPTH, bx * COLUMNS], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * ROWS, bx * COLUMNS])

    return main


def run(kernel, m: int, n: int, k: int) -> None:
    """Exact values, and nothing found by the checks."""
    random = np.random.default_rng(m + n + k)
    a = random.integers(-4, 5, (m, k)).astype(np.float16)
    b = random.integers(-4, 5, (k, n)).astype(np.float16)
    c = np.full((m, n), np.nan, np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert not kernel.findings


def specialisations(kernel) -> list[tuple[str, ...]]:
    """For which divisible symbols there is code, in the order of the calls that asked for it."""
    found = [remark.data["divisible"] for remark in kernel.remarks if "divisible" in remark.data]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_each_kind_of_call_has_its_code(arch: str) -> None:
    kernel = tilewright.compile(matmul(), device=f"vgpu:{arch}")
    run(kernel, 33, 50, 31)
    assert specialisations(kernel) == []
    run(kernel, 33, 80, 48)  # neither extent is a multiple of its tile's
    assert specialisations(kernel) == [("n", "k")]
    run(kernel, 64, 80, 48)  # the number of rows makes no difference
    run(kernel, 5, 16, 0)
    assert specialisations(kernel) == [("n", "k")]
    run(kernel, 32, 80, 49)
    run(kernel, 32, 70, 48)
    assert specialisations(kernel) == [("n", "k"), ("n",), ("k",)]


def test_wide_accesses_only_where_16_divides() -> None:
    kernel = tilewright.compile(matmul(), target="sm_80")
    assert "cp.async" not in kernel.ptx
    assert kernel.ir("ptx", divisible=["n", "k"]).count("cp.async.cg.shared.global") >= 4
    only_n = kernel.ir("ptx", divisible=["n"])
    assert 0 < only_n.count("cp.async.cg.shared.global")
    assert 0 < only_n.count("ld.global.nc.b16") < kernel.ptx.count("ld.global.nc.b16")


def test_unknown_symbol() -> None:
    kernel = tilewright.compile(matmul(), target="sm_80")
    with pytest.raises(tilewright.TilewrightError, match="has a symbol 'q'"):
        kernel.ir("ptx", divisible=["q"])


def test_rows_of_a_flat_tensor() -> None:
    """An index that is computed from a symbol is known to be its multiple."""
    n = T.symbolic("n")

    @T.prim_func
    def main(A: T.Tensor((n * 4,), "float32"), B: T.Tensor((4, n), "float32")):
        with T.Kernel(4, threads=16) as row:
            for j in T.Parallel(64):
                B[row, j] = A[row * n + j]

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    for length in (64, 65):
        a = np.arange(4 * length, dtype=np.float32)
        b = np.zeros((4, length), np.float32)
        kernel(a, b)
        np.testing.assert_array_equal(b[:, :64], a.reshape(4, length)[:, :64])
    wide = [r.message for r in kernel.remarks if r.data.get("divisible")]
    assert any(message.startswith("A: 4 x ld.global.v4.f32") for message in wide)


def test_command_line(tmp_path, capsys) -> None:
    script = tmp_path / "double.py"
    script.write_text(
        "import tilewright, tilewright.language as T\n"
        "n = T.symbolic('n')\n"
        "@T.prim_func\n"
        "def double(A: T.Tensor((n,), 'float32')):\n"
        "    with T.Kernel(T.ceildiv(n, 128), threads=32) as b:\n"
        "        for j in T.Parallel(128):\n"
        "            A[b * 128 + j] = A[b * 128 + j] * 2.0\n"
        "tilewright.compile(double)\n"
    )
    assert tw(["compile", str(script), "--arch", "sm_80", "--emit", "ptx"]) == 0
    assert "ld.global.v4" not in capsys.readouterr().out
    wide = ["compile", str(script), "--arch", "sm_80", "--emit", "ptx", "--divisible", "n"]
    assert tw(wide) == 0
    assert "ld.global.v4" in capsys.readouterr().out


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_symbol_that_only_a_formula_gives(device: str) -> None:
    """`n` is no extent by itself: it is solved from n + 1, as offsets of n ranges have it."""
    n = T.dynamic("n")

    @T.prim_func
    def main(offsets: T.Tensor((n + 1,), "int32"), sums: T.Tensor((2 * n,), "int32")):
        with T.Kernel(n, threads=32) as bx:
            sums[bx] = offsets[bx + 1] - offsets[bx]
            sums[n + bx] = n

    kernel = tilewright.compile(main, device=device)
    for count in (5, 1, 33):
        offsets = np.cumsum(np.arange(count + 1)).astype(np.int32)
        sums = np.zeros(2 * count, np.int32)
        kernel(offsets, sums)
        np.testing.assert_array_equal(sums, [*range(1, count + 1), *[count] * count])
    with pytest.raises(tilewright.TilewrightError, match=r"expected shape \(n \* 2,\)|dimension 0"):
        kernel(np.zeros(6, np.int32), np.zeros(11, np.int32))


def test_constants_are_strides_too() -> None:
    """Each stride gives a kernel of its own, although the shapes are the same."""

    @tilewright.jit(device="cpu")
    def doubled(A):
        M, N, S = T.const("M, N, S")
        A: T.StridedTensor[[M, N], [S, 1], T.float32]
        B = T.empty((M, N), "float32")
        with T.Kernel(M, threads=32) as bx:
            for j in T.Parallel(N):
                B[bx, j] = A[bx, j] * 2.0 + S
        return B

    a = np.arange(64, dtype=np.float32).reshape(4, 16)
    np.testing.assert_array_equal(doubled(a[:, :8]), a[:, :8] * 2 + 16)
    np.testing.assert_array_equal(doubled(a[::2, :8]), a[::2, :8] * 2 + 32)
    np.testing.assert_array_equal(doubled(a[:, :8]), a[:, :8] * 2 + 16)
