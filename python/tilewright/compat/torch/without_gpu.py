"""Scripts that put their tensors on "cuda", run with a torch that finds no GPU.

Where the real torch has no GPU, `tw run` lets it answer for the chosen device: tensors that a
script requests on "cuda" are made in main memory, where the kernels run, and say that they are on
"cuda:0", as libraries demand of them (torch_devices.py); the queries, events and streams of
`torch.cuda` behave as those of one idle device.
"""

from __future__ import annotations

import time
from functools import partial
from types import SimpleNamespace
from typing import Any

from tilewright.compat.torch import stand_in_cuda as torch_stand_in_cuda
from tilewright.compat.torch.devices import is_cuda, make_mode, replace_functions
from tilewright.runtime.device import capability, multiprocessors, place

QUERIES = ("is_available", "device_count", "current_device", "get_device_capability",
           "get_device_name", "synchronize", "set_device", "manual_seed", "manual_seed_all",
           "empty_cache")  # fmt: skip

#: Functions of `torch.cuda` about memory, and their answers: that of the device is not counted.
MEMORY = {"memory_allocated": 0, "max_memory_allocated": 0, "memory_reserved": 0,
          "max_memory_reserved": 0, "reset_peak_memory_stats": None, "init": None,
          "is_current_stream_capturing": False, "is_initialized": True}  # fmt: skip


class Event:
    """`torch.cuda.Event`: work is done when it is recorded, so it holds the time of that."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._time = 0.0

    def record(self, stream: Any = None) -> None:
        """Remembers now."""
        self._time = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds between two events."""
        return 1e3 * (end._time - self._time)

    def synchronize(self) -> None:
        """Nothing is under way."""

    wait = synchronize

    def query(self) -> bool:
        """Nothing is under way."""
        return True


class Stream:
    """`torch.cuda.Stream`: everything is in order, and done."""

    cuda_stream = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def synchronize(self) -> None:
        """Nothing is under way."""

    def wait_stream(self, other: Any) -> None:
        """Nothing is under way."""

    def wait_event(self, event: Any) -> None:
        """Nothing is under way."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event of now."""
        event = event or Event()
        event.record()
        return event


def _properties(device: Any = None) -> SimpleNamespace:
    major, minor = capability()
    return SimpleNamespace(
        name=torch_stand_in_cuda.get_device_name(),
        major=major,
        minor=minor,
        multi_processor_count=multiprocessors(),
        warp_size=32,
        total_memory=80 << 30,
        L2_cache_size=(50 if major == 9 else 40) << 20,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=(227 if major == 9 else 163) << 10,
        shared_memory_per_multiprocessor=(228 if major == 9 else 164) << 10,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048,
        is_integrated=0,
        is_multi_gpu_board=0,
        gcnArchName="",
    )


def _answer(answer: Any, *args: Any, **kwargs: Any) -> Any:
    return answer


def _current_stream(device: Any = None) -> Stream:
    return Stream()


def _make_generator(torch: Any) -> Any:
    """`torch.Generator` in main memory; a constructor is not a call that the mode sees."""

    class Generator(torch.Generator):  # type: ignore[misc]
        def __new__(cls, device: Any = None) -> Any:
            return super().__new__(cls, "cpu" if is_cuda(torch, device) else device or "cpu")

    return Generator


class CurrentDevice:
    """`with torch.cuda.device(0):`: there is one device, and it is the current one."""

    def __init__(self, device: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def _make_fork_rng(fork_rng: Any) -> Any:
    """`torch.random.fork_rng`: all random numbers are main memory's."""

    def fork(devices: Any = None, enabled: bool = True, *args: Any, **kwargs: Any) -> Any:
        return fork_rng(devices=[], enabled=enabled)

    return fork


def _make_compile(torch: Any) -> Any:
    """`torch.compile`: the function itself, as torch's own compiler would generate code for the
    device. A backend that is a function gets its graph from torch; dynamo traces no mode."""
    real_compile = torch.compile

    def compile(model: Any = None, *args: Any, **options: Any) -> Any:
        if not callable(options.get("backend")):
            return model if model is not None else lambda function: function
        if model is None:
            return lambda function: compile(function, *args, **options)
        compiled = real_compile(model, *args, **options)

        def call(*call_args: Any, **call_kwargs: Any) -> Any:
            with torch._C.DisableTorchFunction():
                return compiled(*call_args, **call_kwargs)

        return call

    return compile


def install(torch: Any) -> None:
    """Lets a torch that has no GPU, or not the one that is to run kernels, answer for the chosen
    device. (The stand-in for torch does so anyway.)"""
    is_stand_in = torch.cuda is torch_stand_in_cuda
    if is_stand_in or (torch.cuda.is_available() and place().is_cuda):
        return
    for name in QUERIES:
        setattr(torch.cuda, name, getattr(torch_stand_in_cuda, name))
    for name, answer in MEMORY.items():
        setattr(torch.cuda, name, partial(_answer, answer))
    torch.cuda.mem_get_info = partial(_answer, (80 << 30, 80 << 30))
    torch.cuda.get_device_properties = _properties
    torch.cuda.Event = Event
    torch.cuda.Stream = Stream
    torch.cuda.stream = Stream
    torch.cuda.current_stream = torch.cuda.default_stream = _current_stream
    torch.cuda.device = CurrentDevice
    # All random numbers are main memory's.
    torch.cuda.get_rng_state = lambda device=None: torch.get_rng_state()
    torch.cuda.set_rng_state = lambda state, device=None: torch.set_rng_state(state)
    if hasattr(torch, "accelerator"):
        torch.accelerator.is_available = lambda: False
    torch.random.fork_rng = _make_fork_rng(torch.random.fork_rng)
    torch.Generator = _make_generator(torch)
    torch.compile = _make_compile(torch)
    replace_functions(torch)
    make_mode(torch).__enter__()
