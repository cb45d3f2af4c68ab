"""A pytest plugin that runs a library's own tests on Tilewright and records each as a case.

`scripts/compatibility.py` loads it (`-p cases_plugin`) into a Python that has torch. Of each test
function the smallest parameter set is kept. Each test runs in a process of its own, so that one
that crashes, hangs or eats memory ends alone, and leaves a line of JSON in $COMPAT_RESULTS.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest import runner
from tilewright.compat import imports

imports.install()

from case_outcome import Watcher  # noqa: E402
from failures import describe_failure  # noqa: E402
from gpu_products import AsOnGpu  # noqa: E402
from test_text import assertion_on_text, can_launch  # noqa: E402

SECONDS = float(os.environ.get("COMPAT_SECONDS", "45"))
GIGABYTES = float(os.environ.get("COMPAT_GIGABYTES", "9"))
RESULTS = os.environ["COMPAT_RESULTS"]
SEED = os.environ.get("COMPAT_SEED", "")
READS_TESTS = bool(os.environ.get("COMPAT_READ_TESTS"))  # those of TileLang itself
SURVEY = bool(os.environ.get("COMPAT_SURVEY"))  # kernels are traced and checked, and do not run
_TICKS = os.sysconf("SC_CLK_TCK")


# ---- Which cases ----


def _numbers(value: Any) -> Iterator[int]:
    """The integers in a parameter, which are mostly extents."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield abs(value)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _numbers(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _numbers(part)


def _size(item: pytest.Item) -> int:
    size = 1
    for value in getattr(getattr(item, "callspec", None), "params", {}).values():
        for number in _numbers(value):
            size *= max(number, 1)
    return size


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the smallest parameter set of each test function; of equal ones the first. They run in
    a random order, so that a run that is ended early is a fair sample; without a seed small ones
    run first."""
    smallest: dict[str, pytest.Item] = {}
    for item in items:
        function = item.nodeid.split("[")[0]
        if function not in smallest or _size(item) < _size(smallest[function]):
            smallest[function] = item
    done = _done()
    chosen = os.environ.get("COMPAT_CASES")
    if chosen:  # a sample, for another device
        with open(chosen) as file:
            wanted = set(file.read().splitlines())
        smallest = {item.nodeid: item for item in items if item.nodeid in wanted}
    else:
        with open(f"{RESULTS}.total", "w") as file:
            file.write(str(len(smallest)))
    items[:] = [item for item in smallest.values() if item.nodeid not in done]
    items.sort(key=_draw if SEED else _size)


def _draw(item: pytest.Item) -> bytes:
    """A place in the order of $COMPAT_SEED, the same in each run."""
    return hashlib.sha256(f"{SEED} {item.nodeid}".encode()).digest()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Loads once what nearly every test would load in its own process."""
    import torch
    import torch._dynamo
    import torch._inductor

    torch.testing.assert_close(torch.zeros(1), torch.zeros(1))


def _done() -> set[str]:
    """The cases that an earlier run has recorded, without those that run again."""
    if not os.path.exists(RESULTS):
        return set()
    with open(RESULTS) as file:
        records = {record["case"]: record for record in map(json.loads, file)}
    again = set(os.environ.get("COMPAT_AGAIN", "").split(","))
    return {case for case, record in records.items() if record["status"] not in again}


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be imported is recorded: its cases are unknown."""
    if report.failed:
        lines = str(report.longrepr).splitlines()
        telling = [line for line in lines if re.search(r"[Ee]rror:", line)] or lines or [""]
        what = telling[-1].removeprefix("E").strip()
        _record({"case": report.nodeid, "status": "not imported", "what": what})


# ---- One case in a process of its own ----


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: Any) -> bool:
    """Runs the test in a child and records what became of it."""
    started = time.monotonic()
    record = _run(item)
    if record["status"] == "wrong":  # by torch's quotients on the CPU?
        second = _run(item, quotients=True)
        if second["status"] == "right":
            record = {**second, "quotients": True, "what": record["what"]}
    if READS_TESTS and record["status"] in ("refused", "host", "internals"):
        record |= _read_test(item)
    record["case"] = item.nodeid
    record.setdefault("wall", round(time.monotonic() - started, 2))
    _record(record)
    sys.stdout.write(f"{record['status']:14} {item.nodeid}\n")
    sys.stdout.flush()
    return True


def _read_test(item: pytest.Item) -> dict[str, Any]:
    """What the text of a test that did not come to its end says: a test that can launch no kernel,
    or asserts on generated text, is no case."""
    function = item.nodeid.split("[")[0].rpartition("::")[2]
    if not can_launch(item.path, function):
        return {"status": "no kernel"}
    line = assertion_on_text(item.path, function)
    return {"status": "source text", "what": line} if line else {}


def _run(item: pytest.Item, quotients: bool = False) -> dict[str, Any]:
    """What became of the test in a child."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _run_in_child(item, write, quotients)
    os.close(write)
    return _wait(child, read)


def _run_in_child(item: pytest.Item, pipe: int, quotients: bool) -> None:
    os.setsid()  # so that what it starts can be ended with it
    watcher = Watcher()
    if SURVEY:
        watcher.run_nothing()
    # torch.compile traces nothing while such a mode is on
    compiles = re.search(r"torch\.compile|compile_contract", item.path.read_text())
    with contextlib.nullcontext() if compiles else AsOnGpu(quotients):
        reports = runner.runtestprotocol(item, nextitem=None, log=False)
    record = watcher.record(reports, _failures)
    if SURVEY and watcher.compiled and record["status"] not in ("refused", "crash", "internals"):
        record["status"] = "traced"  # its results mean nothing
    usage = resource.getrusage(resource.RUSAGE_SELF)
    record["seconds"] = round(usage.ru_utime + usage.ru_stime, 2)
    record["megabytes"] = usage.ru_maxrss // 1024
    os.write(pipe, json.dumps(record).encode() + b"\n")
    if record["status"] in ("right", "not compared") and os.environ.get("COMPAT_GPU"):
        os.write(pipe, json.dumps(watcher.compile_for_gpus()).encode() + b"\n")
    os._exit(0)


#: Of each phase of the running test that failed: what was raised.
_failures: list[dict[str, Any]] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Keeps what a failed phase raised; reports have only its text."""
    report = yield
    if call.excinfo is not None and report.outcome == "failed":
        _failures.append(describe_failure(call.excinfo.value, str(item.path)))
    return report


def _wait(child: int, pipe: int) -> dict[str, Any]:
    """What the child says, or why it was ended."""
    text = b""
    reason = None
    start = time.monotonic()
    while True:
        ready, _, _ = select.select([pipe], [], [], 0.2)
        if ready:
            part = os.read(pipe, 65536)
            if not part:
                break
            text += part
        share = 2 if b"\n" in text else 1  # the case is over; its kernels are compiled for GPUs
        reason = _over_limit(child, time.monotonic() - start, share)
        if reason:
            os.killpg(child, signal.SIGKILL)
            break
    os.close(pipe)
    _, status = os.waitpid(child, 0)
    name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {status}"
    crash = {"status": "crash", "what": f"the process ended with {name}"}
    if b"\n" not in text:
        return {"status": reason, "what": reason} if reason else crash
    outcome, *gpu = text.decode().splitlines()
    record = json.loads(outcome)
    if status or reason:
        record["gpu"] = [{"kernel": "", "arch": "", "seconds": 0.0, **crash}]
        if reason:
            record["gpu"][0] |= {"status": reason, "what": reason}
    elif gpu:
        record["gpu"] = json.loads(gpu[0])
    return record


def _over_limit(child: int, wall: float, share: int) -> str | None:
    """The limits are processor time and resident memory; a busy machine does not change them."""
    try:
        with open(f"/proc/{child}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        with open(f"/proc/{child}/status") as file:
            found = re.search(r"VmRSS:\s+(\d+)", file.read())
    except FileNotFoundError:
        return None
    seconds = (int(fields[11]) + int(fields[12])) / _TICKS
    if seconds > share * SECONDS or wall > 6 * share * SECONDS:
        return "too long"
    if found and int(found[1]) / 2**20 > GIGABYTES:
        return "too large"
    return None


def _record(record: dict[str, Any]) -> None:
    record["commit"] = os.environ.get("COMPAT_COMMIT", "")
    with open(RESULTS, "a") as file:
        file.write(json.dumps(record) + "\n")
