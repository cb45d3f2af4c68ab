"""Calls of unknown functions, which tools of a program put into a kernel and take away again."""

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright import TilewrightError
from tilewright.compat.tvm import tirx as tx
from tilewright.compat.tvm.tirx.stmt_functor import ir_transform, post_order_visit


def marked():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                A[i] = A[i] + 1.0
            T.evaluate(T.call_extern("handle", "my_marker", 3, T.int32(0)))

    return main


def without_markers(function):
    def after(node):
        if isinstance(node, tx.Evaluate) and isinstance(node.value, tx.Call):
            name = node.value.args[0]
            if isinstance(name, tx.StringImm) and name.value == "my_marker":
                return tx.Evaluate(tx.IntImm("int32", 0))
        return node

    body = ir_transform(function.body, None, after)
    return tx.PrimFunc(
        params=list(function.params), body=body, ret_type=function.ret_type,
        buffer_map=dict(function.buffer_map), attrs=function.attrs,
    )  # fmt: skip


@pytest.mark.parametrize("engine", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"])
def test_a_marker_that_is_removed_changes_nothing(engine):
    a = np.zeros(64, np.float32)
    tilewright.compile(without_markers(marked()), device=engine)(a)
    np.testing.assert_array_equal(a, 1.0)


@pytest.mark.parametrize("engine", ["interp", "cpu", "vgpu:sm_80"])
def test_a_marker_that_stays_is_refused_at_its_line(engine):
    with pytest.raises(TilewrightError, match="the function 'my_marker' is not supported") as error:
        tilewright.compile(marked(), device=engine)
    assert error.value.location.file.endswith("test_extern_markers.py")


def test_a_marker_is_found_and_cannot_be_replaced():
    found = []
    post_order_visit(marked().body, lambda node: found.append(type(node).__name__))
    assert found == ["Call", "Evaluate"]
    with pytest.raises(TilewrightError, match="can be removed, and not replaced"):
        ir_transform(marked().body, None, lambda node: "something else")
    with pytest.raises(TilewrightError, match="the body of a traced function"):
        tx.PrimFunc([], "body")


def test_an_unknown_function_with_a_value_is_refused_where_it_stands():
    with pytest.raises(TilewrightError, match="the function 'my_function' is not supported"):

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                for i in T.Parallel(64):
                    A[i] = T.call_extern("float32", "my_function", A[i])
