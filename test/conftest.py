"""For all Python tests: compiled code is kept in a folder of this run, not in the user's."""

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="tilewright-test-cache-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["TILEWRIGHT_CACHE_DIR"] = _folder
