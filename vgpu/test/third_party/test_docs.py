"""docs/vgpu.md tells of every check and every kind of finding there is."""

import re
from pathlib import Path

import pytest
from driver import NOT_BUILT

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "vgpu.md").read_text()


def test_every_kind_of_finding_is_explained():
    source = (ROOT / "vgpu" / "lib" / "Events" / "Finding.cpp").read_text()
    names = source.split("findingKindName", 1)[1].split('return "unknown"')[0]
    kinds = re.findall(r'return "(\w+)"', names)
    assert len(kinds) > 15
    assert [kind for kind in kinds if f"`{kind}`" not in PAGE] == []


def test_every_check_is_in_the_table():
    vgpu = pytest.importorskip("tilewright.vgpu", reason=NOT_BUILT, exc_type=ImportError)
    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n"
    with pytest.raises(Exception, match="unknown check 'nonsense'") as caught:
        vgpu.launch(ptx, "k", grid=1, block=1, args=[], checks="nonsense")
    names = re.findall(
        r"\w+", caught.value.args[0].split("expected all, none, ")[1].splitlines()[0]
    )
    checks = [name for name in names if name != "or"]
    assert "proxy_fence" in checks
    assert [name for name in checks if f"`{name}`" not in PAGE] == []
