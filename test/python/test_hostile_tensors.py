"""Tensors that lie, vanish or change while a kernel runs: a clear error, or the right result."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T

N = 64


@pytest.fixture(scope="module", params=["cpu", "interp", "vgpu:sm_80"])
def device(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def double(device: str):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(2, threads=32) as block:
            for i in T.Parallel(32):
                B[block * 32 + i] = A[block * 32 + i] * 2

    return tilewright.compile(main, device=device)


@pytest.fixture(scope="module")
def count(device: str):
    """Adds 1 to each element, `n` times."""

    @T.prim_func
    def main(A: T.Tensor((1 << 16,), "float32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for _ in T.serial(n):
                for i in T.Parallel(1 << 16):
                    A[i] = A[i] + 1

    return tilewright.compile(main, device=device)


def draw() -> np.ndarray:
    return np.arange(N, dtype=np.float32)


class Exporter:
    """An array that other libraries see through DLPack only."""

    def __init__(self, export: Callable[[], Any]) -> None:
        self.export = export

    def __dlpack__(self, **_options: Any) -> Any:
        return self.export()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def test_memory_that_lives_as_long_as_its_export() -> None:
    """Each export was a copy of its own, which was freed before the launch."""
    a = np.arange(1 << 20, dtype=np.float32)  # the allocator gives such memory back at once

    @T.prim_func
    def main(A: T.Tensor((1 << 20,), "float32"), B: T.Tensor((1 << 20,), "float32")):
        with T.Kernel(1 << 10, threads=32) as block:
            for i in T.Parallel(1 << 10):
                B[block * 1024 + i] = A[block * 1024 + i] * 2

    kernel = tilewright.compile(main, device="cpu")
    for _ in range(5):
        b = np.zeros_like(a)
        kernel(Exporter(lambda: a.copy().__dlpack__()), b)
        np.testing.assert_array_equal(b, a * 2)


def test_a_capsule_that_was_used(double) -> None:
    a, b = draw(), np.zeros(N, np.float32)
    capsule = a.__dlpack__()
    double(Exporter(lambda: capsule), b)
    np.testing.assert_array_equal(b, a * 2)
    with pytest.raises(tilewright.TilewrightError, match=r"'A': .*cannot be used in place"):
        double(Exporter(lambda: capsule), b)


@pytest.mark.parametrize("export", [lambda: None, lambda: 7, lambda: 1 / 0, lambda: "capsule"])
def test_an_export_that_is_none(double, export) -> None:
    with pytest.raises(tilewright.TilewrightError, match=r"'A': .*cannot be used in place"):
        double(Exporter(export), np.zeros(N, np.float32))


def test_what_is_no_tensor(double) -> None:
    class Described:
        __array_interface__ = property(lambda self: LIES["interface"]["__array_interface__"])
        shape, dtype = (N,), np.dtype(np.float32)

    class Disguised:
        __class__ = np.ndarray

    class OnGpu:
        __cuda_array_interface__ = property(lambda self: {"data": (16, False)})

    for value in (Described(), Disguised(), OnGpu(), draw().__dlpack__(), [1.0] * N, object()):
        with pytest.raises(tilewright.TilewrightError, match="'A'"):
            double(value, np.zeros(N, np.float32))


class Liar(np.ndarray):
    """Says of itself what it is told to say; by default, the truth."""

    lies: Any = types.MappingProxyType({})

    def __getattribute__(self, name: str) -> Any:
        lies = object.__getattribute__(self, "lies")
        return lies[name] if name in lies else super().__getattribute__(name)


LIES = {
    "interface": {"__array_interface__": {"data": (16, False), "shape": (N,), "typestr": "<f4"}},
    "struct": {"__array_struct__": np.zeros(1, np.float32).__array_struct__},
    "shape": {"shape": (N,), "strides": (4,), "ndim": 1},
    "dtype": {"dtype": np.dtype(np.float32)},
    "flags": {"flags": np.zeros(1).flags},
    "address": {"ctypes": None, "data": None},
}


@pytest.mark.parametrize("lie", LIES)
def test_an_array_that_lies(double, lie: str) -> None:
    """The address, extents and dtype of numpy count, in the first call and in later ones."""
    a = draw()
    for lies in ({}, LIES[lie], {}, LIES[lie]):
        honest = a.view(Liar)
        honest.lies = lies
        b = np.zeros(N, np.float32)
        double(honest, b)
        np.testing.assert_array_equal(b, a * 2)
        for wrong in (a[: N // 2].view(Liar), a.astype(np.int8).view(Liar)):
            wrong.lies = lies
            with pytest.raises(tilewright.TilewrightError, match="'A'"):
                double(wrong, b)


def test_an_array_that_lies_about_being_writable(double) -> None:
    b = np.zeros(N, np.float32).view(Liar)
    double(draw(), b)
    b = np.zeros(N, np.float32).view(Liar)
    b.flags.writeable = False
    b.lies = {"flags": np.zeros(1).flags}
    with pytest.raises(tilewright.TilewrightError, match="'B'"):
        double(draw(), b)
    assert not np.asarray(b).any()


# ---- While a launch runs ----


class Launch:
    """A launch in a thread of its own, that takes a second or longer."""

    def __init__(self, run: Callable[[], Any]) -> None:
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self.work, args=(run,))
        self.thread.start()
        time.sleep(0.2)
        assert self.thread.is_alive(), "the launch was over too soon"

    def work(self, run: Callable[[], Any]) -> None:
        try:
            run()
        except BaseException as error:
            self.error = error

    def finish(self) -> None:
        self.thread.join()
        if self.error:
            raise self.error


@pytest.fixture(scope="module")
def turns(count) -> int:
    """So many that a launch takes two seconds on this machine, as it is now."""
    a, sample, seconds = np.zeros(1 << 16, np.float32), 1, 0.0
    while seconds < 0.1:
        start = time.perf_counter()
        count(a, sample)
        seconds, sample = time.perf_counter() - start, 4 * sample
    return min(int(2 / seconds * sample / 4) + 1, 1 << 23)  # float32 counts to 1 << 24


@pytest.mark.parametrize("calls_before", [0, 1])
@pytest.mark.parametrize("refcheck", [True, False])
def test_an_array_is_not_resized_while_a_launch_runs(
    count, turns: int, refcheck: bool, calls_before: int
) -> None:
    """The kernel went on in memory that numpy had given back."""
    a = np.zeros(1 << 16, np.float32)
    for _ in range(calls_before):
        count(a, 1)
    launch = Launch(lambda: count(a, turns))
    with pytest.raises(ValueError, match="cannot resize"):
        a.resize(1 << 24, refcheck=refcheck)
    launch.finish()
    assert (a == turns + calls_before).all()


def test_what_an_array_is_a_view_of_is_not_resized(count, turns: int) -> None:
    """The kernel went on in memory that numpy had given back, also in later calls."""
    whole = np.zeros(1 << 17, np.float32)
    part = whole[: 1 << 16].reshape(1, -1)[0]
    for _ in range(2):
        launch = Launch(lambda: count(part, turns))
        with pytest.raises(ValueError, match="cannot resize"):
            whole.resize(1 << 24, refcheck=False)
        launch.finish()
    assert (part == 2 * turns).all()


def test_an_array_can_be_resized_afterwards(count) -> None:
    a = np.zeros(1 << 16, np.float32)
    count(a, 1)
    count(a, 1)
    a.resize(1 << 17, refcheck=False)
    assert a.sum() == 2 << 16


def test_the_last_reference_goes_while_a_launch_runs(count, turns: int) -> None:
    arrays = [np.zeros(1 << 16, np.float32)]
    view = arrays[0][:4]
    launch = Launch(lambda: count(arrays.pop(), turns))
    gc.collect()
    litter = [np.full(1 << 16, 7, np.float32) for _ in range(50)]
    launch.finish()
    assert (view == turns).all()
    assert all((part == 7).all() for part in litter)


def fork_and_count(count) -> int:
    """The status of a child that launches the kernel."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # instead of waiting for ever
        own = np.zeros(1 << 16, np.float32)
        count(own, 3)
        os._exit(0 if (own == 3).all() else 3)
    return os.waitpid(child, 0)[1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of os.fork beside threads
@pytest.mark.parametrize("in_threads", [False, True])
def test_a_process_forks_while_a_launch_runs(count, turns: int, in_threads: bool) -> None:
    a = np.zeros(1 << 16, np.float32)
    count(a, 1)
    launch = Launch(lambda: count(a, turns))
    statuses = []
    if in_threads:  # the only thread of a child was not the main one
        threads = [
            threading.Thread(target=lambda: statuses.append(fork_and_count(count)))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        statuses += [fork_and_count(count) for _ in range(3)]
    launch.finish()
    assert statuses == [0] * 3
    assert (a == turns + 1).all()


# ---- torch ----


def test_torch_tensors_whose_memory_is_not_their_values(double) -> None:
    torch = pytest.importorskip("torch", minversion="2.0")
    values = torch.arange(N, dtype=torch.complex64)
    b = torch.zeros(N)
    for wrong in (values.conj(), values.conj().imag, torch._neg_view(torch.arange(float(N)))):
        for _ in range(2):
            with pytest.raises(tilewright.TilewrightError, match="'A'"):
                double(wrong, b)
    assert not b.any()


def test_a_torch_tensor_without_memory(double) -> None:
    torch = pytest.importorskip("torch", minversion="2.0")
    a = torch.arange(float(N))
    b = torch.zeros(N)
    double(a, b)
    a.untyped_storage().resize_(0)
    with pytest.raises(tilewright.TilewrightError, match="'A'"):
        double(a, b)
    with pytest.raises(tilewright.TilewrightError, match="'A'"):
        double(torch.empty(N, device="meta"), b)
