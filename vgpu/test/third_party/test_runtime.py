"""printf, assert, malloc and free of CUDA's device runtime, in kernels that nvcc compiled."""

import numpy as np
import pytest
from driver import NOT_BUILT
from program import PTX_FOLDER

PTX = (PTX_FOLDER / "runtime.sm_80.ptx").read_text()


@pytest.fixture
def vgpu():
    return pytest.importorskip("tilewright.vgpu", reason=NOT_BUILT, exc_type=ImportError)


def test_printf_goes_to_stdout_block_after_block(vgpu, capsys):
    args = [np.zeros(4, np.int32), np.int64(-(10**12)), np.float64(1.25)]
    result = vgpu.launch(PTX, "print_values", grid=2, block=2, args=args)
    want = "".join(
        f"{i}: {1.25 * i:5.2f}|{7 + i:<4}|{'abcd'[i]} {'more' if i else 'first'} {-(10**12)} ff%\n"
        for i in range(4)
    )
    assert capsys.readouterr().out == want
    assert result.output == want
    assert not result.findings


def test_printing_what_nobody_wrote_is_a_finding(vgpu):
    unwritten = PTX.replace("st.local.f64 \t[%rd5+8], %fd3;", "", 1)
    assert unwritten != PTX
    args = [np.zeros(4, np.int32), np.int64(1), np.float64(1)]
    result = vgpu.launch(unwritten, "print_values", grid=2, block=2, args=args)
    assert [f.kind for f in result.findings] == ["uninitialized"]
    assert "vprintf" in result.findings[0].message


@pytest.mark.parametrize("checks", ["all", "none"])
def test_a_failed_assert_ends_the_launch_and_says_where(vgpu, checks):
    values, done = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    args = [values, np.int32(40), done]
    result = vgpu.launch(PTX, "assert_below", grid=1, block=64, args=args, checks=checks)
    (finding,) = result.findings
    assert (finding.kind, finding.source) == ("assertion", "runtime.cu:16")
    assert finding.block == (0, 0, 0) and finding.thread == (40, 0, 0)
    assert finding.message == (
        "'values[threadIdx.x] < bound' is false, in void assert_below(const int *, int, int *)"
    )
    assert finding.data["occurrences"] == 24
    assert not result.complete


FREE = "{{ .param .b64 p0; st.param.b64 [p0+0], {0}; call.uni free, (p0); }}"
LAST = "\t.loc\t1 30 1"


@pytest.mark.parametrize(
    ("at", "what", "kind", "message"),
    [
        ("$L__BB2_11:", "%rd1", "use_after_free",
         "read of 4 bytes at 'malloc at ptx:{}'+32, which has been freed"),
        (LAST, "%rd1", "use_after_free", "free of 'malloc at ptx:{}'+0, which has been freed"),
        (LAST, "%rd12", "invalid_access", "free of 'argument 0'+0, which malloc has not given"),
    ],
    ids=["used", "freed twice", "never allocated"],
)  # fmt: skip
def test_misuse_of_the_heap(vgpu, at, what, kind, message):
    lines = PTX.splitlines()
    place = lines.index(at)
    text = "\n".join([*lines[:place], at + FREE.format(what), *lines[place + 1 :]])
    args = [np.zeros(64, np.int32), np.int32(9)]
    result = vgpu.launch(text, "heap_sums", grid=1, block=64, args=args)
    allocated = lines.index("\tmalloc,")  # the line before the name begins the call
    assert (result.findings[0].kind, result.findings[0].message) == (
        kind,
        message.format(allocated),
    )
