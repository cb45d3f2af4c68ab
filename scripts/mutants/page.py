"""docs/internals/mutants.md: what was judged, and what survived with which reason."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from mutants.judge import KILLERS, key_of, read_killers, results_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "internals" / "mutants.md"
REASONS = HERE / "reasons.json"


def _key(mutant: dict) -> tuple[str, str, str]:
    return mutant["file"], mutant["text"], mutant["becomes"]


def reasons() -> dict[tuple[str, str, str], str]:
    """Why a mutant may survive: it computes the same, or what it changes is no result. A reason
    holds for one place only."""
    return {_key(entry): entry["why"] for entry in json.loads(REASONS.read_text())}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


def _rooms_table(mutants: list[dict], state: dict[int, str]) -> str:
    rooms = list(dict.fromkeys(m["room"] for m in mutants))
    columns = (
        *("drawn", "judged", "killed", "no change", "survived", "not reached"),
        "killed of those that change something",
    )
    lines = [f"| room | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for room in [*rooms, "all"]:
        own = [m for m in mutants if room in (m["room"], "all")]
        count = Counter(state[m["id"]] for m in own)
        judged = sum(n for name, n in count.items() if name != "not judged")
        real = judged - count["no change"]
        rate = f"{100 * count['killed'] / real:.0f}%" if real else ""
        cells = (len(own), judged, *(count[c] for c in columns[2:6]), rate)
        lines.append(f"| {room} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _kinds_table(mutants: list[dict], state: dict[int, str]) -> str:
    lines = [
        "| kind | judged | killed | no change | survived or not reached |",
        "|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(m["kind"] for m in mutants):
        count = Counter(state[m["id"]] for m in mutants if m["kind"] == kind)
        left = count["survived"] + count["not reached"]
        judged = count["killed"] + count["no change"] + left
        lines.append(f"| {kind} | {judged} | {count['killed']} | {count['no change']} | {left} |")
    return "\n".join(lines)


def _list(mutants: list[dict], results: dict[int, dict], why: dict) -> str:
    lines = ["| where | kind | was | becomes | tests | why |", "|---|---|---|---|---|---|"]
    for m in sorted(mutants, key=lambda m: (m["file"], m["line"])):
        tests = results[m["id"]]["tests"]
        lines.append(
            f"| {m['file']}:{m['line']} | {m['kind']} | `{_cell(m['was'])}` "
            f"| `{_cell(m['becomes'])}` | {tests} | {why.get(_key(m), '')} |"
        )
    return "\n".join(lines)


def keep_killers(mutants: list[dict], results: dict[int, dict], file: Path) -> None:
    """Adds to what earlier runs knew: which test killed a mutant. The next run tries that first."""
    killers = read_killers(file)
    for m in mutants:
        if (result := results.get(m["id"])) and result["status"] == "killed":
            killers[key_of(m)] = result["by"]
    file.write_text("".join(f"{key} {test}\n" for key, test in sorted(killers.items())))


def write_page(tree: Path, folder: Path) -> None:
    from mutants.items import SEEDS

    mutants = json.loads((tree / "mutants.json").read_text())
    results, why = results_of(folder), reasons()
    keep_killers(mutants, results, KILLERS)
    state = {}
    for m in mutants:
        result = results.get(m["id"])
        status = result["status"] if result else "not judged"
        if status != "killed" and result and _key(m) in why:
            status = "no change"
        state[m["id"]] = {"unreached": "not reached"}.get(status, status)
    how = Counter(r["how"] for r in results.values() if r["status"] == "killed")
    by = Counter(r["by"].split(":")[0] for r in results.values() if r["status"] == "killed")
    parts = [
        (HERE / "page.md").read_text().format(seeds=sum(SEEDS.values())).rstrip(),
        "## Rooms",
        _rooms_table(mutants, state),
        f"Killed by: {', '.join(f'{name} {n}' for name, n in by.most_common())}. "
        f"{', '.join(f'{n} {name}' for name, n in how.most_common())}.",
        "## Kinds",
        _kinds_table(mutants, state),
        "## Survivors",
        "Without a reason: a test is missing, or the question is open.",
        _list([m for m in mutants if state[m["id"]] in ("survived", "not reached")], results, why),
        "## Mutants that change nothing",
        _list([m for m in mutants if state[m["id"]] == "no change"], results, why),
    ]
    PAGE.write_text("\n\n".join(parts) + "\n")
