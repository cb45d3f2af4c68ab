"""The kinds of random programs: how a seed becomes a program, and a program a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from differential import blocks, composed, emit, generator, pipelines, ranges, threads, values
from differential.program import Program


@dataclass(frozen=True)
class Kind:
    """`is_sound` tells whether a program that was made smaller is still one of its kind."""

    generate: Callable[[int], Program]
    emit: Callable[..., str]
    is_sound: Callable[[Program], bool]


KINDS = {
    "tiles": Kind(generator.generate, emit.emit, ranges.is_sound),
    "threads": Kind(threads.generate, threads.emit, threads.is_sound),
    "values": Kind(values.generate, values.emit, values.is_sound),
    "statements": Kind(composed.generate, composed.emit, composed.is_sound),
    "pipelines": Kind(pipelines.generate, pipelines.emit, pipelines.is_sound),
    "blocks": Kind(blocks.generate, blocks.emit, blocks.is_sound),
}
