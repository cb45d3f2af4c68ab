#!/usr/bin/env python3
"""Lists commits whose message does not say why.

A commit is `[Room] Imperative subject` and a body: why, what showed it, which command proves it
(CONTRIBUTING.md, "Style in short"). Merges are left out, and what was committed before this lint.

    usage: scripts/check_commits.py [ROOT]      prints one line for each such commit
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from faults import print_faults

#: The last commit that is not judged.
SINCE = "bd8acd98b94d499419151c5a3824eb96257c5680"
SUBJECT = re.compile(r"\[[A-Za-z][A-Za-z0-9, +]*\] \S")
TRAILER = re.compile(r"[A-Z][A-Za-z-]+: ")


def faults_of(message: str) -> list[str]:
    """What is missing in a message."""
    subject, *rest = message.strip().splitlines() or [""]
    faults = []
    if not SUBJECT.match(subject):
        faults.append("the subject is not '[Room] What changes'")
    if not any(line.strip() and not TRAILER.match(line) for line in rest):
        faults.append("no body says why")
    return faults


def faults_below(root: Path, since: str = SINCE) -> list[str]:
    """One line for each fault, newest commit first; none where the history is not there."""
    log = ["log", "--no-merges", "-z", "--format=%h %B", f"{since}..HEAD"]
    command = ["git", "-c", "safe.directory=*", *log]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    commits = [commit.partition(" ") for commit in done.stdout.split("\0") if commit]
    return [f"{name}: {fault}" for name, _, message in commits for fault in faults_of(message)]


if __name__ == "__main__":
    sys.exit(print_faults(faults_below))
