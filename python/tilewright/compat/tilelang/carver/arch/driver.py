"""Device queries of persistent kernels, answered for the chosen architecture."""

from __future__ import annotations

from tilewright.compat import refuse_rest
from tilewright.runtime.device import multiprocessors


def get_num_sms(device_id: int = 0) -> int:
    """The multiprocessors of the architecture's full device: blocks of a persistent kernel."""
    return multiprocessors()


refuse_rest(__name__)
