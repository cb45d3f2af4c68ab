"""Choices of parameters in which every pair of values occurs that can occur, and of some
parameters every combination."""

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
              within: tuple[str, ...] = (), seed: int = 0, tries: int = 20
              ) -> list[Choice]:  # fmt: skip
    """Greedy: each choice starts from a combination of the values of `within`, then from a pair
    that is missing, and the fill that covers most wins.

    `wanted` says of which parameters, in the order of the alphabet, all pairs of values must occur.
    What no fill among `tries` makes a choice of is taken not to exist.
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

    def add(fixed: tuple[tuple[str, int], ...]) -> None:
        """The best fill around these positions."""
        best: tuple[int, dict[str, int]] | None = None
        for _ in range(tries):
            positions = {name: rng.randrange(len(parameters[name])) for name in names}
            positions.update(fixed)
            if has({name: parameters[name][at] for name, at in positions.items()}):
                covered = len(_pairs_of(positions) & missing)
                if best is None or covered > best[0]:
                    best = (covered, positions)
        if best is not None:
            missing.difference_update(_pairs_of(best[1]))
            choices.append({name: parameters[name][at] for name, at in best[1].items()})

    kept = [name for name in within if name in parameters]
    for places in itertools.product(*(range(len(parameters[name])) for name in kept)):
        if kept:
            add(tuple(zip(kept, places, strict=True)))
    for pair in sorted(missing):
        if pair in missing:
            add(pair)
            missing.discard(pair)
    return choices
