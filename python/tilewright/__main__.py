"""`python -m tilewright`; the commands are in tilewright.cli."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line."""
    from tilewright.cli.commands import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
