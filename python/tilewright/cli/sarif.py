"""SARIF 2.1.0: the form in which CI systems take the results of checks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tilewright.support.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_sarif(problems: Sequence[Any], meanings: Mapping[str, str]) -> dict[str, Any]:
    """The problems of `tw check` as a SARIF log."""
    rules = list(dict.fromkeys(problem.rule for problem in problems))
    driver = {
        "name": "Tilewright",
        "version": __version__,
        "rules": [
            {"id": rule, "shortDescription": {"text": meanings.get(rule, rule.replace("_", " "))}}
            for rule in rules
        ],
    }
    results = [_result(problem, rules) for problem in problems]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "utf16CodeUnits"}],
    }


def _result(problem: Any, rules: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": problem.rule,
        "ruleIndex": rules.index(problem.rule),
        "level": problem.level,
        "message": {"text": problem.message},
        "properties": {"kernel": problem.kernel, "engines": list(problem.engines)},
    }
    if problem.file:
        region = {"startLine": problem.line}
        if problem.column:
            region["startColumn"] = problem.column
        artifact = {"uri": _uri(problem.file)}
        result["locations"] = [
            {"physicalLocation": {"artifactLocation": artifact, "region": region}}
        ]
    return result


def _uri(file: str) -> str:
    """Relative to the working directory where the file is below it."""
    relative = os.path.relpath(file)
    if relative.startswith(".."):
        return Path(file).resolve().as_uri()
    return Path(relative).as_posix()
