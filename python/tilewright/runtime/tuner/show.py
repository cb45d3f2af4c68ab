"""What a user sees of tuning: a live bar while it runs, a table at its end.

`rich` is loaded when something is shown: who only names `autotune` does not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tilewright.runtime.tuner.trials import Outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def make_console() -> Console:
    """On the standard error stream: tuning says nothing to programs that read our output."""
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else Console(stderr=True, width=120)


class Bar:
    """Counts candidates of one phase and names the fastest so far."""

    def __init__(self, progress: Progress, task: Any) -> None:
        self._progress, self._task = progress, task
        self._best: float | None = None

    def advance(self, latency: float | None = None) -> None:
        """One more is done."""
        if latency is not None:
            self._best = min(latency, self._best or latency)
        best = "" if self._best is None else f"best {self._best:.3f} ms"
        self._progress.update(self._task, advance=1, best=best)


@contextmanager
def bar(console: Console, label: str, total: int) -> Iterator[Bar]:
    """A live bar; nothing where the console is no terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[best]}"),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        yield Bar(progress, progress.add_task(label, total=total, best=""))


def show_table(console: Console, name: str, outcomes: Sequence[Outcome], where: str) -> None:
    """All candidates, the fastest first; those that failed last, with the reason. Times of a
    virtual GPU are predicted, and the table says so."""
    from rich.table import Table

    timed = sorted((o for o in outcomes if o.latency is not None), key=lambda o: o.latency or 0.0)
    machine = next((p.machine for o in timed if (p := getattr(o.latency, "prediction", None))), "")
    failed = [o for o in outcomes if o.latency is None]
    keys = list(dict.fromkeys(key for o in outcomes for key in o.config))
    unit = "ms, predicted" if machine else "ms"
    table = Table(*keys, unit, "", title=f"'{name}' on {where}")
    for rank, outcome in enumerate(timed):
        note = "fastest" if rank == 0 else f"{outcome.latency / timed[0].latency:.2f} x"
        prediction = getattr(outcome.latency, "prediction", None)
        if prediction is not None:
            note += f", limited by {prediction.limited_by}"
        table.add_row(*_cells(outcome, keys), f"{outcome.latency:.4g}", note)
    for outcome in failed:
        table.add_row(*_cells(outcome, keys), "-", outcome.error or "")
    if machine:
        table.caption = f"times are predictions of the cost model for {machine}, not measurements"
    elif timed and timed[0].ref_latency is not None:
        table.caption = f"the reference takes {timed[0].ref_latency:.3f} ms"
    console.print(table)


def _cells(outcome: Outcome, keys: Sequence[str]) -> list[str]:
    return [str(outcome.config.get(key, "")) for key in keys]
