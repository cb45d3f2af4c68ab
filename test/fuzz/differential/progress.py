"""How far the seeds of a generator have been run: bounded runs go on where the last one ended.

The record lies in the build folder. It belongs to one generator: when the text of a module that
draws programs changes, the same seeds are other programs, and counts begin anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from differential.campaign import Outcome

HERE = Path(__file__).parent
RECORD = HERE.parents[2] / "build" / "differential.json"
#: The modules that decide what the program of a seed is.
DRAWING = ("emit", "expressions", "generator", "indices", "program", "ranges", "statements")


@dataclass
class Progress:
    """The seeds from `first` to `next` have been run, failures included."""

    generator: str
    first: int
    next: int
    exact: int = 0
    failed: int = 0

    @classmethod
    def load(cls, first: int, stop: int, record: Path = RECORD) -> Progress:
        """What the record says of this generator's seeds from `first` on; when all up to `stop`
        have been run, they begin anew."""
        digest = hashlib.sha256()
        for name in DRAWING:
            digest.update((HERE / f"{name}.py").read_bytes())
        fresh = cls(digest.hexdigest()[:16], first, first)
        try:
            kept = cls(**json.loads(record.read_text()))
        except (OSError, ValueError, TypeError):
            return fresh
        is_same = (kept.generator, kept.first) == (fresh.generator, first)
        return kept if is_same and kept.next < stop else fresh

    def add(self, outcome: Outcome, record: Path = RECORD) -> None:
        """Counts a run of the next seeds and keeps the record."""
        self.next += outcome.programs
        self.exact += outcome.exact
        self.failed += len(outcome.failures)
        part = record.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(asdict(self)) + "\n")
        part.replace(record)

    def __str__(self) -> str:
        return (
            f"seeds {self.first} to {self.next - 1} of generator {self.generator}: "
            f"{self.exact} exact, {self.failed} failed"
        )
