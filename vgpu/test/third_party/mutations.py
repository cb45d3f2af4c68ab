"""Seeded faults: from the text of a correct kernel to texts with one fault each.

Line numbers stay: a removed statement leaves its line behind, an added one shares a line, so that a
finding's `ptx_line` can be compared with the place of the fault.

Two families. The *exhaustive* operators try every barrier, wait, fence and bounds predicate of a
kernel; a mutant of theirs that nothing notices must be explained in `redundant.py`. The *sampled*
ones plant a kind of fault at a few places of each kernel, to give every checker something to find.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from program import Program, kernel_lines

SYNCHRONISATION = ("barrier", "wait", "fence")
EXHAUSTIVE = (*SYNCHRONISATION, "bounds")
# Sampled operators whose fault is an access wrong by itself: the finding must name its line.
AT_LINE = ("far", "misalign")
SAMPLES = 3


@dataclass(frozen=True)
class Mutant:
    operator: str
    ordinal: int  # counts the places of this operator in the kernel
    line: int  # of the fault, 1-based, in the module
    was: str  # the statement that was changed
    text: str
    # The correct text with a probe that reports iff the fault can matter in this launch: the bounds
    # predicate skips something, the removed statement or displaced access is executed.
    probe: str | None = None
    # Why the removed statement is not needed, where the text itself shows it.
    reason: str | None = None

    @property
    def key(self) -> str:
        return f"{self.operator}#{self.ordinal}"


STATEMENT = re.compile(
    r"(?P<guard>@!?%?\w+\s+)?(?<![\w.%$])(?P<opcode>[a-z]+[\w]*(?:[.:]+[\w]+)*)"
    r"(?P<operands>(?:[^;{}\[\]]|\{[^{}]*\}|\[[^\[\]]*\])*);"
)
BARRIER = r"bar\.(warp\.)?sync|barrier(\.cta)?\.sync|bar\.arrive"
WAIT = r"cp\.async\.(bulk\.)?wait_(group|all)|wgmma\.wait_group|mbarrier\.(try|test)_wait"
FENCE = r"membar|fence\.|wgmma\.fence"
ACCESS = r"(ld|st|atom|red)\.|cp\.async\.c[ag]"
BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


class Kernel:
    """A kernel's lines, with access to its statements."""

    def __init__(self, program: Program):
        self.lines = program.path.read_text().splitlines()
        self.span = kernel_lines(self.lines, program.entry)
        self.parsed = [
            (index, match)
            for index in range(self.span.start, self.span.stop)
            for match in STATEMENT.finditer(self.lines[index].split("//")[0])
        ]

    def statements(self, opcode: str) -> Iterator[tuple[int, re.Match]]:
        """Statements of the kernel whose opcode starts with the expression, with line indices."""
        pattern = re.compile(opcode)
        for index, match in self.parsed:
            if pattern.match(match["opcode"]):
                yield index, match

    def with_statement(self, index: int, match: re.Match, replacement: str) -> str:
        line = self.lines[index]
        changed = line[: match.start()] + replacement + line[match.end() :]
        return "\n".join([*self.lines[:index], changed, *self.lines[index + 1 :]]) + "\n"

    def mutant(self, operator, ordinal, index, match, replacement, probe=None) -> Mutant:
        text = self.with_statement(index, match, replacement)
        return Mutant(operator, ordinal, index + 1, match[0].strip(), text, probe)


def _removals(kernel: Kernel, operator: str, opcode: str) -> Iterator[Mutant]:
    for ordinal, (index, match) in enumerate(kernel.statements(opcode)):
        replacement = ""
        if match["opcode"].startswith("mbarrier"):
            done = match["operands"].split(",")[0].strip()
            replacement = f"setp.eq.u32 {done}, 0, 0;"  # the wait says it is over at once
        probe = _probe((match["guard"] or "").strip()) + " " + match[0]
        probe = kernel.with_statement(index, match, probe)
        mutant = kernel.mutant(operator, ordinal, index, match, replacement, probe)
        yield replace(mutant, reason=_obvious_reason(kernel, index, match))


ORDERED = re.compile(rf"\b({ACCESS}|ldmatrix|stmatrix|wgmma|mma|cp\.|mbarrier|bra|call)")
SHARED = re.compile(r"\.shared\b|\b(ldmatrix|stmatrix|wgmma|cp\.async|bra|call)\b")


def _obvious_reason(kernel: Kernel, index: int, match: re.Match) -> str | None:
    """Reasons that the text shows: the same statement again, or nothing left to order."""
    body = kernel.lines[kernel.span]
    here = index - kernel.span.start
    for neighbours in (body[here + 1 :], reversed(body[:here])):
        for line in neighbours:
            code = line.split("//")[0]
            if match[0].strip() in code:
                return "the same statement stands next to it, nothing between"
            if ORDERED.search(code) or re.match(r"\s*\S+:\s*$", code):
                break
    if match["opcode"].startswith("bar.sync"):
        if not any(SHARED.search(line.split("//")[0]) for line in body[here + 1 :]):
            return "no shared memory is touched after it"
    return None


def _probe(guard: str) -> str:
    """A store through a null pointer under a condition, on one line."""
    registers = ".reg .u64 null_; .reg .u32 zero_; mov.u64 null_, 0; mov.u32 zero_, 0;"
    return f"{{ {registers} {guard} st.global.u32 [null_], zero_; }}"


def _negated(guard: str) -> str:
    guard = guard.strip()
    return guard.replace("@!", "@") if guard.startswith("@!") else guard.replace("@", "@!")


def _is_bound(kernel: Kernel, index: int, predicate: str, depth: int = 4) -> bool:
    """Does an ordering comparison of integers decide the predicate (through and/or/not/xor)?"""
    defined = re.compile(rf"\b(\w+(?:\.\w+)*)\s+{re.escape(predicate)}(?:\|%?\w+)?\s*,([^;]*);")
    for line in reversed(kernel.lines[kernel.span.start : index]):
        match = defined.search(line.split("//")[0])
        if not match:
            continue
        opcode, operands = match.groups()
        if re.match(r"setp\.(lt|le|gt|ge|lo|ls|hi|hs)\.[su](16|32|64)", opcode):
            return True
        if depth and re.match(r"(and|or|xor|not)\.pred", opcode):
            return any(
                _is_bound(kernel, index, p, depth - 1) for p in re.findall(r"%p\d+", operands)
            )
        return False
    return False


def bounds(kernel: Kernel) -> Iterator[Mutant]:
    """What keeps accesses inside: guards of accesses and of branches over them, cp.async sizes."""
    ordinal = 0
    for index, match in kernel.statements(rf"bra|{ACCESS}"):
        guard, opcode = match["guard"], match["opcode"]
        if opcode.startswith("cp.async"):
            size = re.search(r"\],\s*(0x\w+|\d+)\s*,\s*%\w+$", match["operands"].strip())
            if size:
                front, register = match["operands"].rsplit(",", 1)
                cut = f".reg .pred cut_; setp.ne.u32 cut_, {register}, {size[1]};"
                probe = f"{{ {cut} {_probe('@cut_')} }} {match[0]}"
                probe = kernel.with_statement(index, match, probe)
                whole = f"{guard or ''}{opcode}{front};"
                yield kernel.mutant("bounds", ordinal, index, match, whole, probe)
                ordinal += 1
                continue
        if not guard or not _is_bound(kernel, index, guard.strip(" \t@!")):
            continue
        if opcode.startswith("bra"):
            if not _skips_an_access(kernel, index, match["operands"].strip()):
                continue
            replacement, taken = "", guard
        else:
            replacement, taken = match[0][len(guard) :], _negated(guard)
        probe = kernel.with_statement(index, match, _probe(taken.strip()) + " " + match[0])
        yield kernel.mutant("bounds", ordinal, index, match, replacement, probe)
        ordinal += 1


def _skips_an_access(kernel: Kernel, index: int, label: str) -> bool:
    """Is this a forward branch over at least one memory access?"""
    pattern = re.compile(rf"\b({ACCESS})")
    for line in kernel.lines[index + 1 : kernel.span.stop]:
        if re.match(rf"\s*{re.escape(label)}\s*:", line):
            return False
        if pattern.search(line.split("//")[0]):
            return any(
                re.match(rf"\s*{re.escape(label)}\s*:", later)
                for later in kernel.lines[index + 1 : kernel.span.stop]
            )
    return False


def _access_bytes(opcode: str) -> int:
    width = re.search(r"\.[a-z]+(8|16|32|64)(?:x2)?$", opcode)
    lanes = re.search(r"\.v([248])\b", opcode)
    return BYTES[width[1]] * (int(lanes[1]) if lanes else 1) if width else 4


def _moved(kernel: Kernel, operator: str, offset) -> Iterator[Mutant]:
    """Accesses whose address is displaced by `offset(bytes of the access)`."""
    places = list(kernel.statements(r"(ld|st|atom|red)\.(global|shared)"))
    for ordinal, (index, match) in enumerate(_spread(places)):
        bytes_ = _access_bytes(match["opcode"])
        if operator == "misalign" and bytes_ == 1:
            continue
        moved = re.sub(
            r"\[\s*([^\[\]+]+?)\s*(?:\+\s*(-?\w+))?\s*\]",
            _displacer(offset(bytes_)),
            match[0],
            count=1,
        )
        if moved != match[0]:
            probe = _probe((match["guard"] or "").strip()) + " " + match[0]
            probe = kernel.with_statement(index, match, probe)
            yield kernel.mutant(operator, ordinal, index, match, moved, probe)


def _displacer(offset: int):
    return lambda m: f"[{m[1]}+{int(m[2] or '0', 0) + offset}]"


def _spread(places: list) -> list:
    """A few of the places: the first, the last, and evenly between."""
    if len(places) <= SAMPLES:
        return places
    return [places[i * (len(places) - 1) // (SAMPLES - 1)] for i in range(SAMPLES)]


def widen(kernel: Kernel) -> Iterator[Mutant]:
    """A scalar store becomes a pair: it touches the neighbour, or is misaligned."""
    places = list(kernel.statements(r"st\.(global|shared)\.[a-z]+(16|32|64)$"))
    for ordinal, (index, match) in enumerate(_spread(places)):
        address, value = match["operands"].rsplit(",", 1)
        value = value.strip(" {}")
        space, kind = match["opcode"].rsplit(".", 1)
        wide = f"{match['guard'] or ''}{space}.v2.{kind} {address.strip()}, {{{value}, {value}}};"
        yield kernel.mutant("widen", ordinal, index, match, wide)


def uninitialized(kernel: Kernel) -> Iterator[Mutant]:
    """A store to shared memory is forgotten."""
    places = list(kernel.statements(r"st\.shared"))
    for ordinal, (index, match) in enumerate(_spread(places)):
        yield kernel.mutant("uninitialized", ordinal, index, match, "")


def divergent(kernel: Kernel) -> Iterator[Mutant]:
    """A barrier that only half of a warp reaches, and one that only the first warp reaches."""
    places = list(kernel.statements(r"bar\.sync|barrier\.sync"))
    for ordinal, (index, match) in enumerate(_spread(places)):
        for name, limit in (("half_warp", 16), ("one_warp", 32)):
            condition = "{ .reg .pred some_; .reg .u32 t_; mov.u32 t_, %tid.x; "
            condition += f"setp.lt.u32 some_, t_, {limit}; @some_ {match[0].strip()} }}"
            yield kernel.mutant(name, ordinal, index, match, condition)


def half_matrix(kernel: Kernel) -> Iterator[Mutant]:
    """A matrix instruction that only half of a warp reaches."""
    places = [
        p for p in kernel.statements(r"(ldmatrix|mma|wgmma\.mma_async)\.") if not p[1]["guard"]
    ]
    for ordinal, (index, match) in enumerate(_spread(places)):
        condition = "{ .reg .pred some_; .reg .u32 t_; mov.u32 t_, %laneid; "
        condition += f"setp.lt.u32 some_, t_, 16; @some_ {match[0].strip()} }}"
        yield kernel.mutant("half_matrix", ordinal, index, match, condition)


def early_free(kernel: Kernel) -> Iterator[Mutant]:
    """Memory of the heap is given back before one of its uses."""
    text = "\n".join(kernel.lines[kernel.span])
    freed = re.search(r"st\.param\.b64\s+\[\w+\+0\], (%\w+);\s*call\.uni\s+free\b", text)
    if freed:
        call = f"{{ .param .b64 old_; st.param.b64 [old_], {freed[1]}; call.uni free, (old_); }} "
        for ordinal, (index, match) in enumerate(kernel.statements(r"(ld|st)\.u32")):
            yield kernel.mutant("early_free", ordinal, index, match, call + match[0])


def endless(kernel: Kernel) -> Iterator[Mutant]:
    """The first loop has no end."""
    for index, match in kernel.statements(r"bra"):
        label = re.compile(rf"\s*{re.escape(match['operands'].strip())}\s*:")
        if match["guard"] and any(
            label.match(line) for line in kernel.lines[kernel.span.start : index]
        ):
            yield kernel.mutant("endless", 0, index, match, match[0][len(match["guard"]) :])
            return


def weaken(kernel: Kernel) -> Iterator[Mutant]:
    """wait_group N waits for one group less."""
    for ordinal, (index, match) in enumerate(kernel.statements(r"(cp\.async|wgmma)\.wait_group")):
        count = int(match["operands"].strip(), 0)
        yield kernel.mutant("weaken", ordinal, index, match, f"{match['opcode']} {count + 1};")


def commit(kernel: Kernel) -> Iterator[Mutant]:
    for ordinal, (index, match) in enumerate(kernel.statements(r"(cp\.async|wgmma)\.commit_group")):
        yield kernel.mutant("commit", ordinal, index, match, "")


def swap(kernel: Kernel) -> Iterator[Mutant]:
    """The barrier comes before the wait: each thread waits for its own copies only."""
    waits = list(kernel.statements(r"cp\.async\.wait_group"))
    for ordinal, (index, match) in enumerate(waits):
        for after, barrier in kernel.statements(r"bar\.sync"):
            if index < after < index + 12:
                text = kernel.with_statement(index, match, barrier[0]).splitlines()
                line = text[after]
                text[after] = line[: barrier.start()] + match[0] + line[barrier.end() :]
                yield Mutant("swap", ordinal, index + 1, match[0].strip(), "\n".join(text) + "\n")
                break


OFF_BY_ONE = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}


def off_by_one(kernel: Kernel) -> Iterator[Mutant]:
    """A comparison that guards accesses lets one element more (or less) through."""
    ordinal = 0
    for index, match in kernel.statements(r"setp\.(lt|le|gt|ge)\.[su](32|64)"):
        predicate = match["operands"].split(",")[0].strip()
        guards = [
            (at, use)
            for at, use in kernel.statements(rf"bra|{ACCESS}")
            if at > index and (use["guard"] or "").strip(" \t@!") == predicate
        ]
        if not guards:
            continue
        at, use = guards[0]
        if use["opcode"].startswith("bra") and not _skips_an_access(
            kernel, at, use["operands"].strip()
        ):
            continue
        _, order, kind = match["opcode"].split(".")
        yield kernel.mutant(
            "off_by_one",
            ordinal,
            index,
            match,
            f"setp.{OFF_BY_ONE[order]}.{kind}{match['operands']};",
        )
        ordinal += 1


def plain(kernel: Kernel) -> Iterator[Mutant]:
    """An atomic becomes a plain store of its operand."""
    places = list(
        kernel.statements(r"(atom|red)\.(global|shared)\.(add|min|max|or)\.[a-z]+(32|64)$")
    )
    for ordinal, (index, match) in enumerate(_spread(places)):
        parts = re.search(r"(\[[^\[\]]*\])\s*,\s*([^,;]+)$", match["operands"].strip())
        _, space, _, kind = match["opcode"].split(".")
        store = f"{match['guard'] or ''}st.{space}.{kind} {parts[1]}, {parts[2]};"
        yield kernel.mutant("plain", ordinal, index, match, store)


def starve(kernel: Kernel) -> Iterator[Mutant]:
    """An mbarrier waits for bytes or arrivals that never come."""
    for ordinal, (index, match) in enumerate(kernel.statements(r"mbarrier\.arrive")):
        changed = ""
        if "expect_tx" in match["opcode"]:
            front, count = match[0][:-1].rsplit(",", 1)
            changed = f"{{ .reg .u32 more_; add.u32 more_, {count}, 16; {front}, more_; }}"
        yield kernel.mutant("starve", ordinal, index, match, changed)


def touch(kernel: Kernel) -> Iterator[Mutant]:
    """An accumulator of an unfinished wgmma is read."""
    products = list(kernel.statements(r"wgmma\.mma_async"))
    commits = list(kernel.statements(r"wgmma\.commit_group"))
    for ordinal, (index, match) in enumerate(commits[:SAMPLES]):
        before = [m for at, m in products if at < index]
        if before:
            register = re.search(r"\{\s*([%\w]+)", before[-1]["operands"])[1]
            read = f" {{ .reg .b32 early_; mov.b32 early_, {register}; }}"
            yield kernel.mutant("touch", ordinal, index, match, match[0] + read)


def mutants(program: Program) -> Iterator[Mutant]:
    """All mutants of a program's kernel, in a fixed order."""
    kernel = Kernel(program)
    yield from _removals(kernel, "barrier", BARRIER)
    yield from _removals(kernel, "wait", WAIT)
    yield from _removals(kernel, "fence", FENCE)
    yield from bounds(kernel)
    yield from _moved(kernel, "shift", lambda bytes_: bytes_)
    yield from _moved(kernel, "far", lambda _: 1 << 24)
    yield from _moved(kernel, "misalign", lambda _: 1)
    for operator in (
        widen,
        uninitialized,
        divergent,
        half_matrix,
        early_free,
        endless,
        weaken,
        commit,
        swap,
        off_by_one,
        plain,
        starve,
        touch,
    ):
        yield from operator(kernel)
