"""Questions that the threads of a warp or block answer together.

All threads write their answer into a shared tile; a reduction of the whole block combines the rows
of warps, or all of it; each thread reads the result of its own. So all threads must come to a vote.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tilewright.frontend.trace import describe, is_kernel_value, is_scalar
from tilewright.language import scalars
from tilewright.language.exchange import published
from tilewright.language.kernel import _in_kernel
from tilewright.language.threads import WARP_SIZE, linear_thread
from tilewright.support.errors import LanguageError

_ALL_LANES = 0xFFFFFFFF


def _combined(what: str, value: Any, dtype: str, kind: str, group: int | None = None) -> Any:
    """The values of each `group` of threads (of the block, if None) combined by `kind`."""
    state = _in_kernel(what)
    if state.innermost(("parallel",)) is not None:
        raise LanguageError(f"'{what}' inside T.Parallel: its iterations are not threads")
    threads = prod(state.threads)
    group = threads if group is None else group
    if threads % group != 0:
        raise LanguageError(f"'{what}' needs whole warps, the block has {threads} threads")
    votes = state.core.alloc("votes", [threads // group, group], dtype, "shared")
    result = state.core.alloc("counted", [threads // group], dtype, "shared")
    thread = linear_thread(what)
    votes[thread // group, thread % group] = value
    state.core.reduce(kind, votes, result, 1, True, False)
    return result[thread // group].load()


def _truth(what: str, predicate: Any, mask: Any = _ALL_LANES) -> Any:
    """A predicate as 0 or 1."""
    if is_kernel_value(mask) or mask != _ALL_LANES:
        raise LanguageError(
            f"'{what}': all lanes vote, expected the mask 0xFFFFFFFF, got {describe(mask)}",
            hint="let the other lanes vote with a neutral predicate",
        )
    if not is_scalar(predicate):
        raise LanguageError(f"'{what}' needs a scalar predicate, got {describe(predicate)}")
    return scalars.if_then_else(predicate != 0, 1, 0)


def any_sync(predicate: Any, mask: Any = _ALL_LANES) -> Any:
    """1 if the predicate of some lane of the warp is not zero, else 0.

    Example:
        total = T.any_sync(tx < 40)
        if tx < 64:
            N[0, tx] = total
    """
    return _combined("T.any_sync", _truth("T.any_sync", predicate, mask), "int32", "max", WARP_SIZE)


def all_sync(predicate: Any, mask: Any = _ALL_LANES) -> Any:
    """1 if the predicate of no lane of the warp is zero, else 0.

    Example:
        total = T.all_sync(tx < 40)
        if tx < 64:
            N[0, tx] = total
    """
    return _combined("T.all_sync", _truth("T.all_sync", predicate, mask), "int32", "min", WARP_SIZE)


def ballot_sync(predicate: Any, mask: Any = _ALL_LANES) -> Any:
    """A number (uint64) whose bit n says whether the predicate of lane n is not zero.

    Example:
        bits = T.ballot_sync(tx % 2 == 0)
        if tx < 64:
            N[0, tx] = T.cast(bits, "int32")
    """
    vote = _truth("T.ballot_sync", predicate, mask)
    lane = linear_thread("T.ballot_sync") % WARP_SIZE
    bit = scalars.cast(vote, "uint64") << scalars.cast(lane, "uint64")
    return _combined("T.ballot_sync", bit, "uint64", "or", WARP_SIZE)


def ballot(predicate: Any) -> Any:
    """`T.ballot_sync` of all lanes.

    Example:
        bits = T.ballot(tx % 2 == 0)
        if tx < 64:
            N[0, tx] = T.cast(bits, "int32")
    """
    return ballot_sync(predicate)


def _lane_values(what: str, value: Any, mask: Any) -> tuple[Any, Any]:
    """A shared tile of the values of all threads, and where the warp of this thread begins."""
    _truth(what, True, mask)
    tile, thread = published(value, what)
    return tile, thread - thread % WARP_SIZE


def match_any_sync(value: Any, mask: Any = _ALL_LANES) -> Any:
    """A number (uint32) whose bit n says whether lane n has the value of this lane.

    Example:
        bits = T.match_any_sync(tx // 4)
        if tx < 64:
            N[0, tx] = T.cast(bits, "int32")
    """
    tile, first = _lane_values("T.match_any_sync", value, mask)
    own = tile[linear_thread("T.match_any_sync")].load()
    state = _in_kernel("T.match_any_sync")
    found = state.core.constant(0, "uint32")
    for lane in range(WARP_SIZE):
        bit = state.core.constant(1 << lane, "uint32")
        equal = tile[first + lane].load() == own
        found = found | scalars.if_then_else(equal, bit, state.core.constant(0, "uint32"))
    return found


def match_all_sync(value: Any, mask: Any = _ALL_LANES) -> Any:
    """The mask of all lanes (uint32) if they have one value, else 0.

    Example:
        bits = T.match_all_sync(tx // 4)
        if tx < 64:
            N[0, tx] = T.cast(bits, "int32")
    """
    state = _in_kernel("T.match_all_sync")
    everyone = state.core.constant(_ALL_LANES, "uint32")
    found = match_any_sync(value, mask)
    return scalars.if_then_else(found == everyone, everyone, state.core.constant(0, "uint32"))


def activemask() -> Any:
    """The lanes that come here, as bits of a uint64: those for which the conditions around it
    hold.

    Example:
        bits = T.activemask()
        if tx < 64:
            N[0, tx] = T.cast(bits, "int32")
    """
    what = "T.activemask"
    state = _in_kernel(what)
    if state.control_flow() is not None:
        raise LanguageError(f"'{what}' in a branch or loop is not supported yet")
    return state.core.constant(_ALL_LANES, "uint64")


def syncthreads_count(predicate: Any) -> Any:
    """How many threads of the block have a predicate that is not zero.

    Example:
        total = T.syncthreads_count(tx < 40)
        if tx < 64:
            N[0, tx] = total
    """
    what = "T.syncthreads_count"
    return _combined(what, _truth(what, predicate), "int32", "sum")


def syncthreads_and(predicate: Any) -> Any:
    """1 if the predicate of no thread of the block is zero, else 0.

    Example:
        total = T.syncthreads_and(tx < 40)
        if tx < 64:
            N[0, tx] = total
    """
    what = "T.syncthreads_and"
    return _combined(what, _truth(what, predicate), "int32", "min")


def syncthreads_or(predicate: Any) -> Any:
    """1 if the predicate of some thread of the block is not zero, else 0.

    Example:
        total = T.syncthreads_or(tx < 40)
        if tx < 64:
            N[0, tx] = total
    """
    what = "T.syncthreads_or"
    return _combined(what, _truth(what, predicate), "int32", "max")


def shuffle_elect(thread_extent: int) -> Any:
    """Whether this is the first thread of its group of `thread_extent`, 0 for the whole block.

    Example:
        if T.shuffle_elect(128):
            B[0, 0] = 1.0
    """
    if isinstance(thread_extent, bool) or not isinstance(thread_extent, int) or thread_extent < 0:
        raise LanguageError(
            f"'T.shuffle_elect': expected a number of threads, got {describe(thread_extent)}"
        )
    thread = linear_thread("T.shuffle_elect")
    return (thread % thread_extent if thread_extent else thread) == 0
