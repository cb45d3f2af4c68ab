"""The cost model (report/cost_model.py), one rule a test, and `kernel.predict`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from report_kernels import ROOT, make_matmul
from tilewright.report.cost_model import Memory, Model, critical_cycle
from tilewright.report.machines import (
    BARRIER_LATENCY,
    BULK_LATENCY,
    GLOBAL_LATENCY,
    ISSUE_INTERVAL,
    MACHINES,
    PRODUCT_LATENCY,
    tensor_rate,
)
from tilewright.runtime.device import ARCHS
from tilewright.runtime.prediction import _overlap, _schedule

A100, H100 = MACHINES["sm_80"], MACHINES["sm_90a"]


def run(warp: int, line: int, count: int, **classes: int) -> list[Any]:
    return ["run", warp, line, count, 0, 0, 0, classes, 0, 0]


def play(events: list[list[Any]], warps: int, machine: Any = H100, **options: Any) -> Model:
    model = Model(machine, warps, **options)
    model.play(events)
    return model


# ---- Rules ----


def test_a_wait_for_a_copy_lasts_until_it_lands() -> None:
    model = play([["copy", 0, 5, 16], ["copy_commit", 0, 5], run(0, 6, 100),
                  ["copy_wait", 0, 7, 0]], 1, A100)  # fmt: skip
    ran, waited = model.warps[0].spans
    assert ran == [0.0, pytest.approx(100 * ISSUE_INTERVAL), "run", 6]
    assert waited == [ran[1], GLOBAL_LATENCY, "copy", 7]


def test_a_wait_that_leaves_more_groups_open_than_there_are_waits_for_none() -> None:
    groups = [["copy", 0, 5, 16], ["copy_commit", 0, 5]] * 3
    model = play([*groups, ["copy_wait", 0, 7, 5]], 1)
    assert model.warps[0].now == 0
    assert len(model.warps[0].copy_groups) == 3


def test_a_barrier_lets_all_go_when_the_last_has_come() -> None:
    model = play([run(0, 1, 10), run(1, 1, 50), ["barrier", 2, [[0, True], [1, True]]]], 2)
    last = pytest.approx(50 * ISSUE_INTERVAL + BARRIER_LATENCY)
    assert [warp.now for warp in model.warps] == [last, last]
    assert model.warps[0].spans[-1] == [10 * ISSUE_INTERVAL, last, "barrier", 2]


def test_who_only_arrives_at_a_barrier_goes_on() -> None:
    model = play([["barrier_arrive", 0, 1], run(0, 2, 100),
                  ["barrier", 3, [[0, False], [1, True]]]], 2)  # fmt: skip
    assert model.warps[0].now == pytest.approx(100 * ISSUE_INTERVAL)
    assert model.warps[1].now == BARRIER_LATENCY  # not after the 100


def test_a_phase_of_an_mbarrier_ends_with_all_of_its_arrivals() -> None:
    model = play([["bulk", 1, 3, 128, 0, 64, 0], run(1, 3, 2000), ["arrive", 1, 3, 64, 0],
                  ["wait", 0, 4, 64, 0], ["wait", 0, 5, 64, 7]], 2)  # fmt: skip
    assert model.warps[0].now == pytest.approx(2000 * ISSUE_INTERVAL)  # and not the fresh phase 7
    model = play([["bulk", 1, 3, 128, 0, 64, 0], ["wait", 0, 4, 64, 0]], 2)
    assert model.warps[0].now == GLOBAL_LATENCY + BULK_LATENCY


def test_warps_of_a_quarter_share_its_issue_slot() -> None:
    warps = [0, 4, 8, 12, 16, 20]
    apart = play([run(warp, 1, 400) for warp in range(6)], 24)
    together = play([run(warp, 1, 400) for warp in warps], 24)
    assert apart.end == pytest.approx(400 * ISSUE_INTERVAL, rel=0.05)
    assert together.end == pytest.approx(6 * 400, rel=0.05)


def test_special_functions_take_eight_cycles_of_their_quarter() -> None:
    assert play([run(0, 1, 64, special=64)], 1).end == 512
    few = play([run(0, 1, 1000, special=64, float32=936)], 1)
    assert few.end == pytest.approx(1000 * ISSUE_INTERVAL)
    assert play([run(0, 1, 100, move=100)], 1).end == ISSUE_INTERVAL


def test_products_run_behind_their_warp_until_it_waits() -> None:
    operations = 2 * 16 * 256 * 16
    duration = operations / (H100.tensor_operations_per_cycle / 4)
    product = ["product", 0, 5, operations, 0]
    model = play([product, ["commit", 0, 5, "wgmma"], run(0, 6, 50),
                  ["group_wait", 0, 7, 0, "wgmma"]], 1)  # fmt: skip
    assert model.warps[0].now == pytest.approx(duration + PRODUCT_LATENCY)
    assert duration == pytest.approx(128, rel=0.01)  # m64n256k16 takes N / 2 cycles


def test_narrow_products_wait_for_shared_memory() -> None:
    """64x64x16 reads 2 KB + 2 KB: 32 cycles of shared memory, as long as the product itself."""

    def end(size: int) -> float:
        products = [["product", w, 5, 2 * 16 * 64 * 16, size if w == 0 else 0] for w in range(4)]
        return play(products * 8, 4).end

    assert end(0) == pytest.approx(8 * 32, rel=0.01)
    assert end(8192) == pytest.approx(8 * 64, rel=0.01)


def test_rates_follow_the_type_and_the_instruction() -> None:
    full = tensor_rate(H100, "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16")
    assert full == pytest.approx(4096, rel=0.01)
    assert tensor_rate(H100, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3") == 2 * full
    assert tensor_rate(H100, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") < 0.7 * full
    assert tensor_rate(H100, "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32") == full / 2


def test_blocks_of_a_multiprocessor_share_it() -> None:
    events = [run(0, 1, 400), ["barrier", 2, [[0, True]]]]
    alone = play(events, 1)
    assert play(events, 1, copies=4).end == alone.end
    assert play(events, 4, copies=8).end > 3 * alone.end


def test_what_is_in_the_l2_comes_faster() -> None:
    there, far = Memory.of(H100, missing=0.0), Memory.of(H100, missing=1.0)
    assert there.bytes_per_cycle > 2 * far.bytes_per_cycle
    assert there.latency < far.latency
    assert Memory.of(H100, active=10).bytes_per_cycle > far.bytes_per_cycle


def test_the_critical_cycle_is_what_an_iteration_waits_for() -> None:
    events = []
    for step in range(16):
        events += [["bulk", 1, 3, 512, 0, 64, step], ["wait", 0, 4, 64, step], run(0, 5, 900),
                   ["arrive", 0, 6, 128, step], ["wait", 1, 2, 128, step]]  # fmt: skip
    model = play(events, 2)
    cycle = critical_cycle(model.critical_path(), lambda node: (node.kind, node.line))
    assert cycle["cycles"] == pytest.approx(900 * ISSUE_INTERVAL + GLOBAL_LATENCY + BULK_LATENCY)
    assert {name for name, _ in cycle["steps"]} == {("run", 5), ("copy", 3)}
    assert cycle["shares"][0][0] == ("run", 5)


def test_the_clock_sinks_with_tensor_cores_and_issue_slots() -> None:
    idle = play([["bulk", 0, 3, 128, 0, 64, 0], ["wait", 0, 4, 64, 0]], 1)
    busy = play([run(warp, 1, 400) for warp in range(16)], 16)
    products = play([["product", warp, 5, 2 * 16 * 256 * 16, 0] for warp in range(4)] * 8, 4)
    assert idle.load() == 0
    assert busy.load() == pytest.approx(1, rel=0.05)
    assert products.load() == pytest.approx(1, rel=0.05)


def test_a_trace_that_was_cut_goes_on_as_in_its_second_half() -> None:
    model = play([run(0, 1, 100) for _ in range(10)], 1)
    assert model.extrapolate(2000) == pytest.approx(2000 * ISSUE_INTERVAL, rel=0.1)
    assert model.extrapolate(0) == model.end


# ---- The grid ----


def test_a_block_more_than_a_wave_costs_a_wave() -> None:
    assert _schedule([10.0], 132, 132) == 10
    assert _schedule([10.0], 132, 133) == 20
    assert _schedule([1.0, 2.0, 3.0], 3, 6) == 5  # short ones make room
    assert _overlap([[0, 100], [200, 300]], [[50, 250]]) == 100


def test_a_prediction_names_its_machine_and_its_cycle() -> None:
    kernel = make_matmul(1024, 1024, 1024, 3, "vgpu:sm_90a")
    prediction = kernel.predict()
    assert prediction.machine == "H100 SXM"
    (launch,) = prediction.launches
    assert launch.operations == 2 * 1024**3
    assert launch.grid == [8, 8, 1]
    assert "a model, not a measurement" in str(prediction)
    assert "critical cycle of" in str(prediction)
    peak = 2 * 1024**3 / 989.4e12 * 132 / 64 * 1e3  # 64 blocks on 132 multiprocessors
    assert peak < prediction.milliseconds < 6 * peak
    slower = kernel.predict(arch="sm_80")
    assert slower.machine == "A100 SXM 40 GB"
    assert slower.milliseconds > prediction.milliseconds


def test_stages_hide_copies() -> None:
    times = [
        make_matmul(512, 512, 2048, stages, "vgpu:sm_90a").predict().milliseconds
        for stages in (1, 2, 4)
    ]
    assert times[0] > 1.2 * times[1] >= times[2]


def test_inputs_stay_as_they_are() -> None:
    @T.prim_func
    def main(A: T.Tensor((256,), "float32")):
        with T.Kernel(2, threads=128) as bx:
            for i in T.Parallel(128):
                A[bx * 128 + i] += 1.0

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    a = np.zeros(256, np.float32)
    assert kernel.predict(a).milliseconds > 0
    assert not a.any()


def test_blocks_with_less_to_do_count_as_such() -> None:
    """Blocks of a triangle: some ran and the others lie between, so that more than one wave takes
    less than that of a square."""

    def make(is_triangle: bool) -> float:
        @T.prim_func
        def main(A: T.Tensor((1024, 8192), "float32"), B: T.Tensor((1024, 1024), "float32")):
            with T.Kernel(1024, threads=1024) as bx:
                x = T.alloc_fragment((1024,), "float32")
                T.clear(x)
                for k in T.serial((bx // 128 + 1) if is_triangle else 8):
                    for i in T.Parallel(1024):
                        x[i] += A[bx, k * 1024 + i]
                T.copy(x, B[bx, 0])

        return tilewright.compile(main, device="vgpu:sm_80").predict().milliseconds

    assert 0.4 < make(True) / make(False) < 0.9


def test_every_architecture_has_its_figures() -> None:
    kernel = make_matmul(128, 128, 128, 2, "vgpu:sm_80")
    assert set(MACHINES) == set(ARCHS)
    for arch in ("sm_103", "sm_121"):
        assert kernel.predict(arch=arch).machine == MACHINES[arch].name
    with pytest.raises(tilewright.TilewrightError, match="unknown architecture 'sm_91'"):
        kernel.predict(arch="sm_91")


# ---- The benchmark ----


def test_the_benchmark_ranks_and_stays_near_a_published_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """cuBLAS on an H100 at 2048^3, the smallest case without much overhead."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    for name in ("TILEWRIGHT_ARCH", "TILEWRIGHT_DEVICE"):
        monkeypatch.setenv(name, "")  # the benchmark sets them; they are put back
    import bench_model

    assert bench_model.rank_correlation([1, 2, 3, 4], [10, 20, 30, 40]) == 1
    assert bench_model.rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]) == -1
    assert bench_model.ranks([5, 1, 5]) == [1.5, 0, 1.5]
    (case,) = (c for c in bench_model.CASES if c.name.startswith("gemm 2048 x 2048 x 2048"))
    prediction = bench_model.predict(case)
    assert case.operations / prediction.milliseconds / 1e9 == pytest.approx(case.published, rel=0.3)
