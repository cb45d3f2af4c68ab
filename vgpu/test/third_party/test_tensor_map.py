"""Tensor maps that TMA cannot have are refused with the numbers that do not fit."""

import numpy as np
import pytest
from driver import NOT_BUILT, launch
from program import Case, TensorMapArg
from programs import PROGRAMS


@pytest.mark.parametrize(
    ("array", "box", "options", "message"),
    [
        ((20, 32), (8, 16), {"swizzle": "256B"}, "unknown swizzle '256B'"),
        ((20, 32), (8, 16), {"oob_fill": "ones"}, "oob_fill must be 'zeros' or 'nan'"),
        ((20, 32), (16,), {}, "different numbers of dimensions"),
        ((20, 32), (8, 3), {}, "12 bytes, not a multiple of 16"),
        ((20, 33), (8, 16), {}, "a stride of 132 bytes"),
        ((20, 64), (8, 64), {"swizzle": "128B"}, "more than the swizzle's 128"),
    ],
)
def test_refused(array, box, options, message):
    pytest.importorskip("tilewright.vgpu", reason=NOT_BUILT, exc_type=ImportError)
    program = next(p for p in PROGRAMS if p.name == "tma_load_negative")
    tensor = TensorMapArg(np.zeros(array, np.float32), box, **options)
    with pytest.raises(Exception, match=message):
        launch(program, Case([tensor, np.zeros((8, 16), np.float32)], {}))
