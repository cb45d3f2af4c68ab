"""What the check scripts share: each looks below a root and prints one line for each fault."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


def print_faults(faults_below: Callable[[Path], list[str]]) -> int:
    """Prints the faults below the root of the command line, or below the checkout; 1 if any."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    faults = faults_below(root)
    for fault in faults:
        print(fault)
    return 1 if faults else 0
