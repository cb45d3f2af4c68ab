"""What was measured before: a long measurement that was interrupted goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Record:
    """Answers by name, a line of JSON each, in a file; without a file they are only computed."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known: dict[str, Any] = {}
        #: Whether the last line of the file is one of a run that was stopped.
        self.is_cut = bool(path and path.exists() and path.read_text()[-1:].strip())
        if path and path.exists():
            for line in path.read_text().splitlines():
                try:
                    name, answer = json.loads(line)
                except ValueError:
                    continue
                self.known[name] = answer

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """The answer to `name`, computed if it is not known."""
        if name not in self.known:
            self.known[name] = compute()
            if self.path:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a") as file:
                    file.write("\n" * self.is_cut + json.dumps([name, self.known[name]]) + "\n")
                self.is_cut = False
        return self.known[name]
