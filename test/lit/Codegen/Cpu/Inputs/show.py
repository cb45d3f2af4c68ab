"""Prints a stage of the CPU code of a kernel: show.py host|llvm NAME."""

import sys

import tilewright
import tilewright.language as T


def scaled():
    """Element-wise, all in bounds."""

    @T.prim_func
    def main(A: T.Tensor((4, 256), "float32"), B: T.Tensor((4, 256), "float32")):
        with T.Kernel(4, threads=128) as row:
            for i in T.Parallel(256):
                B[row, i] = A[row, i] * 2.0

    return main


def tail():
    """The last block leaves the tensor."""
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 64), threads=128) as block:
            tile = T.alloc_shared((64,), "float32")
            T.copy(A[block * 64], tile)
            T.copy(tile, B[block * 64])

    return main


def histogram():
    """Iterations meet in one element of a shared tile."""

    @T.prim_func
    def main(A: T.Tensor((256,), "int32"), B: T.Tensor((16,), "int32")):
        with T.Kernel(1, threads=128):
            counts = T.alloc_shared((16,), "int32")
            T.clear(counts)
            for i in T.Parallel(256):
                T.atomic_add(counts[A[i] % 16], 1)
            T.copy(counts, B)

    return main


def product():
    """A product whose second operand is transposed."""

    @T.prim_func
    def main(
        A: T.Tensor((32, 64), "float16"),
        B: T.Tensor((64, 64), "float16"),
        C: T.Tensor((32, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((32, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((32, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C)

    return main


def product_in_place():
    """A product of tiles that hold just what the tensors do, too few rows to pack B for."""

    @T.prim_func
    def main(
        A: T.Tensor((16, 64), "float32"),
        B: T.Tensor((64, 64), "float32"),
        C: T.Tensor((16, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((16, 64), "float32")
            b = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((16, 64), "float32")
            T.clear(c)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c)
            T.copy(c, C)

    return main


def products_in_turns():
    """Each turn multiplies what the tensors hold further on, in rows that lie apart."""

    @T.prim_func
    def main(
        A: T.Tensor((32, 4 * 64), "float32"),
        B: T.Tensor((4 * 64, 2, 64), "float32"),
        C: T.Tensor((32, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((32, 64), "float32")
            b = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((32, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(4):
                T.copy(A[0, k * 64], a)
                T.copy(B[k * 64 : k * 64 + 64, 1, :], b)
                T.gemm(a, b, c)
            T.copy(c, C)

    return main


def row_of_squares():
    """A row is squared and summed up in one loop."""

    @T.prim_func
    def main(A: T.Tensor((4, 1024), "float32"), B: T.Tensor((4,), "float32")):
        with T.Kernel(4, threads=128) as row:
            squares = T.alloc_fragment((1, 1024), "float32")
            total = T.alloc_fragment((1,), "float32")
            for i, j in T.Parallel(1, 1024):
                squares[i, j] = A[row, j] * A[row, j]
            T.reduce_sum(squares, total, dim=1)
            T.copy(total, B[row])

    return main


def product_added():
    """The sums are added to a tensor in boxes of 8 x 8, a row of boxes in one piece."""

    def boxes(i, j):
        return [i // 8, j // 8, j % 2, 4 * (i % 8) + (j % 8) // 2]

    @T.prim_func
    def main(
        A: T.Tensor((16, 64), "float32"),
        B: T.Tensor((64, 64), "float32"),
        C: T.Tensor((4 * 16, 64), "float32"),
    ):
        with T.Kernel(4, threads=128) as block:
            T.annotate_layout({C: T.Layout(C.shape, boxes)})
            a = T.alloc_shared((16, 64), "float32")
            b = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((16, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c)
            T.atomic_add(C[block * 16, 0], c)

    return main


if __name__ == "__main__":
    kernel = tilewright.compile(globals()[sys.argv[2]](), device="cpu")
    print(kernel.program.compile_cpu()[sys.argv[1]])
