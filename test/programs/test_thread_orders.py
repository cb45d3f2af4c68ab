"""The interpreter runs roles in turns: deadlocks, and orders other than that of the text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright._core import core
from tilewright.arguments import convert_argument

TRIPS = 4


@T.prim_func
def handed_over(A: T.Tensor((TRIPS, 64), "int32"), B: T.Tensor((TRIPS, 64), "int32")):
    """A producer, and a consumer that stands first in the text, with a loop each."""
    with T.Kernel(1, threads=256):
        tile = T.alloc_shared((64,), "int32")
        ready = T.alloc_barrier(128)
        free = T.alloc_barrier(128)
        with T.ws(1):
            for k in T.serial(TRIPS):
                T.barrier_wait(ready, k % 2)
                T.copy(tile, B[k, 0])
                T.barrier_arrive(free)
        with T.ws(0):
            for k in T.serial(TRIPS):
                T.barrier_wait(free, (k + 1) % 2)
                T.copy(A[k, 0], tile)
                T.barrier_arrive(ready)


def interpret(program: Any, order: int, *arrays: np.ndarray) -> list[dict]:
    """What the interpreter finds, but for notes."""
    arguments = [convert_argument(array, parameter)
                 for array, parameter in zip(arrays, program.params, strict=True)]  # fmt: skip
    result = program.run("interp", arguments, {"thread_order": order})
    return [finding for finding in result["findings"] if finding["severity"] != "note"]


def arrays() -> tuple[np.ndarray, np.ndarray]:
    a = np.arange(TRIPS * 64, dtype=np.int32).reshape(TRIPS, 64)
    return a, np.zeros_like(a)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_every_order_gives_the_same_where_barriers_order_all(order: int) -> None:
    a, b = arrays()
    assert interpret(handed_over.program, order, a, b) == []
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dropped", range(4))
def test_a_barrier_statement_that_is_dropped_shows(dropped: int) -> None:
    """A missing arrival is a deadlock in every order, with the lines of those who wait; a missing
    wait is a race in another order than the text's."""
    text = handed_over.program.text()
    lines = [line for line in text.splitlines() if re.search(r"tile\.barrier_(arrive|wait)", line)]
    assert len(lines) == 4
    mutant = core.parse_program(text.replace(lines[dropped] + "\n", "", 1))
    if "barrier_arrive" in lines[dropped]:
        for order in (0, 1, 2):
            (finding,) = interpret(mutant, order, *arrays())
            assert finding["kind"] == "deadlock"
            assert "this wait is not met" in finding["message"]
            assert "threads 0-127 wait" in finding["message"]
            assert "threads 128-255 wait" in finding["message"]
            assert re.search(r"wait at -:\d+ for barrier", finding["message"])
    else:
        found = [interpret(mutant, order, *arrays()) for order in (1, 2, 3)]
        assert any(finding["kind"] == "race" for findings in found for finding in findings)


def test_a_deadlock_names_the_lines_of_all_who_wait() -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=256):
            first = T.alloc_barrier(128)
            second = T.alloc_barrier(128)
            with T.ws(0):
                T.barrier_wait(first, 0)
                T.barrier_arrive(second)
            with T.ws(1):
                T.barrier_wait(second, 0)
                T.barrier_arrive(first)
            A[0] = 1

    (finding,) = interpret(main.program, 0, np.zeros(64, np.int32))
    start = main.location.line
    assert (finding["kind"], finding["line"]) == ("deadlock", start + 5)
    assert (
        f"threads 128-255 wait at {__file__}:{start + 8} for barrier 0 of 'second'"
        in (finding["message"])
    )


def test_roles_that_only_the_text_orders() -> None:
    """The meaning is the order of the text, and other orders report the race."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=256):
            tile = T.alloc_shared((64,), "int32")
            with T.ws(0):
                T.copy(A, tile)
            with T.ws(1):
                T.copy(tile, B)

    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    assert interpret(main.program, 0, a, b) == []
    np.testing.assert_array_equal(a, b)
    assert "race" in {finding["kind"] for finding in interpret(main.program, 1, a, b)}


def test_a_tile_statement_waits_for_its_role() -> None:
    """Half of the block waits for what comes after a statement of the whole block."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=256):
            tile = T.alloc_shared((64,), "int32")
            ready = T.alloc_barrier(128)
            with T.ws(0):
                T.barrier_wait(ready, 0)
            T.copy(A, tile)
            with T.ws(1):
                T.barrier_arrive(ready)

    (finding,) = interpret(main.program, 0, np.zeros(64, np.int32))
    assert finding["kind"] == "deadlock"
    assert "threads 128-255 wait at" in finding["message"]
    assert "for threads 0-127 to come to this tile statement" in finding["message"]


def test_roles_may_take_turns_in_any_shape_of_loops() -> None:
    """Loops of different bounds: compiled code finds the interpreter's order when it runs."""

    @T.prim_func
    def main(A: T.Tensor((8, 64), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=256):
            tile = T.alloc_shared((64,), "int32")
            ready = T.alloc_barrier(128)
            free = T.alloc_barrier(128)
            total = T.alloc_fragment((64,), "int32")
            with T.ws(0):
                for k in T.serial(8):
                    T.barrier_wait(free, (k + 1) % 2)
                    T.copy(A[k, 0], tile)
                    T.barrier_arrive(ready)
            with T.ws(1):
                T.clear(total)
                for i in T.serial(4):
                    for j in T.serial(2):
                        T.barrier_wait(ready, j)
                        for e in T.Parallel(64):
                            total[e] += tile[e] * (i + 1)
                        T.barrier_arrive(free)
                T.copy(total, B)

    a, b = np.arange(512, dtype=np.int32).reshape(8, 64), np.zeros(64, np.int32)
    for order in (0, 1, 5):
        b[:] = 0
        assert interpret(main.program, order, a, b) == []
        np.testing.assert_array_equal(b, (a * (np.arange(8) // 2 + 1)[:, None]).sum(0))
    b[:] = 0
    tilewright.compile(main, device="cpu")(a, b)
    np.testing.assert_array_equal(b, (a * (np.arange(8) // 2 + 1)[:, None]).sum(0))
