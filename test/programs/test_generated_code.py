"""What the generated code must not do: work that a look at the PTX shows to be needless."""

import re
import runpy
from pathlib import Path

import pytest
import tilewright
import tilewright.language as T
from tilewright.compat import imports

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def compile_example(script: str, function: str, *arguments: object):
    """A kernel of examples/, for sm_80."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWRIGHT_DEVICE", "vgpu:sm_80")
        imports.install()
        made = runpy.run_path(str(EXAMPLES / script))[function](*arguments)
    return tilewright.compile(made, target="sm_80")


def loop_of(ptx: str) -> str:
    """From the target of the last branch backwards to that branch."""
    lines = ptx.splitlines()
    labels = {line[:-1]: at for at, line in enumerate(lines) if re.match(r"\$L__BB\d+_\d+:$", line)}
    branches = [
        (at, labels[found.group(1)])
        for at, line in enumerate(lines)
        if (found := re.search(r"\bbra(?:\.uni)?\s+(\$L__BB\d+_\d+);", line))
        and labels[found.group(1)] < at
    ]
    end, start = max(branches, key=lambda branch: branch[0] - branch[1])
    return "\n".join(lines[start:end])


def test_versions_of_a_pipeline_go_round_without_division() -> None:
    kernel = compile_example("matmul.py", "matmul", 1024, 1024, 1024)  # 3 stages
    assert not re.search(r"\b(rem|div|mul\.hi|mul\.wide\.u16)\b", loop_of(kernel.ptx))


def test_a_row_inside_a_warp_is_reduced_without_memory_or_barriers() -> None:
    kernel = compile_example("flash_attention.py", "flash_attention", 1, 1, 256, 64, False)
    (info,) = kernel.program.compile_gpu("sm_80")["kernels"]
    assert info["shared_bytes"] == 3 * 64 * 64 * 2  # Q, K and V
    # One behind the wait for K and V, one in front of the copies that overwrite them.
    assert loop_of(kernel.ptx).count("bar.sync") == 2


def test_index_values_are_compared_in_32_bits() -> None:
    kernel = compile_example("flash_attention.py", "flash_attention", 1, 1, 256, 64, True)
    assert not re.search(r"setp\.(lt|le|gt|ge)\.[us]64", loop_of(kernel.ptx))


@pytest.mark.parametrize("dim", [64, 128])
def test_columns_of_a_mask_in_a_loop_are_compared_with_constants(dim: int) -> None:
    """Each of a thread's two rows has one distance, and no other column is computed."""
    kernel = compile_example("flash_attention.py", "flash_attention", 1, 1, 256, dim, True)
    compares = re.findall(r"setp\.lt\.s32 \s*%p\d+, (%r\d+), (\d+);", loop_of(kernel.ptx))
    assert len({distance for distance, _ in compares}) == 2
    assert sorted({int(n) for _, n in compares}) == [8 * n + e for n in range(8) for e in (0, 1)]


def test_elements_of_a_loop_from_the_block_on_are_compared_in_32_bits() -> None:
    """How often such a loop runs is no constant; that it is seldom follows from its formula."""

    @T.prim_func
    def main(A: T.Tensor((4096, 32), "float32"), B: T.Tensor((32, 128, 32), "float32")):
        with T.Kernel(32, threads=128) as bx:
            tile = T.alloc_shared((32, 32), "float32")
            total = T.alloc_fragment((128, 32), "float32")
            T.clear(total)
            for k in T.serial(bx * 4, 128):
                T.copy(A[k * 32, 0], tile)
                for i, j in T.Parallel(128, 32):
                    total[i, j] += T.if_then_else(bx * 128 + i <= k * 32 + j, tile[j, i % 32], 0.0)
            T.copy(total, B[bx, 0, 0])

    ptx = tilewright.compile(main, target="sm_80").ptx
    assert not re.search(r"setp\.(lt|le|gt|ge)\.[us]64", loop_of(ptx))


def test_distances_between_updates_are_immediates() -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_fragment((64, 64), "float32")
            T.fill(tile, 1.0)
            T.atomic_add(A, tile)

    ptx = tilewright.compile(main, target="sm_80").ptx
    updates = re.findall(r"red\.\S+\s+\[(%rd\d+)\+?\d*\]", ptx)
    assert len(updates) > 8 and len(set(updates)) == 1


def test_exp2_is_one_instruction_that_keeps_subnormals() -> None:
    kernel = compile_example("flash_attention.py", "flash_attention", 1, 1, 256, 64, False)
    assert "ex2.approx.f32" in kernel.ptx and "ex2.approx.ftz" not in kernel.ptx


def test_vectors_are_as_wide_as_planned_without_a_vectoriser() -> None:
    """LLVM neither takes vectors apart that are computed with element by element, nor puts them
    together again: that would take time by the square of the number of statements."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((64, 64), "float32")
            T.copy(A, tile)
            for i, j in T.Parallel(64, 64):
                tile[i, j] = tile[i, j] * 2.0 + 1.0
            T.copy(tile, A)

    kernel = tilewright.compile(main, target="sm_80")
    accesses = re.findall(r"\b(?:ld|st)\.(?:shared|global)\S*", kernel.ptx)
    assert len(accesses) == 6 * 8 and all(".v4." in access for access in accesses)
    assert "<4 x float>" in kernel.ir("llvm")


def test_what_is_emitted_needs_little_folding() -> None:
    kernel = compile_example("matmul.py", "matmul", 1024, 1024, 1024)
    threads = kernel.ir("threads")
    # Of each constant and of each register's address there is one.
    lines = threads.splitlines()
    assert sum("arith.constant" in line for line in lines) < len(lines) / 10
    addresses = re.findall(r"llvm\.getelementptr (%\S+\[\d+\]) : \(!llvm\.ptr\) ", threads)
    assert len(addresses) == len(set(addresses)) == 127  # 128 accumulators, the first at the base
    # Two roundings make a pair, which is stored as it is.
    assert "llvm.nvvm.ff2f16x2.rn" in threads and "llvm.insertelement" not in threads
