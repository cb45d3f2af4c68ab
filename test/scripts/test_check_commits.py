"""The lint of commits: what it refuses, and that ours say why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import check_commits
import pytest
from check_commits import faults_below, faults_of

ROOT = Path(check_commits.__file__).resolve().parent.parent
WHY = "A vector crossed the edge in attention; test_tails shows it."


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        (f"[Access] Refuse vectors across an edge\n\n{WHY}\n", []),
        (f"[Access, vgpu] Refuse vectors across an edge\n\n{WHY}\n", []),
        ("[Access] Refuse vectors across an edge\n", ["no body says why"]),
        ("[Access] Refuse them\n\nReviewed-by: A Person\n", ["no body says why"]),
        (f"refuse vectors\n\n{WHY}\n", ["the subject is not '[Room] What changes'"]),
    ],
)
def test_a_message_has_a_room_and_a_reason(message: str, faults: list[str]) -> None:
    assert faults_of(message) == faults


def test_commits_after_the_first_are_judged(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@localhost"]
        command = ["git", *identity, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "old")
    first = git("rev-parse", "HEAD")
    git("commit", "-q", "--allow-empty", "-m", "[Access] Refuse vectors", "-m", WHY)
    assert faults_below(tmp_path, first) == []
    git("commit", "-q", "--allow-empty", "-m", "[Access] Refuse vectors")
    assert faults_below(tmp_path, first) == [f"{git('log', '-1', '--format=%h')}: no body says why"]


def test_a_tree_without_history_has_no_faults(tmp_path: Path) -> None:
    assert faults_below(tmp_path) == []


def test_our_commits_say_why() -> None:
    assert faults_below(ROOT) == []
