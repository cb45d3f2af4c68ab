"""From comparisons to figures: one line for each number of threads, and how well they scale."""

from __future__ import annotations

from collections.abc import Iterator

from figures import Figure

from cpu_speed.measure import ALL_THREADS, THREAD_COUNTS, Action, Comparison, compare


def describe(result: Comparison, work: float, target: float | None, more: str) -> str:
    """What follows a figure's ratio: the target, the other peers, the validity."""
    note = f" target {target:.2f}" if target else ""
    peers = {name: work / t.median for name, t in result.timings.items() if name != "ours"}
    if len(peers) > 1:
        note += "; " + ", ".join(f"{name} {rate:.1f}" for name, rate in peers.items())
    note += more
    return note if result.is_valid else note + "; VOID, a peer was disturbed"


def rate_figures(
    name: str,
    ours: Action,
    peers: dict[str, Action],
    work: float,
    unit: str,
    target: float | None = None,
    more: str = "",
    scales: bool = False,
    counts: tuple[int, ...] = THREAD_COUNTS,
) -> Iterator[Figure]:
    """The rate of `work` (in the unit's numbers) on so many threads; if `scales`, also how much
    faster all threads are than one, which must be 0.9 times their number."""
    rates = {}
    for threads in counts:
        result = compare(ours, peers, threads)
        rates[threads] = work / result.ours
        peer, seconds = result.best_peer() or ("", None)
        note = describe(result, work, target, more if threads == 1 else "")
        label = f"cpu: {name}, {threads} thread{'s' if threads > 1 else ''}"
        yield Figure(label, rates[threads], unit, peer, seconds and work / seconds,
                     more_is_better=True, note=note)  # fmt: skip
    if scales and ALL_THREADS > 1:
        yield Figure(f"cpu: {name}, scaling", rates[ALL_THREADS] / rates[1], "times",
                     "the target", 0.9 * ALL_THREADS, more_is_better=True)  # fmt: skip
