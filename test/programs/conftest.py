"""Programs under test are written for TileLang: its names resolve to Tilewright."""

from tilewright.cli import imports

imports.install()
