"""Control flow and assignments in kernels mean what they mean in Python."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from python_meaning import assert_same_meaning


def if_else(A, B):
    if A[0] > A[1]:
        B[0] = 1
    elif A[0] == A[1]:
        B[0] = 2
    else:
        B[0] = 3


def name_merged_after_if(A, B):
    x = 7
    if A[0] > 2:
        x = A[1]
    elif A[1] > 2:
        x = x + 1
    B[0] = x
    y = A[0] if A[0] > A[1] else A[1]
    B[1] = y


def name_bound_in_both_branches(A, B):
    if A[0] > 0:
        x = A[1]
        y = 1
    else:
        x = -A[1]
        y = 2
    B[0] = x
    B[1] = y


def names_restored_for_else(A, B):
    x = 1
    if A[0] > 0:
        x = 2
        B[0] = x
    else:
        B[1] = x


def nested_ifs(A, B):
    x = 0
    if A[0] > 0:
        if A[1] > 0:
            x = 1
        else:
            x = 2
    elif A[1] > 0:
        x = 3
    B[0] = x


def and_or_not(A, B):
    B[0] = 1 if A[0] > 0 and A[1] > 0 else 0
    B[1] = 1 if A[0] > 0 or A[1] > 0 else 0
    B[2] = 1 if not A[0] > 0 else 0
    B[3] = 1 if not (A[0] > 0 and A[1] > 0 and A[2] > 0) or A[3] == 1 else 0
    B[4] = A[0] and A[1]
    B[5] = A[0] or A[1]
    B[6] = A[0] or 5
    B[7] = 1 if A[0] in (1, 3, 16) else 0
    B[8] = 1 if A[0] not in (1, 3, 16) else 0


def right_side_is_guarded(A, B):
    i = A[0]
    if i >= 0 and i < 16 and A[i] > 2:
        B[0] = A[i]


def chained_comparison(A, B):
    B[0] = 1 if 0 < A[0] < 5 else 0
    B[1] = 1 if 0 <= A[0] <= A[1] <= 9 else 0
    B[2] = 1 if A[0] == A[1] != A[2] else 0


def sum_over_loop(A, B):
    total = 0
    for i in range(16):
        total = total + A[i]
    B[0] = total


def product_and_count(A, B):
    total, count = 1, 0
    for i in range(2, 14, 3):
        if A[i] > 0:
            total *= A[i]
            count += 1
    B[0], B[1] = total, count


def loop_backwards(A, B):
    k = 0
    for i in range(15, -1, -4):
        B[k] = A[i]
        k += 1


def empty_loop(A, B):
    x = 5
    for i in range(3, 3):
        x = A[i]
    B[0] = x


def nested_loops(A, B):
    best = -100
    where = -1
    for i in range(4):
        for j in range(4):
            if A[4 * i + j] > best:
                best = A[4 * i + j]
                where = 4 * i + j
    B[0], B[1] = best, where


def last_value_of_loop(A, B):
    for i in range(5):
        last = A[i] * 2
    B[0] = last


def break_out_of_loop(A, B):
    found = -1
    for i in range(16):
        if A[i] == 3:
            found = i
            break
    B[0] = found


def continue_in_loop(A, B):
    for i in range(16):
        if A[i] < 0:
            continue
        B[i] = A[i] + 1


def break_and_continue(A, B):
    total = 0
    for i in range(16):
        if A[i] == 9:
            break
        if A[i] == 1:
            continue
        total += A[i]
        B[i] = total
    B[15] = total


def break_of_inner_loop(A, B):
    n = 0
    for i in range(4):
        for j in range(4):
            if A[4 * i + j] > 4:
                break
            n += 1
        B[i] = n


def unconditional_break(A, B):
    for i in range(16):
        B[i] = A[i]
        break


def for_else(A, B):
    for i in range(16):
        if A[i] == 9:
            B[0] = i
            break
    else:
        B[0] = -1
    for i in range(3):
        B[i + 1] = A[i]
    else:
        B[4] = 77


def while_loop(A, B):
    i = 0
    while i < 16 and A[i] != 9:
        B[i] = A[i]
        i += 1
    B[15] = i


def while_with_break(A, B):
    i = 0
    while i < 15:
        i += 1
        if A[i] < 0:
            continue
        if A[i] == 5:
            break
        B[i] = 1
    else:
        B[0] = 1


def while_true(A, B):
    i = 0
    while True:
        if i >= 16 or A[i] == 9:
            break
        B[i] = A[i]
        i += 1


def while_decided_by_python(A, B):
    n = 16
    steps = 0
    while n > 1:
        n //= 2
        steps += 1
    B[0] = steps
    B[1] = n


def collatz(A, B):
    for i in range(8):
        n = A[i] if A[i] > 0 else 1
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        B[i] = steps


def early_return(A, B):
    if A[0] > 2:
        B[0] = 1
        return
    B[1] = 2
    if A[1] > 0:
        return
    B[2] = 3


def return_out_of_loops(A, B):
    for i in range(4):
        for j in range(4):
            if A[4 * i + j] == 9:
                B[0] = i
                B[1] = j
                return
            B[4 + i] = j
        B[8 + i] = 1
    B[2] = 1


def return_out_of_unrolled_loops(A, B):
    for i in range(4):
        for j in (3, 1, 2):
            for k in (4, 5):
                B[k] += 1
                if j == 1:
                    B[6] = A[i]
                    return
                B[7] += 1
            B[j] += 1
    B[8] = 1


def python_loop_unrolls(A, B):
    for k, weight in enumerate([3, 1, 4]):
        B[k] = A[k] * weight
    for a, b in zip((0, 1), (4, 5)):
        B[b] = A[a]


def python_loop_with_run_time_break(A, B):
    total = 0
    for k in (3, 1, 4, 0):
        if A[k] > 4:
            break
        total += A[k]
        if A[k] == 1:
            continue
        B[k] = total
    else:
        B[8] = 1
    B[9] = total


def python_if_is_decided_while_tracing(A, B):
    window = None
    if window is not None:
        B[0] = window
    else:
        B[0] = A[0]
    for k in (1, 2, 3):
        if k == 2:
            continue
        B[k] = A[k]
    for k in (4, 5, 6):
        if k == 6:
            break
        B[k] = A[k]


def augmented_assignment(A, B):
    B[0] += A[0]
    B[0] -= 3
    B[0] *= A[1]
    B[1] = A[2]
    B[1] //= 3
    B[2] = A[3]
    B[2] %= 5
    x = A[4]
    x <<= 1
    x |= 1
    x ^= 6
    x &= 14
    B[3] = x
    y = A[5]
    y >>= 1
    B[4] = y


def swap(A, B):
    x, y = A[0], A[1]
    x, y = y, x
    B[0], B[1] = x, y
    B[2], B[3] = A[2], A[3]
    B[2], B[3] = B[3], B[2]
    (p, q), r = (A[4], A[5]), A[6]
    first, *rest = [p, q, r]
    B[4], B[5], B[6] = first, rest[0], rest[1]
    B[7] = B[8] = A[7]


def value_is_read_where_it_is_bound(A, B):
    x = A[0]
    A[0] = x + 1
    y = A[0]
    pair = (A[0], x)
    A[0] = 100
    B[0], B[1] = x, y
    B[2], B[3] = pair


def containers_keep_values(A, B):
    kept = []
    table = {"first": A[0], "pair": (A[1], A[2])}
    for k in (0, 1, 2):
        kept.append(A[k])
        A[k] = 50
    kept[1] = A[1]
    A[1] = 60
    B[0], B[1], B[2] = kept
    B[3] = table["first"]
    B[4], B[5] = table["pair"]
    for i in range(4):
        local = [A[i], 7]
        local[1] = local[0] + 1
        local.append(i)
        A[i] = 9
        B[8 + i] = local[0] + local[1] + local[2]


def walrus(A, B):
    if (x := A[0] + 1) > 3:
        B[0] = x
    B[1] = x
    n = 0
    while (n := n + 1) < A[1]:
        B[n % 16] = n


def ternary_is_lazy(A, B):
    i = A[0]
    B[0] = A[i] if 0 <= i < 16 else -1
    B[1] = 1 if A[0] > 0 else 2 if A[1] > 0 else 3


def comprehension_and_helper(A, B):
    def square(v):
        return v * v

    squares = [square(A[k]) for k in (0, 1, 2)]
    for k, v in enumerate(squares):
        B[k] = v
    B[3] = sum(squares)
    B[4] = min(A[0], A[1], A[2])
    B[5] = max([A[0], A[1]])
    B[6] = abs(A[4])
    twice = lambda v: v + v  # noqa: E731
    B[7] = twice(A[5])


def floor_division_and_modulo(A, B):
    for i in range(16):
        B[i] = A[i] // 4 * 100 + A[i] % 4
    B[0] = -7 // 2 + A[0] // -3 + A[1] % -3


def bool_values(A, B):
    big = A[0] > 3
    small = not big
    if big:
        B[0] = 1
    if small:
        B[1] = 1
    flag = False
    for i in range(8):
        flag = flag or A[i] == 5
    B[2] = 1 if flag else 0


def loop_variable_reassigned(A, B):
    for i in range(4):
        i = i + 1
        B[i] = A[i]


def shadowed_in_branches(A, B):
    for i in range(8):
        v = A[i]
        if v > 3:
            v = 3
        if v < -3:
            v = -3
        B[i] = v


def docstring_and_pass(A, B):
    """A docstring."""
    pass
    if A[0] > 0:
        pass
    else:
        B[0] = 1
    if A[1] > 0:
        ...
    for i in range(2):
        """Nothing happens here."""


BODIES = [
    value
    for value in list(globals().values())
    if callable(value) and getattr(value, "__code__", None) and value.__code__.co_argcount == 2
    and value.__code__.co_varnames[:2] == ("A", "B")
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_same_meaning_as_python(body) -> None:
    assert_same_meaning(body)


def test_the_list_of_bodies_is_complete() -> None:
    assert len(BODIES) >= 40


# ---- What Python does not have ----


def run(function, *arrays):
    tilewright.compile(function, device="interp")(*arrays)


def test_assigning_to_a_variable_stores() -> None:
    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(1):
            n = T.alloc_var("int32", init=10)
            m = T.alloc_var(T.int32)
            m = n
            n += A[0]
            for i in T.serial(3):
                if A[i] > 1:
                    n = n + 1
            B[0] = n
            B[1] = m

    b = np.zeros(4, np.int32)
    run(main, np.array([1, 2, 3, 4], np.int32), b)
    assert b.tolist() == [13, 10, 0, 0]


def test_macro_has_names_of_its_own_and_references() -> None:
    @T.macro
    def bump(counter: T.Ref, cell: T.Ref, amount):
        x = amount * 2
        amount = x + 1
        counter = counter + amount
        cell = cell + 1

    @T.macro
    def twice(x):
        y = x + x
        return y

    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(1):
            x = A[0]
            count = T.alloc_var("int32", init=0)
            bump(count, B[1], x)
            bump(count, B[1], x)
            B[0] = count
            B[2] = x
            B[3] = twice(x) + twice(A[1])

    b = np.zeros(4, np.int32)
    run(main, np.array([5, 7, 0, 0], np.int32), b)
    assert b.tolist() == [22, 2, 5, 24]


def test_variable_in_a_loop_of_dynamic_length() -> None:
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), B: T.Tensor((1,), "int32")):
        with T.Kernel(1):
            total = T.int32(0)
            for i in range(n):
                if A[i] < 0:
                    break
                total += A[i]
            B[0] = total

    kernel = tilewright.compile(main, device="interp")
    for values in ([], [1, 2, 3], [4, -1, 5]):
        b = np.zeros(1, np.int32)
        kernel(np.array(values, np.int32), b)
        assert b[0] == sum(values[: values.index(-1)] if -1 in values else values)


def test_closures_and_enclosing_names() -> None:
    def make(scale, window=None):
        offset = 3

        @T.prim_func
        def main(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
            with T.Kernel(1):
                for i in T.Parallel(4):
                    if window is not None:
                        B[i] = A[i] * scale + window
                    else:
                        B[i] = A[i] * scale + offset

        return main

    a, b = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    run(make(2), a, b)
    assert b.tolist() == [3, 5, 7, 9]
    run(make(3, window=10), a, b)
    assert b.tolist() == [10, 13, 16, 19]


def test_users_own_exceptions_pass_through() -> None:
    def choose(n):
        raise KeyError(f"no size for {n}")

    with pytest.raises(KeyError, match="no size for 3"):

        @T.prim_func
        def main(A: T.Tensor((4,), "int32")):
            with T.Kernel(1):
                A[0] = choose(3)


def test_assert_on_python_values_runs_while_tracing() -> None:
    with pytest.raises(AssertionError, match="odd"):

        @T.prim_func
        def main(A: T.Tensor((4,), "int32")):
            with T.Kernel(1):
                assert 3 % 2 == 0, "odd"
                A[0] = 1


def test_string_annotations_are_evaluated_where_the_kernel_is_defined() -> None:
    source = """
from __future__ import annotations
def make(n):
    shape = (n,)
    @T.prim_func
    def main(A: T.Tensor(shape, "int32")):
        with T.Kernel(1):
            A[0] = n
    return main
"""
    from python_meaning import function_from_source

    a = np.zeros(5, np.int32)
    run(function_from_source(source, "make")(5), a)
    assert a.tolist() == [5, 0, 0, 0, 0]


def test_loop_variables_may_hide_arguments() -> None:
    """A tuple of them too; outside of a loop an argument cannot be assigned."""

    @T.prim_func
    def main(x: T.Tensor((4, 8), "int32"), y: T.Tensor((4, 8), "int32")):
        with T.Kernel(1, threads=32):
            tile = T.alloc_shared((4, 8), "int32")
            T.copy(x, tile)
            out = y
            for x, y in T.Parallel(4, 8):
                out[x, y] = tile[x, y] + x * 10 + y

    values, result = np.ones((4, 8), np.int32), np.zeros((4, 8), np.int32)
    tilewright.compile(main, device="interp")(values, result)
    np.testing.assert_array_equal(result, 1 + np.arange(4)[:, None] * 10 + np.arange(8))
