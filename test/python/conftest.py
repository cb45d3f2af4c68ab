"""Programs under test may be written for TileLang: its names resolve to Tilewright."""

from tilewright.cli import imports

imports.install()
