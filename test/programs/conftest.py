"""Programs under test are written for TileLang: its names resolve to Tilewright."""

import os

from tilewright.compat import imports

imports.install()
# Every plan of every kernel that a test compiles for a GPU is re-verified.
os.environ.setdefault("TILEWRIGHT_CHECK_PLANS", "1")
