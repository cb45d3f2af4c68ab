"""A model of time for the events of one block.

The virtual GPU says what warps did and for whom they waited, without times. Here each event gets
some, by a few simple rules: a warp starts an instruction a cycle; a product of a warp takes the
tensor core of its quarter of the multiprocessor; loads take `GLOBAL_LATENCY` or `SHARED_LATENCY`
cycles and are waited for by the next line without loads; a copy takes the same latency, and copies
share the main memory's bandwidth. Warps do not disturb each other. So the picture shows what waits
for what, and about how long; it is a model, not a measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.report.machines import Machine

GLOBAL_LATENCY = 500
SHARED_LATENCY = 30
BARRIER_LATENCY = 20

#: A picture with more stretches than this is made coarser.
MOST_SPANS = 5000

#: Why a warp waits.
CAUSES = ("load", "copy", "product", "barrier", "mbarrier")

RULES = (
    "one instruction a cycle for each warp; loads and copies take "
    f"{GLOBAL_LATENCY} cycles from main memory and {SHARED_LATENCY} from shared memory; copies "
    "share the bandwidth of main memory; products run at the peak of a tensor core; warps do not "
    "disturb each other"
)


class _Warp:
    def __init__(self) -> None:
        self.now = 0.0
        self.loaded = 0.0  # when the latest load arrives
        self.spans: list[list[Any]] = []  # start, end, kind, PTX line
        self.open_copies = 0.0  # when the latest copy of the open group lands
        self.copy_groups: list[float] = []
        self.open_products = 0.0
        self.product_groups: list[float] = []
        self.tensor_free = 0.0

    def spend(self, end: float, kind: str, line: int) -> None:
        if end > self.now:
            self.spans.append([self.now, end, kind, line])
            self.now = end


class Model:
    """Gives the events of a trace their times."""

    def __init__(self, machine: Machine, warps: int) -> None:
        self.machine = machine
        self.warps = [_Warp() for _ in range(warps)]
        self.copies: list[list[Any]] = []
        self.products: list[list[Any]] = []
        self._copies_free = 0.0
        self._phases: dict[tuple[int, int], float] = {}  # (mbarrier, phase): when it is over
        self.tensor_rate = machine.tensor_operations_per_cycle / 4  # of one tensor core

    def play(self, events: Sequence[Sequence[Any]]) -> None:
        """Plays the events in their order: each wait comes after what it waits for."""
        for event in events:
            name, rest = event[0], event[1:]
            if name == "barrier":
                self._barrier(*rest)
            else:
                getattr(self, f"_{name}")(self.warps[rest[0]], *rest[1:])

    def _run(
        self, warp: _Warp, line: int, count: int, operations: int, shared: int, loads: int
    ) -> None:
        if not loads and warp.loaded > warp.now:
            warp.spend(warp.loaded, "load", line)
        warp.spend(warp.now + count, "run", line)
        if operations:
            start = max(warp.now, warp.tensor_free)
            warp.tensor_free = start + operations / self.tensor_rate
            self.products.append([start, warp.tensor_free, "product", line])
            warp.spend(warp.tensor_free, "tensor", line)
        if loads or shared:
            latency = GLOBAL_LATENCY if loads else SHARED_LATENCY
            warp.loaded = max(warp.loaded, warp.now + latency)

    def _land(self, warp: _Warp, line: int, size: int) -> float:
        start = max(warp.now, self._copies_free)
        self._copies_free = start + size / self.machine.bytes_per_cycle
        end = max(warp.now + GLOBAL_LATENCY, self._copies_free)
        self.copies.append([warp.now, end, "copy", line])
        return end

    def _copy(self, warp: _Warp, line: int, size: int) -> None:
        warp.open_copies = max(warp.open_copies, self._land(warp, line, size))

    def _copy_commit(self, warp: _Warp, line: int) -> None:
        warp.copy_groups.append(warp.open_copies)
        warp.open_copies = 0.0

    def _copy_wait(self, warp: _Warp, line: int, pending: int) -> None:
        done = warp.copy_groups[: max(0, len(warp.copy_groups) - pending)]
        warp.copy_groups = warp.copy_groups[len(done) :]
        warp.spend(max(done, default=0.0), "copy", line)

    def _bulk(
        self, warp: _Warp, line: int, size: int, address: int, mbarrier: int, phase: int
    ) -> None:
        self._complete(mbarrier, phase, self._land(warp, line, size))

    def _complete(self, mbarrier: int, phase: int, time: float) -> None:
        key = (mbarrier, phase)
        self._phases[key] = max(self._phases.get(key, 0.0), time)

    def _arrive(self, warp: _Warp, line: int, mbarrier: int, phase: int) -> None:
        self._complete(mbarrier, phase, warp.now)

    def _wait(self, warp: _Warp, line: int, mbarrier: int, phase: int) -> None:
        warp.spend(self._phases.get((mbarrier, phase), 0.0), "mbarrier", line)

    def _product(self, warp: _Warp, line: int, operations: int) -> None:
        start = max(warp.now, warp.tensor_free)
        warp.tensor_free = start + operations / self.tensor_rate
        self.products.append([start, warp.tensor_free, "product", line])
        warp.open_products = warp.tensor_free

    def _commit(self, warp: _Warp, line: int, what: str) -> None:
        if what == "wgmma":
            warp.product_groups.append(warp.open_products)

    def _group_wait(self, warp: _Warp, line: int, pending: int, what: str) -> None:
        if what == "wgmma":
            done = warp.product_groups[: max(0, len(warp.product_groups) - pending)]
            warp.product_groups = warp.product_groups[len(done) :]
            warp.spend(max(done, default=0.0), "product", line)

    def _barrier(self, line: int, members: Sequence[tuple[int, bool]]) -> None:
        time = max(self.warps[number].now for number, _ in members) + BARRIER_LATENCY
        for number, waits in members:
            if waits:
                self.warps[number].spend(time, "barrier", line)


def _merge(spans: list[list[Any]], gap: float) -> list[list[Any]]:
    """Neighbours of one kind and line become one; what is shorter than `gap` joins its
    neighbour."""
    merged: list[list[Any]] = []
    for start, end, kind, line in sorted(spans, key=lambda span: span[:2]):
        last = merged[-1] if merged else None
        if last and start <= last[1] + gap and (last[2:] == [kind, line] or end - start < gap):
            last[1] = max(last[1], end)
        else:
            merged.append([start, end, kind, line])
    return merged


def make_timeline(
    trace: Mapping[str, Any], source_of: Mapping[int, tuple[int, int] | None], machine: Machine,
    threads: int,
) -> dict[str, Any]:  # fmt: skip
    """The rows of a picture: a span is [start, end, kind, file, line], times in cycles. Warps after
    the program's `threads` are producers."""
    model = Model(machine, trace["warps"])
    model.play(trace["events"])
    stalls: dict[tuple[str, int, int], float] = {}
    for warp in model.warps:
        for start, end, kind, line in warp.spans:
            if kind in CAUSES:
                file, location = source_of.get(line) or (-1, 0)
                key = (kind, file, location)
                stalls[key] = stalls.get(key, 0.0) + end - start

    def located(spans: list[list[Any]]) -> list[list[Any]]:
        return [
            [start, end, kind, list(source_of.get(line) or (-1, 0))]
            for start, end, kind, line in spans
        ]

    names = [
        f"warp {n}" + (", producer" if n * 32 >= threads else "") for n in range(trace["warps"])
    ]
    rows = [(name, located(warp.spans)) for name, warp in zip(names, model.warps, strict=True)]
    rows.append(("copies in flight", located(model.copies)))
    rows.append(("tensor cores", located(model.products)))
    total = max((span[1] for _, spans in rows for span in spans), default=0.0)
    gap = 0.0
    while True:
        shown = [(name, _merge(spans, gap)) for name, spans in rows]
        if sum(len(spans) for _, spans in shown) <= MOST_SPANS:
            break
        gap = gap * 2 or total / 8000
    return {
        "unit": "cycles",
        "is_model": True,
        "machine": machine.name,
        "rules": RULES,
        "total": round(total),
        "rows": [
            {
                "name": name,
                "spans": [[round(s), round(e), k, *location] for s, e, k, location in spans],
            }
            for name, spans in shown
        ],
        "busy": {
            name: round(sum(warp_span[1] - warp_span[0] for warp_span in spans), 1)
            for name, spans in rows
        },
        "stalls": [
            {"cause": cause, "file": file, "line": line, "cycles": round(cycles)}
            for (cause, file, line), cycles in sorted(stalls.items(), key=lambda item: -item[1])
        ],
    }
