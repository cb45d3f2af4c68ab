"""Choices of parameters in which every pair of values occurs that can occur."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from typing import Any

Choice = dict[str, Any]
Pair = tuple[tuple[str, int], tuple[str, int]]


def _pairs_of(positions: Mapping[str, int]) -> set[Pair]:
    return set(itertools.combinations(sorted(positions.items()), 2))


def all_pairs(parameters: Mapping[str, tuple[Any, ...]], has: Callable[[Choice], bool],
              wanted: Callable[[str, str], bool] = lambda first, second: True,
              seed: int = 0, tries: int = 20) -> list[Choice]:  # fmt: skip
    """Greedy: each choice starts from a pair that is missing, and the fill that covers most wins.

    `wanted` says of which parameters, in the order of the alphabet, all pairs of values must occur.
    A pair for which no fill exists among `tries` is taken not to exist.
    """
    rng = random.Random(seed)
    names = sorted(parameters)
    missing = {
        pair
        for first, second in itertools.combinations(names, 2)
        if wanted(first, second)
        for pair in itertools.product(
            [(first, i) for i in range(len(parameters[first]))],
            [(second, i) for i in range(len(parameters[second]))],
        )
    }
    choices = []
    for pair in sorted(missing):
        if pair not in missing:
            continue
        best: tuple[int, dict[str, int]] | None = None
        for _ in range(tries):
            positions = {name: rng.randrange(len(parameters[name])) for name in names}
            positions.update(pair)
            if has({name: parameters[name][at] for name, at in positions.items()}):
                covered = len(_pairs_of(positions) & missing)
                if best is None or covered > best[0]:
                    best = (covered, positions)
        missing.discard(pair)
        if best is not None:
            missing -= _pairs_of(best[1])
            choices.append({name: parameters[name][at] for name, at in best[1].items()})
    return choices
