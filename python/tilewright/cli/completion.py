"""`tw completion`: scripts for bash, zsh and fish, made from the parser itself."""

from __future__ import annotations

import argparse
import shlex


def show_completion(parser: argparse.ArgumentParser, shell: str) -> int:
    """Prints the script for a shell; the exit status."""
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](_commands(parser)))
    return 0


class Command:
    """A command with what may follow it."""

    def __init__(self, name: str, help_text: str, parser: argparse.ArgumentParser) -> None:
        self.name, self.help = name, help_text
        self.options: list[str] = []
        self.values: dict[str, list[str]] = {}  # of options, and "" of the positional argument
        self.takes_file = False
        for action in parser._actions:
            self.options += action.option_strings
            choices = [str(choice) for choice in action.choices or ()]
            if action.dest == "device":
                from tilewright.runtime.device import DEVICES

                choices = [*DEVICES, "cuda:0"]
            for option in action.option_strings or [""]:
                if choices:
                    self.values[option] = choices
            self.takes_file |= action.dest in ("file", "output")


def _commands(parser: argparse.ArgumentParser) -> list[Command]:
    (group,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    helps = {action.dest: action.help or "" for action in group._choices_actions}
    return [Command(name, helps[name], sub) for name, sub in group.choices.items()]


def _bash(commands: list[Command]) -> str:
    names = " ".join(command.name for command in commands)
    cases = []
    for command in commands:
        cases += [
            f'    "{command.name} {option}") words="{" ".join(values)}"; files= ;;'
            for option, values in command.values.items()
            if option
        ]
    for command in commands:
        words = " ".join([*command.options, *command.values.get("", [])])
        files = "yes" if command.takes_file else ""
        cases.append(f'    "{command.name} "*) words="{words}"; files={files} ;;')
    return "\n".join(
        [
            "_tw() {",
            '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
            "  local words= files=",
            "  COMP_WORDBREAKS=${COMP_WORDBREAKS//:}",
            "  if [ $COMP_CWORD -eq 1 ]; then",
            f'    words="{names} --help --version"',
            "  else",
            '    case "${COMP_WORDS[1]} $prev" in',
            *cases,
            "    esac",
            "  fi",
            '  COMPREPLY=( $(compgen -W "$words" -- "$cur") )',
            '  if [ -n "$files" ] && [[ "$cur" != -* ]]; then',
            '    COMPREPLY+=( $(compgen -f -- "$cur") )',
            "  fi",
            "}",
            "complete -o filenames -F _tw tw",
        ]
    )


def _zsh(commands: list[Command]) -> str:
    names = " ".join(shlex.quote(f"{c.name}:{c.help}") for c in commands)
    lines = ["#compdef tw", "_tw() {", "  local -a names", f"  names=({names})"]
    lines += ["  if (( CURRENT == 2 )); then", "    _describe command names", "    return", "  fi"]
    lines.append('  case "$words[2] $words[CURRENT-1]" in')
    for command in commands:
        for option, values in command.values.items():
            if option:
                lines.append(f'    "{command.name} {option}") compadd -- {" ".join(values)} ;;')
    for command in commands:
        words = " ".join([*command.options, *command.values.get("", [])])
        files = " _files;" if command.takes_file else ""
        lines.append(f'    "{command.name} "*){files} compadd -- {words} ;;')
    return "\n".join([*lines, "  esac", "}", "compdef _tw tw"])


def _fish(commands: list[Command]) -> str:
    lines = ["complete -c tw -f"]
    first = "not __fish_seen_subcommand_from " + " ".join(c.name for c in commands)
    for command in commands:
        help_text = shlex.quote(command.help)
        lines.append(f"complete -c tw -n '{first}' -a {command.name} -d {help_text}")
        seen = f"__fish_seen_subcommand_from {command.name}"
        if command.takes_file:
            lines.append(f"complete -c tw -n '{seen}' -F")
        for option in command.options:
            kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            values = command.values.get(option)
            takes = f" -xa '{' '.join(values)}'" if values else ""
            lines.append(f"complete -c tw -n '{seen}' {kind}{takes}")
        if "" in command.values:
            lines.append(f"complete -c tw -n '{seen}' -a '{' '.join(command.values[''])}'")
    return "\n".join(lines)
