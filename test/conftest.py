"""For all Python tests: compiled code is kept in a folder of this run, not in the user's; kernels
run on the CPU where nothing else is said, also on a machine with a GPU; a bounded long run
(TILEWRIGHT_LONG, scripts/run_tests.py) ends in time; Ctrl-C works in the background."""

import atexit
import os
import shutil
import signal
import tempfile
import time

import pytest

_folder = tempfile.mkdtemp(prefix="tilewright-test-cache-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["TILEWRIGHT_CACHE_DIR"] = _folder
os.environ["TILEWRIGHT_LIBCUDA"] = "none"

# A shell starts its background jobs with SIGINT ignored, and Python leaves it so: launches that a
# test means to interrupt would go on for ever, here and in the processes that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips slow tests once the time is used up."""
    end = float(os.environ.get("TILEWRIGHT_LONG_END", "inf"))
    if item.get_closest_marker("slow") and time.time() > end:
        pytest.skip("the minutes of TILEWRIGHT_LONG are used up")
