"""The options of `tw`, from its parser, and of the other tools, from their help."""

from __future__ import annotations

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def page(_out: Path) -> str:
    """All commands."""
    from tilewright.cli.commands import make_parser

    parser = make_parser()
    parts = [f"## tw\n\n{parser.description}\n\n```text\n{(parser.epilog or '').strip()}\n```\n"]
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {choice.dest: choice.help for choice in commands._choices_actions}
    for name, command in commands.choices.items():
        parts.append(_command(name, helps.get(name) or "", command))
    return "\n".join(parts)


def _command(name: str, help_: str, parser: argparse.ArgumentParser) -> str:
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    text = f"## tw {name}\n\n{help_[:1].upper()}{help_[1:]}. {parser.description or ''}\n\n"
    text += f"```text\n{usage}\n```\n\n| argument | meaning |\n|---|---|\n"
    for action in parser._actions:
        if action.dest == "help":
            continue
        spelling = ", ".join(action.option_strings) or (action.metavar or action.dest)
        if action.option_strings and action.nargs != 0:
            spelling += f" {action.metavar or action.dest.upper()}"
        meaning = action.help or ""
        if action.choices and len(list(action.choices)) < 12:
            meaning += f" ({', '.join(map(str, action.choices))})"
        if action.default not in (None, False, [], argparse.SUPPRESS):
            meaning += f"; default: {action.default}"
        text += f"| `{spelling}` | {meaning.replace('%%', '%').replace('|', chr(92) + '|')} |\n"
    epilog = (parser.epilog or "").replace("%%", "%")
    return text + (f"\n{epilog[:1].upper()}{epilog[1:]}\n" if epilog else "")
