"""Which known name was probably meant: only one that a slip of the fingers explains.

A suggestion that is wrong costs more than none: `T.fma` is not `T.max`, `T.asin` not `T.sin`. So
the first letter must agree, names that differ in digits are different things (`log2`, `log10`), and
the number of slips is bounded by the length.
"""

from __future__ import annotations

from collections.abc import Iterable


def close_name(name: str, known: Iterable[str]) -> str | None:
    """The known name nearest to `name`, if it is near."""
    candidates = list(dict.fromkeys(known))
    plain = _plain(name)
    for candidate in candidates:
        if candidate != name and _plain(candidate) == plain:  # case and underscores
            return candidate
    best, fewest = None, _allowed(name) + 1
    for candidate in candidates:
        if not _may_be_meant(name, candidate) or not _allowed(candidate):
            continue
        slips = count_slips(name.lower(), candidate.lower(), fewest)
        if slips < fewest:
            best, fewest = candidate, slips
    return best


def hint_for(name: str, known: Iterable[str], prefix: str = "") -> str | None:
    """The question for the user, or None."""
    close = close_name(name, known)
    return f"did you mean '{prefix}{close}'?" if close else None


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _allowed(name: str) -> int:
    """Slips that a name of this length may have."""
    return 0 if len(name) < 3 else 1 if len(name) < 6 else 2


def _may_be_meant(name: str, candidate: str) -> bool:
    if not candidate or candidate == name or candidate[0].lower() != name[0].lower():
        return False
    digits, others = (
        [[c for c in text if c.isdigit() == wanted] for text in (name, candidate)]
        for wanted in (True, False)
    )
    return not (others[0] == others[1] and digits[0] != digits[1])


def count_slips(a: str, b: str, limit: int) -> int:
    """Letters left out, added, changed, or swapped with their neighbour; at most `limit`."""
    if abs(len(a) - len(b)) >= limit:
        return limit
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) >= limit:
            return limit
    return min(row[-1], limit)
