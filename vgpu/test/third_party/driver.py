"""Runs a program on the virtual GPU through its public Python interface."""

from collections import Counter

from program import Case, Program, TensorMapArg

NOT_BUILT = "the virtual GPU's Python module is not built"


# Warp instructions of a block after which a program counts as endless; the longest of the corpus
# needs a quarter.
STEP_LIMIT = 1 << 18


def launch(program: Program, case: Case, ptx: str | None = None, checks="all", mode="early"):
    """Launches `program` on `case` (its arrays are updated); `ptx` replaces the program's text."""
    from tilewright import vgpu

    args = [
        vgpu.TensorMap(a.array, a.box, swizzle=a.swizzle, oob_fill=a.oob_fill)
        if isinstance(a, TensorMapArg)
        else a
        for a in case.args
    ]
    return vgpu.launch(
        program.path.read_text() if ptx is None else ptx,
        program.entry,
        program.grid,
        program.block,
        args,
        shared_bytes=program.shared_bytes,
        arch=program.arch,
        checks=checks,
        step_limit=STEP_LIMIT,
        mode=mode,
    )


def summary(findings) -> str:
    """Findings as one line: how many of each kind, and the first message."""
    if not findings:
        return "no findings"
    kinds = Counter(f.kind for f in findings)
    counts = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    return f"{counts}; first: {findings[0].message} (ptx:{findings[0].ptx_line})"
