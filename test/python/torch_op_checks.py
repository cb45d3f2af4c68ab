"""What `tilewright.torch_op` promises. test_torch_op.py runs it with torch as it is installed."""

from __future__ import annotations

import itertools

import pytest
import tilewright
import tilewright.language as T
import torch

numbers = itertools.count()


def scaled(out_idx: list[int] | None):
    @tilewright.jit(out_idx=out_idx)
    def make():
        n, m = T.dynamic("n, m")

        @T.prim_func
        def scaled(
            A: T.Tensor((n, m), "float32"), B: T.Tensor((n, 2 * m), "float32"), factor: T.float32
        ):
            with T.Kernel(n, threads=32) as row:
                for j in T.Parallel(16):
                    if j < m:
                        B[row, j] = A[row, j] * factor
                        B[row, m + j] = A[row, j]

        return scaled

    return make()


def register(out_idx: list[int] | None):
    return tilewright.torch_op(scaled(out_idx), f"scaled_{next(numbers)}")


def expect(a, factor: float):
    return torch.cat([a * factor, a], 1)


def test_outputs_are_returned() -> None:
    operator = register([1])
    a = torch.arange(15, dtype=torch.float32).reshape(3, 5)
    assert torch.equal(operator(a, 2.0), expect(a, 2))


def test_tensors_that_are_written_are_declared() -> None:
    operator = register(None)
    a, b = torch.ones(4, 8), torch.zeros(4, 16)
    operator(a, b, 3.0)
    assert torch.equal(b, expect(a, 3))
    schema = str(operator._opoverload._schema)
    assert "Tensor A, Tensor(a1!) B, float factor" in schema


def test_fake_tensors_have_the_shape_of_the_result() -> None:
    operator = register([1])
    with torch._subclasses.FakeTensorMode():
        result = operator(torch.empty(3, 5), 2.0)
    assert (result.shape, result.dtype) == (torch.Size([3, 10]), torch.float32)


@pytest.mark.parametrize("dynamic", [False, True])
def test_torch_compile_traces_through_it(dynamic: bool) -> None:
    operator = register([1])
    graphs = []

    def backend(graph, _):
        graphs.append(str(graph.graph))
        return graph.forward

    compiled = torch.compile(
        lambda x: operator(x, 0.5) + 1, backend=backend, fullgraph=True, dynamic=dynamic
    )
    for rows in (2, 3):
        x = torch.rand(rows, 6)
        torch.testing.assert_close(compiled(x), expect(x, 0.5) + 1)
    assert "scaled" in graphs[0]


def test_torchs_own_check_of_operators() -> None:
    operator = register([1])
    tests = ("test_schema", "test_faketensor")
    torch.library.opcheck(operator, (torch.rand(3, 5), 2.0), test_utils=tests)
