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


# Loads the box at (0, 1, 2) of a tensor of 3 dimensions, innermost first, and stores it.
LOAD_3D = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry load(.param .align 64 .b8 map[128], .param .u64 out) {
  .reg .pred %p; .reg .b64 %d<4>; .reg .b32 %r<4>;
  .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar;
  mbarrier.init.shared.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 %d0, [bar], 128;
  mov.b64 %d3, map;
  cvta.param.u64 %d1, %d3;
  mov.u32 %r0, 0;
  cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes .L2::cache_hint
    [tile], [%d1, {%r0, 1, 2}], [bar], 0;
again:
  mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
  @!%p bra again;
  ld.param.u64 %d2, [out];
  cp.async.bulk.global.shared::cta.bulk_group [%d2], [tile], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
"""


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2)])
@pytest.mark.parametrize("step", [1, 2])
def test_strided_and_permuted_arrays(order, step):
    vgpu = pytest.importorskip("tilewright.vgpu", reason=NOT_BUILT, exc_type=ImportError)
    whole = np.arange(12 * 10 * 12, dtype=np.float32).reshape(12, 10, 12)
    view = whole[::step, :, 4:].transpose(order)
    out = np.zeros((2, 4, 4), np.float32)
    args = [vgpu.TensorMap(view, (2, 4, 4)), out]
    result = vgpu.launch(LOAD_3D, "load", 1, 1, args, arch="sm_90a")
    assert [str(finding) for finding in result.findings] == []
    # The coordinates are (0, 1, 2), innermost first; the array has as many as needed.
    np.testing.assert_array_equal(out, view[2:4, 1:5, 0:4])


def test_dimensions_that_are_not_dense_are_refused():
    vgpu = pytest.importorskip("tilewright.vgpu", reason=NOT_BUILT, exc_type=ImportError)
    out = np.zeros((2, 4, 4), np.float32)
    for view, message in [
        (np.zeros((8, 8, 8), np.float32).transpose(2, 1, 0), "must lie side by side"),
        (np.zeros((8, 8, 8), np.float32)[::-1], "negative strides"),
    ]:
        with pytest.raises(Exception, match=message):
            args = [vgpu.TensorMap(view, (2, 4, 4)), out]
            vgpu.launch(LOAD_3D, "load", 1, 1, args, arch="sm_90a")
