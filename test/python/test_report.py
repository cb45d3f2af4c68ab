"""`kernel.report_data()` and `kernel.report()`: the numbers, and the page they are in."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from report_kernels import ROOT, kernel, make_matmul, report
from tilewright import layout as layouts
from tilewright.cli.commands import main
from tilewright.errors import TilewrightError
from tilewright.report.compare import compare
from tilewright.report.machines import occupancy
from tilewright.report.page import make_page, read_page, write_page
from tilewright.report.pictures import plot_timeline
from tilewright.runtime.ptxas import find_nvdisasm, find_ptxas

NAMES = ("seed", "matmul", "hopper", "softmax")


def locations_in(value: Any) -> list[list[int]]:
    """Every [file, line] of a report."""
    if isinstance(value, list):
        return [location for entry in value for location in locations_in(entry)]
    if not isinstance(value, dict):
        return []
    found = [value["location"]] if value.get("location") else []
    found += [location for location in value.get("lines", []) if isinstance(location, list)]
    return found + [location for entry in value.values() for location in locations_in(entry)]


# ---- The data ----


@pytest.mark.parametrize("name", NAMES)
def test_data_are_json_and_places_are_lines_of_the_source(name: str) -> None:
    data = report(name)
    assert json.loads(json.dumps(data)) == data
    locations = locations_in({key: value for key, value in data.items() if key != "files"})
    assert len(locations) > 100
    for file, line in locations:
        entry = data["files"][file]
        assert entry["first"] <= line < entry["first"] + len(entry["lines"])


@pytest.mark.parametrize("name", NAMES)
def test_counters_of_lines_add_up(name: str) -> None:
    for launch in report(name)["launches"]:
        counters = launch["counters"]
        for key in ("warp_instructions", "tensor_operations", "shared_wavefronts",
                    "global_sectors"):  # fmt: skip
            assert sum(line[key] for line in counters["source_lines"]) == counters[key]
        assert counters["warp_instructions"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_each_line_of_a_stage_has_a_place_or_none(name: str) -> None:
    stages = report(name)["stages"]
    kinds = [stage["kind"] for stage in stages if stage["kind"] != "sass"]
    assert kinds[-2:] == ["threads", "ptx"]
    for stage in stages:
        assert len(stage["lines"]) == stage["text"].count("\n") + 1, stage["name"]
    ptx = next(stage for stage in stages if stage["kind"] == "ptx")
    assert ptx["text"] == kernel(name)._compiled(report(name)["arch"])["ptx"]
    linked = sum(location is not None for location in ptx["lines"])
    assert linked > len(ptx["lines"]) / 4


@pytest.mark.skipif(not find_ptxas() or not find_nvdisasm(), reason="no ptxas or no nvdisasm")
@pytest.mark.parametrize("name", NAMES)
def test_machine_code_is_the_last_stage_and_linked(name: str) -> None:
    sass = report(name)["stages"][-1]
    assert sass["kind"] == "sass"
    assert "EXIT" in sass["text"]
    linked = sum(location is not None for location in sass["lines"])
    assert linked > len(sass["lines"]) / 4


def test_a_line_of_ir_is_linked_to_its_statement() -> None:
    data = report("matmul")
    stage = next(s for s in data["stages"] if s["name"] == "tile-infer-layouts")
    for text, location in zip(stage["text"].split("\n"), stage["lines"], strict=True):
        if "tile.gemm" in text:
            file = data["files"][location[0]]
            assert "T.gemm" in file["lines"][location[1] - file["first"]]
            break
    else:
        pytest.fail("no gemm")


def evaluate(expr: Any, dims: list[int]) -> int:
    """An expression of a report, as docs/reference/report.md has it."""
    if isinstance(expr, int):
        return expr
    if expr[0] == "d":
        return dims[expr[1]]
    a, b = (evaluate(part, dims) for part in expr[1:])
    return {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "//": lambda: a // b,
        "%": lambda: a % b, "^": lambda: a ^ b, "min": lambda: min(a, b), "max": lambda: max(a, b),
    }[expr[0]]()  # fmt: skip


@pytest.mark.parametrize("name", ["matmul", "hopper", "softmax"])
def test_layouts_are_those_of_the_compiler(name: str) -> None:
    """The expressions of a placement say the same as its notation, which the core reads."""
    from tilewright._core import core

    for tile in report(name)["launches"][0]["tiles"]:
        found = tile["layout"]
        if found is None:
            continue
        known = core.parse_layout(found["notation"], found["shape"])
        for index in list(product(*map(range, found["shape"])))[::7]:
            if "thread" in found:
                for replica in range(found["replicas"]):
                    dims = [*index, replica]
                    location = evaluate(found["thread"], dims), evaluate(found["slot"], dims)
                    assert location == known.owner_of(list(index), replica)
            else:
                image = tuple(evaluate(output, list(index)) for output in found["outputs"])
                assert image == known.map(list(index))
    assert layouts is not None


@pytest.mark.parametrize("name", NAMES)
def test_tiles_that_share_bytes_are_never_live_together(name: str) -> None:
    for launch in report(name)["launches"]:
        tiles = [tile for tile in launch["tiles"] if "live" in tile]
        for n, a in enumerate(tiles):
            assert a["offset"] + a["bytes"] <= launch["shared_bytes"]
            for b in tiles[:n]:
                shares = (a["offset"] < b["offset"] + b["bytes"]
                          and b["offset"] < a["offset"] + a["bytes"])  # fmt: skip
                if shares:
                    assert a["live"][1] < b["live"][0] or b["live"][1] < a["live"][0]


def test_a_pipelined_tile_has_its_versions() -> None:
    tiles = {tile["name"]: tile for tile in report("matmul")["launches"][0]["tiles"]}
    assert tiles["a"]["versions"] == 3
    assert tiles["a"]["bytes"] == 3 * 128 * 64 * 2
    assert tiles["out"]["versions"] == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_timeline_has_all_warps_and_ends(name: str) -> None:
    for launch in report(name)["launches"]:
        timeline = launch["trace"]["timeline"]
        assert len(timeline["rows"]) == launch["trace"]["warps"] + 2
        assert timeline["total"] > 0
        for row in timeline["rows"]:
            for (_, end, *_), (start, *_) in pairwise(row["spans"]):
                if row["name"].startswith("warp"):
                    assert end <= start + 1  # a warp does one thing at a time


def test_hopper_shows_copies_products_and_a_producer() -> None:
    launch = report("hopper")["launches"][0]
    assert launch["threads"] > launch["program_threads"]
    timeline = launch["trace"]["timeline"]
    rows = {row["name"]: row["spans"] for row in timeline["rows"]}
    assert any("producer" in name for name in rows)
    assert rows["copies in flight"] and rows["tensor cores"]
    assert {"mbarrier", "product"} & {stall["cause"] for stall in timeline["stalls"]}


def test_accesses_of_a_warp_are_inside_tiles() -> None:
    launch = report("matmul")["launches"][0]
    shared = [a for a in launch["trace"]["accesses"] if a["space"] == "shared"]
    assert {access["opcode"].split(".")[0] for access in shared} >= {"cp", "ldmatrix"}
    for access in shared:
        assert len(access["addresses"]) == 32
        for address in filter(None, access["addresses"]):
            assert 0 <= address and address + access["bytes"] <= launch["shared_bytes"]


def test_one_block_stands_for_a_large_grid() -> None:
    large = make_matmul(2048, 2048, 128, 2, "vgpu:sm_80")
    launch = large.report_data()["launches"][0]
    assert launch["is_one_block"]
    assert launch["grid"] == [16, 16, 1]
    whole = launch["work"]["tensor_operations"]
    assert whole == 2 * 2048 * 2048 * 128
    assert launch["counters"]["tensor_operations"] == whole / 256


def test_a_report_of_a_call_runs_on_copies_of_its_arguments() -> None:
    import numpy as np

    a = np.ones((256, 256), np.float16)
    data = kernel("matmul").report_data(a, a, verify=True)
    assert data["made_up"] is None
    assert data["verification"]["is_right"]
    assert data["params"][2]["is_returned"] and data["params"][2]["shape"] == [256, 256]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arch": "sm_12"}, "unknown architecture 'sm_12'"),
        ({"blocks": "some"}, "'blocks' must be 'auto', 'all' or 'one', got 'some'"),
        ({"sizes": {"n": 3}}, "no shape has a symbol 'n'"),
    ],
)
def test_wrong_options_are_one_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TilewrightError, match=re.escape(message)):
        kernel("softmax").report_data(**options)


def test_the_schema_is_documented() -> None:
    """Every name of the data is in the table of docs/reference/report.md."""
    page = (ROOT / "docs/reference/report.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`([a-z_]+)`", page))
    free = {"data", "by_class", "limits", "occupancy", "roofline", "bounds", "config", "made_up",
            "refused", "reproduce", "busy"}  # fmt: skip

    def names(value: Any) -> set[str]:
        if isinstance(value, list):
            return {name for entry in value[:50] for name in names(entry)}
        if not isinstance(value, dict):
            return set()
        inner = (entry for key, entry in value.items() if key not in free)
        return set(value) | {name for entry in inner for name in names(entry)}

    missing = {name for kind in NAMES for name in names(report(kind))} - documented
    assert not missing


# ---- The model ----


@pytest.mark.parametrize("name", NAMES)
def test_a_prediction_is_data_and_a_remark(name: str) -> None:
    data = report(name)
    remarks = [remark for remark in data["remarks"] if remark["kind"] == "prediction"]
    assert len(remarks) == len(data["launches"])
    for launch, remark in zip(data["launches"], remarks, strict=True):
        prediction = launch["prediction"]
        assert prediction["is_model"]
        assert prediction["microseconds"] == remark["data"]["microseconds"] > 1
        assert remark["message"].startswith(f"predicted for {prediction['machine']}: ")
        assert prediction["limited_by"] in remark["message"]
        assert sum(share for _, share in prediction["cycle"]["shares"]) == pytest.approx(1)


def test_occupancy_names_what_limits_it() -> None:
    limits = report("matmul")["limits"]["sm_80"]
    assert occupancy(limits, 128, 40_000, 32)["limited_by"] == ["shared memory"]
    full = occupancy(limits, 256, 1000, 32)
    assert full["warps"] == full["most_warps"] == 64
    assert occupancy(limits, 128, 1000, 255)["limited_by"] == ["registers"]
    assert occupancy(limits, 160, 1000, 200)["blocks"] == 1  # 2 warps a scheduler, not 2.5
    assert "registers" not in occupancy(limits, 128, 1000, None)["bounds"]
    assert not occupancy(limits, 128, 200_000, 32)["fits"]


# ---- The page ----


class Page(HTMLParser):
    """Every tag that opens must close, and nothing may be loaded."""

    VOID = frozenset({"meta", "link", "img", "input", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href", "data")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
def test_a_timeline_is_drawn_by_itself(name: str, tmp_path: Path) -> None:
    data = report(name)
    svg = plot_timeline(data, tmp_path / "x.svg", title="a < b")
    assert (tmp_path / "x.svg").read_text() == svg
    root = ElementTree.fromstring(svg)
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    rows = data["launches"][0]["trace"]["timeline"]["rows"]
    assert {"a < b", *(row["name"] for row in rows)} <= set(texts)
    spans = sum(len(row["spans"]) for row in rows)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}rect"))) > spans


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_small_well_formed_and_needs_nothing_else(name: str, tmp_path: Path) -> None:
    file = tmp_path / "k.html"
    write_page(file, [report(name)])
    text = file.read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert Page(text).loaded == []
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # the name of SVG, which nothing loads
    assert "url(" not in text and "@import" not in text and "fetch(" not in text
    assert read_page(file) == [report(name)]


def test_the_same_kernel_gives_the_same_bytes() -> None:
    assert make_page([report("softmax")]) == make_page([kernel("softmax").report_data()])


def test_kernel_report_writes_the_page(tmp_path: Path) -> None:
    file = tmp_path / "k.html"
    kernel("softmax").report(str(file))
    assert read_page(file) == [report("softmax")]


def test_what_is_no_report_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    for text in ("<html></html>", "[]", '{"a": 1}', "\0"):
        file.write_text(text)
        with pytest.raises(TilewrightError, match=r"is no report of Tilewright"):
            read_page(file)
    with pytest.raises(TilewrightError, match=r"cannot be read"):
        read_page(tmp_path / "absent.html")


# ---- Comparisons ----


def test_a_report_compared_with_itself_has_no_difference() -> None:
    found = compare(report("matmul"), report("matmul"))
    assert not (found["removed"] or found["added"] or found["lines"] or found["tiles"])
    assert all(figure["a"] == figure["b"] for figure in found["figures"])


def test_a_comparison_names_what_changed() -> None:
    before = report("matmul")
    after = make_matmul(256, 256, 256, 2, "vgpu:sm_80").report_data()
    found = compare(before, after)
    figures = {figure["name"]: (figure["a"], figure["b"]) for figure in found["figures"]}
    assert figures["shared memory, bytes"][0] > figures["shared memory, bytes"][1]
    tiles = {tile["name"]: (tile["a"], tile["b"]) for tile in found["tiles"]}
    assert "3 versions" in tiles["a"][0] and "2 versions" in tiles["a"][1]


def test_report_diff_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    a, b, both = (tmp_path / name for name in ("a.html", "b.html", "both.html"))
    write_page(a, [report("matmul")])
    b.write_text(json.dumps(make_matmul(256, 256, 256, 2, "vgpu:sm_80").report_data()))
    assert main(["report-diff", str(a), str(a)]) == 0
    assert "no decision and no counter differs" in capsys.readouterr().out
    assert main(["report-diff", str(a), str(b), "-o", str(both)]) == 1
    assert "shared memory, bytes" in capsys.readouterr().out
    assert [entry["name"] for entry in read_page(both)] == ["matmul", "matmul"]
    assert main(["report-diff", str(a), str(tmp_path / "none.html")]) == 2


def test_tw_run_report_has_all_kernels_of_the_script(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "k.html"
    script = tmp_path / "two.py"
    script.write_text(
        "import numpy as np, tilewright, tilewright.language as T\n"
        "def make(n):\n"
        "    @T.prim_func\n"
        "    def double(A: T.Tensor((n,), 'int32'), B: T.Tensor((n,), 'int32')):\n"
        "        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:\n"
        "            for i in T.Parallel(64):\n"
        "                B[bx * 64 + i] = A[bx * 64 + i] * 2\n"
        "    return tilewright.compile(double, out_idx=[1])\n"
        "assert make(100)(np.arange(100, dtype=np.int32))[99] == 198\n"
        "make(128)\n"
    )
    assert main(["run", str(script), "--device", "cpu", "--report", str(file)]) == 0
    assert "a report of 'double'" in capsys.readouterr().err
    first, second = read_page(file)
    assert first["made_up"] is None and second["made_up"] == {}
    assert main(["run", str(script), "--report", str(tmp_path / "no" / "k.html")]) == 1
