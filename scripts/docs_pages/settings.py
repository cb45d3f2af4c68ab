"""Environment variables and pass configs, from the tables that the program reads."""

from __future__ import annotations

from pathlib import Path


def environment_page(_out: Path) -> str:
    """The variables with their meanings."""
    from tilewright.support.environment import MEANINGS

    rows = [f"| `{name}` | {meaning} |" for name, meaning in MEANINGS.items()]
    return "\n".join(["| variable | meaning |", "|---|---|", *rows]) + "\n"


def pass_config_page(_out: Path) -> str:
    """The keys, those with an effect first."""
    from tilewright.runtime.pass_config import EFFECTS, PassConfigKey

    effective = [f"| `{key.value}` | {EFFECTS[key]} |" for key in PassConfigKey if key in EFFECTS]
    others = [f"- `{key.value}`" for key in PassConfigKey if key not in EFFECTS]
    table = "\n".join(["| key | effect |", "|---|---|", *effective])
    listing = "\n".join(others)
    return (
        f"{table}\n\n## Accepted, without effect\n\nThese steer lowerings of TileLang that "
        f"Tilewright decides itself, with a proof.\n\n{listing}\n"
    )
