"""Random numbers: `T.rng_init`, `T.rng_rand`, `T.rng_rand_float`.

The generator is Philox4x32-10, a function of a key (the seed) and a counter, so that a number
depends on nothing but where it stands in its sequence: draw n of sequence s is word n % 4 of the
block with counter (n // 4, s). Each thread has a sequence of its own. In T.Parallel there are no
threads: there each iteration has one, whatever thread runs it. All engines give the same numbers.
"""

from __future__ import annotations

import math
from typing import Any

from tilewright.frontend.trace import Region, TraceState, describe, is_kernel_value, is_scalar
from tilewright.language import scalars
from tilewright.language.kernel import _in_kernel
from tilewright.language.more_math import constant
from tilewright.language.threads import get_block_binding, get_thread_binding, get_thread_extent
from tilewright.support.errors import LanguageError

_GENERATORS = ("curandStatePhilox4_32_10_t", "curandStateMRG32k3a_t", "curandStateXORWOW_t")
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


class Generator:
    """The state of the generator that the last `T.rng_init` has set."""

    def __init__(self, state: TraceState, is_by_thread: bool) -> None:
        # Tiles and variables of the kernel stand before its first region that is open.
        inner = [region for region in state.regions if region.kind != "kernel"]
        depth = inner[0].depth if inner else state.core.depth()

        def variable(name: str) -> Any:
            return state.core.alloc_var_outside(depth, "uint64", None, name)

        self.seed, self.sequence = variable("rng_seed"), variable("rng_sequence")
        self.position = variable("rng_position")
        self.is_by_thread = is_by_thread
        self.loop: Region | None = None  # a T.Parallel that draws,
        self.drawn = 0  # and how often in one iteration


def _uint64(value: Any) -> Any:
    if not is_kernel_value(value):
        return constant(int(value) & (2**64 - 1), "uint64")
    return scalars.cast(value, "uint64")


def rng_init(
    seed: Any, seq: Any = None, off: Any = 0, generator: str = "curandStatePhilox4_32_10_t"
) -> None:
    """Starts the random numbers of each thread: sequence `seq` (the number of the thread in the
    grid's first dimension) of `seed`, from its number `off` on. All names of generators mean
    Philox4x32-10.

    Example:
        T.rng_init(42)
        for i, j in T.Parallel(64, 64):
            B[i, j] = T.rng_rand_float()
    """
    state = _in_kernel("T.rng_init")
    if state.innermost(("parallel",)) is not None:
        raise LanguageError("'T.rng_init' inside T.Parallel", hint="start it before the loop")
    if generator not in _GENERATORS:
        raise LanguageError(
            f"'T.rng_init': the generator is one of {', '.join(_GENERATORS)}; got {generator!r}"
        )
    for value in (seed, off, 0 if seq is None else seq):
        if not is_scalar(value):
            raise LanguageError(f"'T.rng_init' takes numbers, got {describe(value)}")
    if state.generator is None:
        state.generator = Generator(state, seq is None)
    made = state.generator
    if made.is_by_thread != (seq is None):
        raise LanguageError("each 'T.rng_init' of a kernel names a sequence ('seq'), or none does")
    if seq is None:
        # The part of the block; a draw adds the thread, or the iteration.
        seq = get_block_binding() * get_thread_extent()
    made.seed.store(_uint64(seed))
    made.sequence.store(_uint64(seq))
    made.position.store(_uint64(off))


def _iteration(loop: Region) -> Any:
    """The number of an iteration of a T.Parallel, row by row."""
    number: Any = 0
    for variable, extent in zip(loop.variables, loop.extents, strict=True):
        number = number * extent + variable
    return number


def _location(state: TraceState, made: Generator, count: int) -> tuple[Any, Any]:
    """The sequence and the position of the next `count` numbers, which are drawn with it."""
    loop = state.innermost(("parallel",))
    position = made.position.load()
    if loop is None:
        made.position.store(position + constant(count, "uint64"))
        sequence = made.sequence.load()
        if made.is_by_thread:
            sequence = sequence + _uint64(get_thread_binding())
        return sequence, position
    if state.regions[-1].kind not in ("parallel", "if"):
        raise LanguageError(
            "random numbers in a loop inside T.Parallel are not supported yet",
            hint="make the inner loop a dimension of T.Parallel",
        )
    if made.loop is not loop:
        made.loop, made.drawn = loop, 0
        loop.after.append(lambda: _advance(made))
    first = made.drawn
    made.drawn += count
    # Apart from the sequences of threads: those have small numbers.
    high = _uint64(_iteration(loop) + 1) << constant(32, "uint64")
    return made.sequence.load() + high, position + constant(first, "uint64")


def _advance(made: Generator) -> None:
    """After a loop: its draws have been made."""
    made.position.store(made.position.load() + constant(made.drawn, "uint64"))
    made.loop = None


def _low(value: Any) -> Any:
    return scalars.cast(value, "uint32")


def _high(value: Any) -> Any:
    return scalars.cast(value >> constant(32, "uint64"), "uint32")


def _philox(key: list[Any], counter: list[Any]) -> list[Any]:
    """The four numbers of a block."""
    for round_number in range(_ROUNDS):
        products = [
            scalars.cast(counter[2 * n], "uint64") * constant(factor, "uint64")
            for n, factor in enumerate(_MULTIPLIERS)
        ]
        counter = [
            _high(products[1]) ^ counter[1] ^ key[0],
            _low(products[1]),
            _high(products[0]) ^ counter[3] ^ key[1],
            _low(products[0]),
        ]
        if round_number + 1 < _ROUNDS:
            key = [k + constant(step, "uint32") for k, step in zip(key, _KEY_STEPS, strict=True)]
    return counter


def _draw(what: str, count: int = 1) -> list[Any]:
    """The next `count` numbers of 32 bits."""
    state = _in_kernel(what)
    made = state.generator
    if made is None:
        raise LanguageError(f"'{what}' before 'T.rng_init(seed)'")
    sequence, position = _location(state, made, count)
    seed = made.seed.load()
    numbers = []
    for n in range(count):
        at = position + constant(n, "uint64")
        block = at >> constant(2, "uint64")
        words = _philox(
            [_low(seed), _high(seed)], [_low(block), _high(block), _low(sequence), _high(sequence)]
        )
        which = _low(at) & constant(3, "uint32")
        number = words[3]
        for word in (2, 1, 0):
            number = scalars.if_then_else(which == constant(word, "uint32"), words[word], number)
        numbers.append(number)
    return numbers


def rng_rand() -> Any:
    """The next random number, a uint32.

    Example:
        T.rng_init(42)
        for i, j in T.Parallel(64, 64):
            B[i, j] = T.cast(T.rng_rand(), "float32")
    """
    return _draw("T.rng_rand")[0]


def _uniform(number: Any, dtype: str) -> Any:
    """A uint32 as a float in (0, 1]."""
    step = constant(2.0**-32, dtype)
    return scalars.cast(number, dtype) * step + constant(2.0**-33, dtype)


def rng_rand_float(bit: int = 32, dist: str = "uniform") -> Any:
    """The next random float of 32 or 64 bits: "uniform" in (0, 1], or "normal" (which takes two
    numbers of the sequence).

    Example:
        T.rng_init(42)
        for i, j in T.Parallel(64, 64):
            B[i, j] = T.rng_rand_float()
    """
    if bit not in (32, 64):
        raise LanguageError(f"'T.rng_rand_float': a float has 32 or 64 bits, got {bit!r}")
    dtype = f"float{bit}"
    if dist == "uniform":
        return _uniform(_draw("T.rng_rand_float")[0], dtype)
    if dist != "normal":
        raise LanguageError(f"'T.rng_rand_float': dist is 'uniform' or 'normal', got {dist!r}")
    first, second = (_uniform(number, dtype) for number in _draw("T.rng_rand_float", 2))
    radius = scalars.sqrt(constant(-2.0, dtype) * scalars.log(first))  # Box and Muller
    return radius * scalars.sin(constant(2 * math.pi, dtype) * second)
