"""Statements of correct kernels that can go without anybody noticing, and why.

Not listed, because the tools see it themselves: a bounds predicate that never skips anything in
the launch at hand, a statement that stands there twice, a barrier after which no shared memory is
touched. Everything else that an exhaustive operator removes unnoticed must match a row here, or the
test fails.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Row:
    programs: str  # globs, with blanks between
    mutants: str  # a glob over keys, "bounds#3"
    statement: str  # a regular expression that the removed statement matches
    reason: str


# Elements past an edge that are read from a place inside the array do no harm where the results
# they enter are not stored.
PAST_THE_EDGE = "past the edge it reads another row of the array; what comes of it is not stored"

# Triton's matmuls with three stages, or two (f64); the one by columns has a loop of another shape.
PIPELINED = " ".join(
    f"triton_matmul_{kind}"
    for kind in ("f16_sm80", "f16_acc16_sm80", "[bts]*_sm80", "e*_sm89", "f64_sm80")
)

REDUNDANT = [
    Row(
        "transpose_padded",
        "bounds#0",
        "bra",
        "of the first eight rows of a tile: columns past the end read the start of the next row, "
        "into tile entries that nobody reads (further down it leaves the array, and is found)",
    ),
    Row(
        "last_block_done",
        "barrier#7",
        "bar.sync",
        "after the last step of the tree only thread 0 reads, and it wrote the value itself",
    ),
    Row(
        "scan_*",
        "bounds#0",
        "bra",
        "lanes past the last warp read totals nobody wrote; their sums are not stored",
    ),
    Row("scan_*", "bounds#1", "bra", "lanes past the last warp store totals that nobody reads"),
    Row(
        "scan_grid_barrier*",
        "bounds#2",
        "bra",
        "it leaves out the wait for blocks that have all arrived; that wait ends at its first look",
    ),
    Row(
        "softmax_rows",
        "barrier#3",
        "bar.sync",
        "it frees the buffer of the last reduction for a next one that does not come",
    ),
    Row(
        "divergent_shuffle",
        "barrier#0",
        "bar.warp.sync",
        "it orders no memory, and the shuffle behind it synchronises the same lanes itself",
    ),
    Row("matmul_mma_*", "bounds#*", r"cp\.async", PAST_THE_EDGE),
    Row("triton_matmul_*", "bounds#*", r"cp\.async|ld\.global", PAST_THE_EDGE),
    Row(
        PIPELINED,
        "barrier#1",
        "bar.sync",
        "the barrier at the end of the loop body, or before the loop, published this stage",
    ),
    Row(
        PIPELINED,
        "wait#1",
        "wait_group",
        "the wait at the end of the loop body, and before the loop, was for as many groups, and "
        "none was committed since",
    ),
    Row(
        "triton_matmul_f64_sm80",
        "wait#4",
        "wait_group",
        "two stages: the loop body waits for everything, nothing is pending behind the loop",
    ),
    Row(
        "triton_attention_*sm80",
        "wait#1",
        "wait_group",
        "what is pending after the loop fills the K and V tiles; the output is staged over Q",
    ),
    Row(
        "triton_attention_sm80",
        "barrier#2",
        "bar.sync",
        "the output is staged over Q, whose last readers passed the barrier in the loop body",
    ),
    Row(
        "triton_attention_causal_sm80",
        "barrier#7",
        "bar.sync",
        "the output is staged over Q; behind its last readers come the loop body's other barriers",
    ),
    Row(
        "triton_histogram_sm80",
        "barrier#[12]",
        "bar.sync",
        "two barriers stand between the exchange of pointers and the next use of the buffer",
    ),
    Row(
        "*",
        "fence#*",
        "fence.mbarrier_init",
        "it publishes the barriers to other blocks of a cluster, and there is no cluster",
    ),
    Row(
        "matmul_wgmma_tma",
        "fence#2",
        "wgmma.fence",
        "the second half of the unrolled loop: nothing but products used the accumulators since",
    ),
    Row(
        "wgmma_f16_registers",
        "wait#0",
        "wgmma.wait_group.*1",
        "the wait for all groups follows",
    ),
    Row(
        "triton_matmul_tma_sm90",
        "barrier#[0-5]",
        "bar.sync",
        "six barriers stand between the initialisation of the mbarriers and the first wait; one is "
        "enough, and the thread that initialises is the one that issues the copies",
    ),
    Row(
        "triton_matmul_tma_sm90",
        "barrier#6",
        "bar.sync",
        "each thread has waited for the mbarrier itself",
    ),
    Row(
        "triton_matmul_tma_sm90",
        "barrier#[789]",
        "bar.sync",
        "three barriers stand between the wait for the products and the last copy over their "
        "tiles, two before the first",
    ),
    Row(
        "triton_matmul_tma_sm90",
        "barrier#1[01]",
        "bar.sync",
        "two barriers stand between the last products and the stores over their tiles; one is "
        "enough",
    ),
    Row(
        "triton_matmul_s8_sm90",
        "barrier#1",
        "bar.sync",
        "three stages: the next copy goes to the tile of the product before this one, and all "
        "warps had waited for that when they came to the barrier at the begin of the loop body",
    ),
    Row(
        "triton_attention_sm90",
        "fence#2",
        "fence.proxy.async",
        "the fence before the first product of the iteration covers the tile of V, too",
    ),
    Row(
        "triton_attention_sm90",
        "wait#3",
        "cp.async.wait_group",
        "what is pending after the loop fills the K and V tiles; the output is staged over Q",
    ),
    Row(
        "triton_attention_sm90",
        "barrier#2",
        "bar.sync",
        "the output is staged over Q, whose last readers passed the barrier in the loop body",
    ),
]


def reason_for(program: str, mutant) -> str | None:
    for row in REDUNDANT:
        if (
            any(fnmatchcase(program, glob) for glob in row.programs.split())
            and fnmatchcase(mutant.key, row.mutants)
            and re.search(row.statement, mutant.was)
        ):
            return row.reason
    return None
