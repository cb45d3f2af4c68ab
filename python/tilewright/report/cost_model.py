"""The cost model: a marked graph with times.

The virtual GPU says what the warps of a block did and for whom they waited (EventTrace.h), without
times. That is the marked graph of the program's roles and channels, unrolled: instructions, copies
and products are its transitions; program order, barriers, mbarriers with their phases and groups of
copies and products are its places. Here each transition gets a duration and the parts of a
multiprocessor that it needs:

- a quarter issues one instruction a cycle; its lanes for special functions, conversions, shuffles
  and integers have rates of their own;
- the tensor core of a quarter works on one product at a time, at the peak of the product's type, or
  as fast as shared memory gives it the operands;
- shared memory gives 128 bytes a cycle to loads and bulk copies, and as many to products;
- the L2 and main memory give a multiprocessor its share, and every copy takes their latency.

A transition starts when its places have their tokens and its parts are free. All resident blocks
of a multiprocessor are played together. Which predecessor came last is kept, so that the end leads
back along the critical path; in its middle lies the critical cycle, what an iteration waits for.

It is a model, not a measurement: docs/performance.md has its errors.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tilewright.report.machines import (
    BARRIER_LATENCY,
    BULK_LATENCY,
    GLOBAL_LATENCY,
    ISSUE_INTERVAL,
    ISSUES,
    L2_LATENCY,
    LANES,
    PORT_BYTES,
    PRODUCT_LATENCY,
    SHARED_BYTES,
    SHARED_LATENCY,
    Machine,
    tensor_rate,
)

#: Why a warp waits.
CAUSES = ("load", "copy", "product", "barrier", "mbarrier")

RULES = (
    "a quarter of a multiprocessor issues one instruction a cycle, special functions, conversions "
    "and shuffles at the rates of the CUDA programming guide; loads and copies take "
    f"{L2_LATENCY} cycles from the L2, {GLOBAL_LATENCY} from main memory and {SHARED_LATENCY} from "
    "shared memory, and share their bandwidth; products run at the peak of a tensor core"
)

#: Instructions that a warp issues before another one of its quarter has its turn.
_TURN = 16


@dataclass(frozen=True)
class Memory:
    """What global memory is to one multiprocessor."""

    bytes_per_cycle: float
    latency: float

    @staticmethod
    def of(
        machine: Machine, active: int | None = None, missing: float = 1.0, clock: float = 1.0
    ) -> Memory:
        """With so many multiprocessors at work, this part of their bytes not in the L2, and their
        clock at this part of its rate, which is not that of the L2 and of main memory."""
        active = min(machine.processors, active or machine.processors)
        main = machine.bytes_per_cycle * machine.processors / active
        rate = min(machine.l2_bytes / active, main / max(missing, 1e-9)) / clock
        latency = missing * GLOBAL_LATENCY + (1 - missing) * L2_LATENCY
        return Memory(min(PORT_BYTES, rate), latency)


class Node(NamedTuple):
    """Something that took time: from where in the graph it could start, and why then."""

    start: float
    end: float
    kind: str  # run, tensor, product, copy, or a cause of waiting
    warp: int
    line: int  # of PTX
    before: int  # the node that it had to wait for, or -1


class _Warp:
    def __init__(self, number: int, operations: list[tuple[Any, ...]]) -> None:
        self.number, self.quarter = number, number % ISSUES
        self.operations, self.next = operations, 0
        self.now = 0.0
        self.node = -1  # the latest
        self.loaded, self.load_node = 0.0, -1  # when the latest load arrives
        self.open_copies = (0.0, -1)  # when the latest copy of the open group lands
        self.copy_groups: list[tuple[float, int]] = []
        self.open_products = (0.0, -1)
        self.product_groups: list[tuple[float, int]] = []
        self.open_stores = (0.0, -1)
        self.store_groups: list[tuple[float, int]] = []
        self.rest = 1.0  # of the run that is under way
        self.arrived_at: Any = None  # the barrier where it was last
        self.spans: list[list[Any]] = []  # start, end, kind, PTX line


class _Part:
    """A part of the machine that does one thing after another."""

    __slots__ = ("free", "node")

    def __init__(self) -> None:
        self.free, self.node = 0.0, -1

    def take(self, start: float, duration: float) -> tuple[float, int]:
        """When it is done, and what it was busy with until it could start, or -1."""
        before = self.node if self.free > start else -1
        self.free = max(self.free, start) + duration
        return self.free, before


def _operations(
    events: Sequence[Sequence[Any]], warps: int
) -> tuple[list[list[tuple[Any, ...]]], Counter[Any]]:
    """What each warp does, and how many arrivals complete each barrier and phase."""
    lists: list[list[Any]] = [[] for _ in range(warps)]
    arrivals: Counter[Any] = Counter()
    early: list[list[int]] = [[] for _ in range(warps)]  # arrivals at barriers not told yet
    shares: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)  # of products
    counts: Counter[int] = Counter()
    for number, event in enumerate(events):
        name, rest = event[0], event[1:]
        if name == "barrier":
            line, members = rest
            for warp, waits in members:
                arrivals["barrier", number] += 1
                if not waits and early[warp]:
                    position = early[warp].pop(0)
                    lists[warp][position] = ("barrier", line, ("barrier", number), False)
                else:
                    lists[warp].append(("barrier", line, ("barrier", number), waits))
            continue
        warp = rest[0]
        if name == "barrier_arrive":
            early[warp].append(len(lists[warp]))
            lists[warp].append(("nothing", rest[1]))
        elif name in ("arrive", "wait"):
            key = ("phase", rest[2], rest[3])
            arrivals[key] += name == "arrive"
            lists[warp].append((name, rest[1], key))
        elif name == "bulk":
            key = ("phase", rest[4], rest[5])
            arrivals[key] += 1
            lists[warp].append((name, rest[1], rest[2], key))
        elif name == "product":
            shares[warp // 4, counts[warp]].append((warp, len(lists[warp])))
            counts[warp] += 1
            lists[warp].append((name, rest[1], rest[2], rest[3] if len(rest) > 3 else 0))
        elif name == "run":
            more = tuple(rest[6:]) or ({}, 0, 0)
            lists[warp].append((name, *rest[1:6], *more))
        else:
            lists[warp].append((name, *rest[1:]))
    # One warp tells of a B that four read together.
    for members in shares.values():
        total = sum(lists[warp][position][3] for warp, position in members)
        for warp, position in members:
            lists[warp][position] = (*lists[warp][position][:3], total / len(members))
    return lists, arrivals


class Model:
    """Gives the events of a trace their times, on one multiprocessor with so many copies of the
    block."""

    def __init__(
        self,
        machine: Machine,
        warps: int,
        lines: Mapping[str, Sequence[str]] | None = None,
        copies: int = 1,
        memory: Memory | None = None,
    ) -> None:
        self.machine, self.count, self.blocks = machine, warps, copies
        self.memory = memory or Memory.of(machine)
        self.lines = lines or {}
        self.warps: list[_Warp] = []
        self.nodes: list[Node] = []
        self.copies: list[list[Any]] = []
        self.products: list[list[Any]] = []
        self.end = 0.0
        self.halfway = (0.0, 0)  # a time, and the instructions until then
        self.instructions = 0
        self.issued = 0.0
        self._rates: dict[tuple[int, str], float] = {}
        self._lanes = {name: ISSUES * 32 / lanes for name, lanes in LANES.items()}
        self._lanes["float32"] = ISSUES * 32 / machine.float_lanes
        self._issue = [_Part() for _ in range(ISSUES)]
        self._pipes: list[dict[str, _Part]] = [defaultdict(_Part) for _ in range(ISSUES)]
        self._tensor = [_Part() for _ in range(ISSUES)]
        self._shared, self._global = _Part(), _Part()

    # ---- The graph ----

    def play(self, events: Sequence[Sequence[Any]]) -> None:
        """Plays the events; each wait comes after what it waits for."""
        lists, arrivals = _operations(events, self.count)
        self.warps = [
            _Warp(number + copy * self.count, operations)
            for copy in range(self.blocks)
            for number, operations in enumerate(lists)
        ]
        total = self.blocks * sum(event[3] for event in events if event[0] == "run")
        self._missing = {
            (copy, key): count for copy in range(self.blocks) for key, count in arrivals.items()
        }
        self._complete: dict[Any, tuple[float, int]] = {}
        self._waiting: dict[Any, list[_Warp]] = defaultdict(list)
        self._queue = [(0.0, warp.number) for warp in self.warps]
        heapq.heapify(self._queue)
        while self._queue:
            _, number = heapq.heappop(self._queue)
            warp = self.warps[number]
            if warp.next == len(warp.operations):
                continue
            operation = warp.operations[warp.next]
            warp.next += 1
            if getattr(self, f"_{operation[0]}")(warp, *operation[1:]):
                heapq.heappush(self._queue, (warp.now, number))
            if not self.halfway[1] and self.instructions * 2 >= total:
                self.halfway = (warp.now, self.instructions)
        self.end = max((node.end for node in self.nodes), default=0.0)

    def _note(
        self, warp: _Warp, start: float, end: float, kind: str, line: int, before: int
    ) -> int:
        self.nodes.append(Node(start, end, kind, warp.number, line, before))
        return len(self.nodes) - 1

    def _spend(self, warp: _Warp, end: float, kind: str, line: int, before: int) -> None:
        """The warp is at something until then."""
        if end <= warp.now:
            return
        last = warp.spans[-1] if warp.spans else None
        if last and last[1] == warp.now and last[2:] == [kind, line]:
            last[1] = end
        else:
            warp.spans.append([warp.now, end, kind, line])
        if kind in CAUSES:
            warp.node = before if before >= 0 else warp.node
        else:
            mine = self.nodes[warp.node] if warp.node >= 0 else None
            is_same = mine is not None and mine[2:5] == (kind, warp.number, line)
            if is_same and before in (-1, warp.node):  # it runs again
                self.nodes[warp.node] = mine._replace(end=end)
            else:
                before = before if before >= 0 else warp.node
                warp.node = self._note(warp, warp.now, end, kind, line, before)
        warp.now = end

    def _arrived(self, copy: int, key: Any, time: float, node: int) -> None:
        """One of the arrivals that a barrier or a phase waits for."""
        at, latest = self._complete.get((copy, key), (0.0, -1))
        self._complete[copy, key] = max((at, latest), (time, node))
        self._missing[copy, key] -= 1
        if not self._missing[copy, key]:
            for warp in self._waiting.pop((copy, key), ()):
                heapq.heappush(self._queue, (warp.now, warp.number))

    def _is_open(self, warp: _Warp, key: Any) -> bool:
        """Whether the warp must wait; it then comes back to the same operation."""
        full = (warp.number // self.count, key)
        if not self._missing.get(full, 0):
            return False
        warp.next -= 1
        self._waiting[full].append(warp)
        return True

    # ---- Instructions ----

    def _nothing(self, warp: _Warp, line: int) -> bool:
        return True

    def _rate(self, line: int, default: str) -> float:
        """Tensor operations a cycle of one quarter, for the products of a line."""
        rate = self._rates.get((line, default))
        if rate is None:
            opcode = (self.lines.get(str(line)) or ("", default))[1]
            rate = tensor_rate(self.machine, opcode or default) / ISSUES
            self._rates[line, default] = rate
        return rate

    def _run(
        self, warp: _Warp, line: int, count: int, operations: int, shared: int, loads: int,
        classes: Mapping[str, int], wavefronts: int, sectors: int,
    ) -> bool:  # fmt: skip
        if warp.rest == 1.0 and not loads and warp.loaded > warp.now:
            self._spend(warp, warp.loaded, "load", line, warp.load_node)
        issued = max(1, count - classes.get("move", 0))
        part = min(warp.rest, _TURN / issued)
        warp.rest -= part
        self.issued += issued * part
        quarter = warp.quarter
        issue = self._issue[quarter]
        end, before = issue.take(warp.now, issued * part)
        if warp.now + issued * part * ISSUE_INTERVAL > end:
            end, before = warp.now + issued * part * ISSUE_INTERVAL, -1
        for name, number in classes.items():
            cost = self._lanes.get(name)
            if cost is not None and cost > 1:
                pipe = self._pipes[quarter][name]
                done, held = pipe.take(warp.now, number * part * cost)
                if done > end:
                    end, before = done, held
        if wavefronts:
            done, held = self._shared.take(warp.now, wavefronts * part)
            if done > end:
                end, before = done, held
        if operations:
            tensor = self._tensor[quarter]
            start = max(warp.now, tensor.free)
            done, held = tensor.take(warp.now, operations * part / self._rate(line, "mma"))
            self.products.append([start, done, "product", line])
            if done > end:
                end, before = done, held
        kind = "tensor" if operations else "run"
        self._spend(warp, end, kind, line, before)
        issue.node = warp.node
        for name in classes:
            if name in self._pipes[quarter]:
                self._pipes[quarter][name].node = warp.node
        if wavefronts:
            self._shared.node = warp.node
        if operations:
            self._tensor[quarter].node = warp.node
        if warp.rest > 1e-9:
            warp.next -= 1
            return True
        warp.rest = 1.0
        self.instructions += count
        if sectors:
            arrival, node = self._move(warp, line, sectors * 32, 0.0, "load" if loads else "store")
            if loads:
                warp.loaded, warp.load_node = max((warp.loaded, warp.load_node), (arrival, node))
        elif loads:
            warp.loaded, warp.load_node = warp.now + self.memory.latency, warp.node
        if shared:
            warp.loaded = max(warp.loaded, warp.now + SHARED_LATENCY)
        return True

    # ---- Copies ----

    def _move(
        self, warp: _Warp, line: int, size: int, extra: float, kind: str
    ) -> tuple[float, int]:
        """Bytes of global memory: when they are there."""
        done, held = self._global.take(warp.now, size / self.memory.bytes_per_cycle)
        end = max(done, warp.now + self.memory.latency) + extra
        node = self._note(warp, warp.now, end, kind, line, held if held >= 0 else warp.node)
        self._global.node = node
        return end, node

    def _land(self, warp: _Warp, line: int, size: int, extra: float) -> tuple[float, int]:
        start = warp.now
        end, node = self._move(warp, line, size, extra, "copy")
        self._shared.take(start, size / SHARED_BYTES)
        self.copies.append([start, end, "copy", line])
        return end, node

    def _copy(self, warp: _Warp, line: int, size: int) -> bool:
        warp.open_copies = max(warp.open_copies, self._land(warp, line, size, 0.0))
        return True

    def _copy_commit(self, warp: _Warp, line: int) -> bool:
        warp.copy_groups.append(warp.open_copies)
        warp.open_copies = (0.0, -1)
        return True

    def _copy_wait(self, warp: _Warp, line: int, pending: int) -> bool:
        warp.copy_groups = self._await(warp, line, warp.copy_groups, pending, "copy")
        return True

    def _await(
        self, warp: _Warp, line: int, groups: list[tuple[float, int]], pending: int, cause: str
    ) -> list[tuple[float, int]]:
        """Waits until at most so many groups are open; gives those."""
        done = groups[: max(0, len(groups) - pending)]
        time, node = max(done, default=(0.0, -1))
        self._spend(warp, time, cause, line, node)
        return groups[len(done) :]

    def _bulk(self, warp: _Warp, line: int, size: int, key: Any) -> bool:
        end, node = self._land(warp, line, size, BULK_LATENCY)
        self._arrived(warp.number // self.count, key, end, node)
        return True

    def _bulk_store(self, warp: _Warp, line: int, size: int) -> bool:
        self._shared.take(warp.now, size / SHARED_BYTES)
        stored = self._move(warp, line, size, BULK_LATENCY, "store")
        warp.open_stores = max(warp.open_stores, stored)
        return True

    # ---- Barriers ----

    def _arrive(self, warp: _Warp, line: int, key: Any) -> bool:
        self._arrived(warp.number // self.count, key, warp.now, warp.node)
        return True

    def _wait(self, warp: _Warp, line: int, key: Any) -> bool:
        if self._is_open(warp, key):
            return False
        time, node = self._complete.get((warp.number // self.count, key), (0.0, -1))
        self._spend(warp, time, "mbarrier", line, node)
        return True

    def _barrier(self, warp: _Warp, line: int, key: Any, waits: bool) -> bool:
        copy = warp.number // self.count
        if warp.arrived_at != key:  # else it comes back until all are there
            warp.arrived_at = key
            self._arrived(copy, key, warp.now, warp.node)
        if not waits:
            return True
        if self._is_open(warp, key):
            return False
        time, node = self._complete[copy, key]
        self._spend(warp, time + BARRIER_LATENCY, "barrier", line, node)
        return True

    # ---- Products ----

    def _product(self, warp: _Warp, line: int, operations: int, size: float) -> bool:
        tensor = self._tensor[warp.quarter]
        start = max(warp.now, tensor.free)
        # The four warps of a group read their operands together, while others wait their turn.
        duration = max(operations / self._rate(line, "wgmma"), ISSUES * size / SHARED_BYTES)
        done, held = tensor.take(warp.now, duration)
        node = self._note(warp, start, done, "product", line, held if held >= 0 else warp.node)
        tensor.node = node
        self.products.append([start, done, "product", line])
        warp.open_products = (done + PRODUCT_LATENCY, node)
        return True

    def _commit(self, warp: _Warp, line: int, what: str) -> bool:
        if what == "wgmma":
            warp.product_groups.append(warp.open_products)
        else:
            warp.store_groups.append(warp.open_stores)
            warp.open_stores = (0.0, -1)
        return True

    def _group_wait(self, warp: _Warp, line: int, pending: int, what: str) -> bool:
        if what == "wgmma":
            groups = self._await(warp, line, warp.product_groups, pending, "product")
            warp.product_groups = groups
        else:
            warp.store_groups = self._await(warp, line, warp.store_groups, pending, "copy")
        return True

    # ---- What it says ----

    def tensor_use(self) -> float:
        """The part of the time in which the tensor cores work."""
        busy = sum(span[1] - span[0] for span in self.products)
        return busy / (ISSUES * self.end) if self.end else 0.0

    def load(self) -> float:
        """What the power of a multiprocessor grows with: the use of its tensor cores and of its
        issue slots, together."""
        issue = self.issued / (ISSUES * self.end) if self.end else 0.0
        return self.tensor_use() + issue

    def extrapolate(self, instructions: int) -> float:
        """The time of a block that executed so many instructions, the trace being of its
        beginning: it goes on as in the second half of the trace."""
        time, until = self.halfway
        rest = instructions * self.blocks - self.instructions
        if rest <= 0 or self.instructions <= until:
            return self.end
        return self.end + rest * (self.end - time) / (self.instructions - until)

    def critical_path(self) -> list[Node]:
        """From the start to the end, each node with what it had to wait for before it."""
        if not self.nodes:
            return []
        position = max(range(len(self.nodes)), key=lambda n: self.nodes[n].end)
        path = []
        while position >= 0:
            path.append(self.nodes[position])
            position = self.nodes[position].before
        return path[::-1]


def critical_cycle(path: Sequence[Node], name: Any) -> dict[str, Any]:
    """What an iteration waits for, in the middle of a critical path.

    `name(node)` is how a node is called. An iteration lies between two visits of the same line of
    PTX, the one that is seldom visited of those that come from the path's beginning to its end.
    Gives the "steps" of one iteration as [name, cycles], its mean "cycles", and the "shares" of all
    names in the path.
    """
    took: list[float] = []
    ends: list[float] = []
    last = 0.0
    shares: Counter[Any] = Counter()
    visits: dict[tuple[str, int], list[int]] = defaultdict(list)
    for position, node in enumerate(path):
        took.append(max(0.0, node.end - last))
        last = max(last, node.end)
        ends.append(last)
        shares[name(node)] += took[-1]
        visits[node.kind, node.line].append(position)
    total = sum(shares.values()) or 1.0
    found: dict[str, Any] = {
        "steps": [],
        "cycles": 0.0,
        "shares": [[label, cycles / total] for label, cycles in shares.most_common()],
    }
    often = [
        at for at in visits.values()
        if len(at) >= 4 and ends[at[0]] < 0.4 * last and ends[at[-1]] > 0.6 * last
    ]  # fmt: skip
    if not often:
        return found
    at = min(often, key=len)
    low, high = len(at) // 4, 3 * len(at) // 4
    found["cycles"] = (ends[at[high]] - ends[at[low]]) / (high - low)
    steps: dict[Any, float] = {}
    for position in range(at[len(at) // 2 - 1] + 1, at[len(at) // 2] + 1):
        label = name(path[position])
        steps[label] = steps.get(label, 0.0) + took[position]
    found["steps"] = [[label, cycles] for label, cycles in steps.items()]
    return found
