"""Barriers that programs with several roles wait at (`T.alloc_barrier`).

A barrier counts arrivals, and a wait lets a thread go on once a phase has all of its arrivals.
Roles run in the order of the text until they wait; then the next one goes on. A wait that is never
met is an error at its line (docs/semantics.md, "Programs that name their threads").
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tilewright.frontend.trace import describe, is_kernel_value
from tilewright.language.clusters import arrive_at, for_block
from tilewright.language.kernel import _in_kernel
from tilewright.language.threads import _meet
from tilewright.support.errors import LanguageError


class Barrier(NamedTuple):
    """One barrier, and how many arrivals end a phase where its allocation does not say so."""

    element: Any  # of a row of barriers
    count: int | None = None


class Barriers:
    """What `T.alloc_barrier` gives: one barrier, or a row of them."""

    def __init__(self, row: Any, arrivals: list[int]) -> None:
        self._row = row
        self._arrivals = arrivals

    def __getitem__(self, index: Any) -> Barrier:
        if not is_kernel_value(index):
            if not -len(self._arrivals) <= index < len(self._arrivals):
                raise LanguageError(f"expected a barrier below {len(self._arrivals)}, got {index}")
            return Barrier(self._row[index % len(self._arrivals)])
        if len(set(self._arrivals)) > 1:
            raise LanguageError(
                "a barrier is picked at run time among some with different arrive counts",
                hint="allocate those with equal counts together",
            )
        return Barrier(self._row[index])

    def only(self, what: str) -> Barrier:
        """The barrier, where there is one."""
        if len(self._arrivals) != 1:
            raise LanguageError(f"'{what}': which of the {len(self._arrivals)} barriers?")
        return self[0]


def _barrier(value: Any, what: str) -> Barrier:
    if isinstance(value, Barriers):
        return value.only(what)
    if isinstance(value, Barrier):
        return value
    if _in_kernel(what).barrier_list is not None:  # a number
        return listed_barrier(value, what)
    raise LanguageError(f"'{what}' needs a barrier of T.alloc_barrier, got {describe(value)}")


def listed_barrier(index: Any, what: str) -> Barrier:
    """A barrier of T.create_list_of_mbarrier, by its number."""
    barriers = _in_kernel(what).barrier_list
    is_number = isinstance(index, int) and not isinstance(index, bool)
    if barriers is None or not (is_number or is_kernel_value(index)):
        raise LanguageError(f"'{what}' needs the number of a barrier, got {describe(index)}")
    return barriers[index]


def element_of(value: Any, what: str) -> Any:
    """One barrier of a row, as an element of it."""
    return _barrier(value, what).element


def alloc_barrier(arrive_count: int | list[int]) -> Barriers:
    """Barriers whose phases end when so many threads have arrived.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.barrier_arrive(ready)
            with T.ws(0):
                T.barrier_wait(ready, 0)
                T.copy(x, B)
    """
    state = _in_kernel("T.alloc_barrier")
    counts = list(arrive_count) if isinstance(arrive_count, list | tuple) else [arrive_count]
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise LanguageError(f"'T.alloc_barrier': a count is a positive integer, got {count!r}")
    if not counts:
        raise LanguageError("'T.alloc_barrier' needs at least one count")
    return Barriers(state.core.alloc_barriers(state.take_name("barrier"), counts), counts)


def mbarrier_arrive(mbarrier: Any, cta_id: Any = None) -> None:
    """Each thread that comes here arrives once; with `cta_id` at the barrier of that block of the
    cluster.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.mbarrier_arrive(ready)
            with T.ws(0):
                T.mbarrier_wait_parity(ready, 0)
                T.copy(x, B)
    """
    if cta_id is not None:
        for_block(cta_id, "T.mbarrier_arrive", "cta_id",
                  lambda rank: arrive_at(mbarrier, rank, "T.mbarrier_arrive"))  # fmt: skip
        return
    _arrive(mbarrier, "T.mbarrier_arrive")


def _arrive(mbarrier: Any, what: str, expect_bytes: Any = None) -> None:
    core = _in_kernel(what).core
    barrier = _barrier(mbarrier, what)
    core.barrier_arrive(barrier.element, count=barrier.count, expect_bytes=expect_bytes)


def arrive_once(mbarrier: Any, what: str) -> None:
    """One arrival, whoever and how many come here."""
    _in_kernel(what).core.barrier_arrive(_barrier(mbarrier, what).element, once=True)


def mbarrier_wait_parity(mbarrier: Any, parity: Any) -> None:
    """Goes on if the phase of this parity is over; the one before the first counts as over.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.mbarrier_arrive(ready)
            with T.ws(0):
                T.mbarrier_wait_parity(ready, 0)
                T.copy(x, B)
    """
    state = _in_kernel("T.mbarrier_wait_parity")
    barrier = _barrier(mbarrier, "T.mbarrier_wait_parity")
    state.core.barrier_wait(barrier.element, parity % 2, barrier.count)


def mbarrier_expect_tx(mbarrier: Any, tx: Any) -> None:
    """The barrier will be told of `tx` bytes. Copies are over at once: it adds nothing.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.mbarrier_expect_tx(ready, 16384)
                T.copy(A, x)
                T.barrier_arrive(ready)
            with T.ws(0):
                T.barrier_wait(ready, 0)
                T.copy(x, B)
    """
    _in_kernel("T.mbarrier_expect_tx")
    _barrier(mbarrier, "T.mbarrier_expect_tx")


def mbarrier_arrive_expect_tx(mbarrier: Any, tx: Any) -> None:
    """As `T.mbarrier_arrive`: the `tx` bytes that are on their way have arrived.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.mbarrier_arrive_expect_tx(ready, 16384)
            with T.ws(0):
                T.mbarrier_wait_parity(ready, 0)
                T.copy(x, B)
    """
    _arrive(mbarrier, "T.mbarrier_arrive_expect_tx", tx)


# ---- Barriers of the block by number ----

_NAMED_BARRIERS = 16


def _named(barrier_id: Any, count: Any, what: str) -> Barrier:
    """The barrier of this number, for `count` threads."""
    state = _in_kernel(what)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise LanguageError(f"'{what}': a number of threads is a positive integer, got {count!r}")
    is_number = isinstance(barrier_id, int) and not isinstance(barrier_id, bool)
    if not is_kernel_value(barrier_id) and not (is_number and 0 <= barrier_id < _NAMED_BARRIERS):
        raise LanguageError(
            f"'{what}': a block has the barriers 0 to {_NAMED_BARRIERS - 1}, got {barrier_id!r}"
        )
    if state.reaches_blocks:
        raise LanguageError(
            f"'{what}' in a kernel whose blocks reach into each other's shared memory",
            hint="use T.alloc_barrier",
        )
    if state.named_barriers is None:
        counts = [0] * _NAMED_BARRIERS  # each use says its own
        state.named_barriers = state.core.alloc_barriers("named_barriers", counts, at_start=True)
    return Barrier(state.named_barriers[barrier_id], count)


def named_barrier_arrive(barrier_id: Any, thread_count: int) -> None:
    """Each thread that comes here arrives at the barrier of this number, and continues.

    Example:
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((64, 64), "float32")
            if tx < 128:
                T.copy(A, x)
                T.named_barrier_arrive(1, 256)
            else:
                T.sync_threads(1, 256)
                T.copy(x, B)
    """
    mbarrier_arrive(_named(barrier_id, thread_count, "T.named_barrier_arrive"))


def sync_threads(barrier_id: Any = None, arrive_count: Any = None) -> None:
    """The threads of the block meet. Every statement ends so: it adds nothing.

    With the number of a barrier, in a branch: the threads that come here arrive, and go on when
    `arrive_count` threads have, those at `T.named_barrier_arrive` included.

    Example:
        T.sync_threads()
        for i, j in T.Parallel(64, 64):
            B[i, j] = A[i, j]
    """
    _meet("T.sync_threads")
    state = _in_kernel("T.sync_threads")
    if barrier_id is None or arrive_count is None or state.control_flow() is None:
        return
    barrier = _named(barrier_id, arrive_count, "T.sync_threads")
    mbarrier_arrive(barrier)
    state.core.barrier_wait(barrier.element, None, barrier.count)


def barrier_arrive(mbarrier: Any) -> None:
    """As `T.mbarrier_arrive`.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.barrier_arrive(ready)
            with T.ws(0):
                T.barrier_wait(ready, 0)
                T.copy(x, B)
    """
    mbarrier_arrive(mbarrier)


def barrier_wait(mbarrier: Any, parity: Any) -> None:
    """As `T.mbarrier_wait_parity`.

    Example:
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.copy(A, x)
                T.barrier_arrive(ready)
            with T.ws(0):
                T.barrier_wait(ready, 0)
                T.copy(x, B)
    """
    mbarrier_wait_parity(mbarrier, parity)
