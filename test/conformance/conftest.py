"""Plans of the kernels that are compiled for a GPU are re-verified."""

import os

os.environ.setdefault("TILEWRIGHT_CHECK_PLANS", "1")
