"""Programs that the executor cannot run yet, and what it lacks.

Their tests are expected to fail, strictly: once one passes, its row here must go (the test says
so), and only then does docs/internals/vgpu-validation.md count it: a program that does not run
validates nothing.
"""

from fnmatch import fnmatchcase

NOT_YET: dict[str, str] = {}


def what_lacks(program_name: str) -> str | None:
    """What the executor lacks for a program; None if it runs."""
    for pattern, lack in NOT_YET.items():
        if fnmatchcase(program_name, pattern):
            return lack
    return None
