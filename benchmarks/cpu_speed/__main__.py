"""Prints figures as JSON, one a line: python -m cpu_speed [products] [attention] [rows]"""

from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import asdict

PARTS = ("products", "attention", "rows")


def main() -> None:
    os.environ["TILEWRIGHT_DEVICE"] = "cpu"
    for part in sys.argv[1:] or PARTS:
        for figure in importlib.import_module(f"cpu_speed.{part}").figures():
            print(json.dumps(asdict(figure)), flush=True)


if __name__ == "__main__":
    main()
