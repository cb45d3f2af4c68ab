"""Exported libraries: what loading one and calling it costs a program in C."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tilewright
import tilewright.language as T
from figures import Figure

PROGRAM = r"""
#include "tiny.h"
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

/* Processor time of this thread, which a busy machine does not stretch. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  float a[64] = {0}, b[64];
  int64_t shape[] = {64};
  DLTensor A = {a, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0}, B = A;
  B.data = b;
  (void)argc;
  double start = now();
  void *library = dlopen(argv[1], RTLD_NOW);
  int32_t (*call)(const DLTensor *, const DLTensor *, void *, tw_error *);
  *(void **)&call = dlsym(library, "tiny");
  tw_error error;
  if (!call || call(&A, &B, NULL, &error))
    return 1;
  double first = now() - start;
  int count = 200000;
  start = now();
  for (int i = 0; i < count; ++i)
    call(&A, &B, NULL, &error);
  printf("%g %g\n", first, (now() - start) / count);
  return 0;
}
"""


@tilewright.jit
def tiny():
    @T.prim_func
    def tiny(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                B[i] = A[i] + 1.0

    return tiny


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tilewright.export_library(folder / "tiny", tiny(), formats=["so"])
        (folder / "program.c").write_text(PROGRAM)
        build = ["cc", "-O2", "-I", tilewright.get_include(), "-I", folder, folder / "program.c"]
        subprocess.run([*build, "-o", folder / "program", "-ldl"], check=True)
        runs = [
            subprocess.run(
                [folder / "program", folder / "tiny.so"], check=True, capture_output=True, text=True
            ).stdout.split()
            for _ in range(5)
        ]
    first, call = (min(float(run[column]) for run in runs) for column in (0, 1))
    yield Figure("load a library, first result", first, "s", "5 ms", 5e-3)
    yield Figure("call of an exported kernel of one block", call, "s", "1 us", 1e-6)
