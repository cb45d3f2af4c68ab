"""How many multiply-adds a core does: the rate that no product of float32 matrices exceeds.

No compiler is asked, neither ours nor another: the loop is machine code, twelve independent chains
of vector FMAs in registers.

        vzeroall
    again:
        vfmadd213ps  v1, v0, v0     … v12
        dec          rdi
        jnz          again
        vzeroupper
        ret
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import re
import time
from pathlib import Path

CHAINS = 12
STEPS = 200_000


def multiply_add(register: int, lanes: int) -> bytes:
    """vfmadd213ps vN, v0, v0 for vectors of 8 or 16 float32, N below 16."""
    is_low = register < 8
    operands = 0xC0 | (register % 8) << 3
    if lanes == 16:
        return bytes([0x62, 0xF2 if is_low else 0x72, 0x7D, 0x48, 0xA8, operands])
    return bytes([0xC4, 0xE2 if is_low else 0x62, 0x7D, 0xA8, operands])


def loop_code(lanes: int) -> bytes:
    body = b"".join(multiply_add(chain + 1, lanes) for chain in range(CHAINS)) + b"\x48\xff\xcf"
    jump_back = bytes([0x75, 256 - len(body) - 2])
    return b"\xc5\xfc\x77" + body + jump_back + b"\xc5\xf8\x77\xc3"


def measure(lanes: int) -> float:
    """GFLOP/s of the loop, the best of some runs."""
    protection = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=protection)
    memory.write(loop_code(lanes))
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    run = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(address)
    seconds = []
    for _ in range(20):
        start = time.process_time()
        run(STEPS)
        seconds.append(time.process_time() - start)
    return 2e-9 * STEPS * CHAINS * lanes / min(seconds)


def peak_gflops() -> float | None:
    """Of one core; None on a machine whose machine code this is not."""
    if platform.machine() != "x86_64":
        return None
    flags = set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text()))
    widths = [lanes for lanes, flag in ((8, "fma"), (16, "avx512f")) if flag in flags]
    return max(map(measure, widths), default=None)
