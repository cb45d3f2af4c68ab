"""Reports in a browser: every view opens, and shows the numbers of the data.

Needs Chromium (`scripts/bootstrap.sh browser`); part of `make test-long`. With TILEWRIGHT_PICTURES
set to a folder, pictures of all views are left there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, find_browser
from report_kernels import report
from tilewright.report.page import write_page
from tilewright.runtime.ptxas import find_nvdisasm, find_ptxas

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed"),
]

NAMES = ("seed", "matmul", "softmax", "hopper")
VIEWS = ("summary", "source", "code", "layouts", "memory")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(1400, 1000) as page:
        yield page


@pytest.fixture(params=NAMES)
def shown(request: Any, browser: Browser, tmp_path: Path) -> Iterator[tuple[str, Browser]]:
    file = tmp_path / f"{request.param}.html"
    write_page(file, [report(request.param)])
    browser.requests.clear()
    browser.errors.clear()
    browser.open(file, "document.body && document.body.dataset.ready === 'true'")
    yield request.param, browser
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith("file:")] == []


def click(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector({selector!r}).click()")


def text(browser: Browser, selector: str) -> str:
    return browser.run(f"document.querySelector({selector!r}).textContent")


def texts(browser: Browser, selector: str, of: str = "textContent") -> list[str]:
    return browser.run(f"[...document.querySelectorAll({selector!r})].map(node => node.{of})")


def take_picture(browser: Browser, name: str) -> None:
    if folder := os.environ.get("TILEWRIGHT_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.picture(Path(folder, f"{name}.png"))


def grouped(value: float) -> str:
    """As the page writes integers."""
    return f"{value:,.0f}"


def test_each_view_opens(shown: tuple[str, Browser]) -> None:
    name, browser = shown
    for view in VIEWS:
        click(browser, f"#tab-{view}")
        assert not browser.run(f"document.querySelector('#view-{view}').hidden")
        assert browser.run("document.querySelectorAll('.view:not([hidden])').length") == 1
        assert len(text(browser, f"#view-{view}")) > 300
        take_picture(browser, f"{name}-{view}")
    browser.set_dark(True)
    click(browser, "#tab-source")
    take_picture(browser, f"{name}-dark")
    browser.set_dark(False)


def test_the_summary_has_the_numbers_of_the_data(shown: tuple[str, Browser]) -> None:
    name, browser = shown
    data = report(name)
    click(browser, "#tab-summary")
    shown_text = text(browser, "#view-summary")
    launch = data["launches"][0]
    assert grouped(launch["counters"]["warp_instructions"]) in shown_text
    assert grouped(launch["counters"]["global_sectors"]) in shown_text
    assert data["reproduce"]["command"] in shown_text
    assert "a model" in shown_text
    predicted = text(browser, "#prediction")
    assert launch["prediction"]["cycle"]["shares"][0][0] in predicted
    assert f"predicted for {launch['prediction']['machine']}" in shown_text


def test_source_lines_have_their_counters_and_decisions(shown: tuple[str, Browser]) -> None:
    name, browser = shown
    data = report(name)
    click(browser, "#tab-source")
    for line in data["launches"][0]["counters"]["source_lines"]:
        if line["location"]:
            key = f"{line['location'][0]}:{line['location'][1]}"
            cells = texts(browser, f'tr[data-line="{key}"] td')
            assert cells[3] == grouped(line["warp_instructions"])
    said = texts(browser, "tr.remark td.text")
    for remark in data["remarks"]:
        if remark["location"]:
            assert any(remark["message"] in entry for entry in said), remark["message"]
    assert browser.run("document.querySelectorAll('td.heat[style]').length") > 1


def test_a_line_of_source_marks_its_ptx(shown: tuple[str, Browser]) -> None:
    name, browser = shown
    data = report(name)
    ptx = next(stage for stage in data["stages"] if stage["kind"] == "ptx")
    location = next(location for location in ptx["lines"] if location)
    key = f"{location[0]}:{location[1]}"
    click(browser, "#tab-source")
    click(browser, f'tr[data-line="{key}"]')
    click(browser, "#tab-code")
    marked = browser.run("document.querySelectorAll('.pane:last-child .row.selected').length")
    assert marked == sum(other == location for other in ptx["lines"])


def test_passes_have_differences(shown: tuple[str, Browser]) -> None:
    _, browser = shown
    click(browser, "#tab-code")
    browser.run("document.querySelector('#stage-left').value = 0")
    browser.run("document.querySelector('#stage-left').dispatchEvent(new Event('change'))")
    changes = 0
    for _ in range(12):
        click(browser, "#next-pass")
        changes += int(browser.run("document.querySelector('.pane.diff').dataset.added"))
    assert changes > 5


def test_steps_leave_out_passes_that_change_nothing(shown: tuple[str, Browser]) -> None:
    name, browser = shown
    texts_of = [stage["text"] for stage in report(name)["stages"]]
    click(browser, "#tab-code")
    browser.run("document.querySelector('#stage-left').value = 0")
    browser.run("document.querySelector('#stage-left').dispatchEvent(new Event('change'))")
    for _ in range(12):
        click(browser, "#next-pass")
        left, right = (
            int(browser.run(f"document.querySelector('#stage-{side}').value"))
            for side in ("left", "right")
        )
        assert right == left + 1
        assert texts_of[left] != texts_of[right]


@pytest.mark.skipif(not find_ptxas() or not find_nvdisasm(), reason="no ptxas or no nvdisasm")
def test_a_line_of_source_marks_its_machine_code(shown: tuple[str, Browser]) -> None:
    name, browser = shown
    stages = report(name)["stages"]
    assert stages[-1]["kind"] == "sass"
    location = next(location for location in stages[-1]["lines"] if location)
    click(browser, "#tab-code")
    browser.run(f"document.querySelector('#stage-right').value = {len(stages) - 1}")
    browser.run("document.querySelector('#stage-right').dispatchEvent(new Event('change'))")
    click(browser, "#tab-source")
    click(browser, f'tr[data-line="{location[0]}:{location[1]}"]')
    click(browser, "#tab-code")
    marked = browser.run("document.querySelectorAll('.pane:last-child .row.selected').length")
    assert marked == sum(other == location for other in stages[-1]["lines"])
    take_picture(browser, f"{name}-sass")


def test_a_narrow_window_scrolls_in_its_parts_only(tmp_path: Path) -> None:
    file = tmp_path / "k.html"
    write_page(file, [report("seed")])
    with Browser(420, 900) as page:
        page.open(file, "document.body && document.body.dataset.ready === 'true'")
        width = page.run("window.innerWidth")
        for view in VIEWS:
            click(page, f"#tab-{view}")
            assert page.run("document.documentElement.scrollWidth") <= width, view


def test_the_difference_is_right() -> None:
    """Applied to the old text, it gives the new one."""
    with Browser() as page:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            file = Path(folder, "x.html")
            write_page(file, [report("softmax")])
            page.open(file, "document.body && document.body.dataset.ready === 'true'")
            wrong = page.run(
                """(() => {
                  let state = 7, wrong = 0;
                  const random = n => (state = (state * 1103515245 + 12345) % 2147483648) % n;
                  for (let round = 0; round < 300; round++) {
                    const make = () => Array.from({length: random(12)}, () => "abc"[random(3)]);
                    const a = make(), b = make(), steps = TW.difference(a, b);
                    const old = steps.filter(s => s[0] !== "+").map(s => a[s[1]]).join("");
                    const now = steps.filter(s => s[0] !== "-").map(s => b[s[2]]).join("");
                    if (old !== a.join("") || now !== b.join("")) wrong++;
                    if (steps.some(s => s[0] === " " && a[s[1]] !== b[s[2]])) wrong++;
                  }
                  return wrong;
                })()"""
            )
            assert wrong == 0


def test_layouts_say_who_holds_an_element(shown: tuple[str, Browser]) -> None:
    name, browser = shown
    from tilewright._core import core

    click(browser, "#tab-layouts")
    tiles = [tile for tile in report(name)["launches"][0]["tiles"] if tile["layout"]]
    for tile in tiles[:6]:
        click(browser, f'button[data-tile="{tile["name"]}"]')
        assert text(browser, "#layout-notation") == tile["layout"]["notation"]
        browser.run("document.querySelector('#view-layouts svg').focus()")
        browser.press("ArrowRight")
        told = text(browser, "#layout-told")
        shape = tile["layout"]["shape"]
        index = [*(0 for _ in shape[:-1]), min(1, shape[-1] - 1)]
        known = core.parse_layout(tile["layout"]["notation"], shape)
        if "thread" in tile["layout"]:
            thread, slot = known.owner_of(index)
            assert f"thread {thread} " in told and f"slot {slot}" in told
        else:
            location = 0
            extents = tile["layout"]["output_shape"]
            for value, extent in zip(known.map(index), extents, strict=True):
                location = location * extent + value
            assert f"byte {tile['offset'] + location * tile['element_bytes']} " in told
    take_picture(browser, f"{name}-layout")


def test_banks_agree_with_the_virtual_gpu(shown: tuple[str, Browser]) -> None:
    """Passes that the page draws are those that the virtual GPU counted for the instruction."""
    name, browser = shown
    launch = report(name)["launches"][0]
    counted = {line["ptx_line"]: line for line in launch["counters"]["lines"]}
    compared = 0
    for number, access in enumerate(launch["trace"]["accesses"]):
        line = counted.get(access["ptx_line"])
        if access["space"] != "shared" or access["is_asynchronous"] or not line:
            continue
        found = browser.run(f"TW.wavefronts(TW.current().trace.accesses[{number}])")
        assert found["ideal"] <= found["actual"]
        if line["shared_wavefronts"] == line["shared_wavefronts_ideal"]:
            assert found["actual"] == found["ideal"], access["opcode"]
        compared += 1
    assert compared or name == "softmax"


def test_a_warp_is_stepped_through(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "k.html"
    write_page(file, [report("matmul")])
    browser.open(file, "document.body && document.body.dataset.ready === 'true'")
    click(browser, "#tab-layouts")
    click(browser, 'button[data-tile="a"]')
    assert "lane 0:" in text(browser, "#access-told")
    click(browser, "#next-lane")
    assert "lane 1:" in text(browser, "#access-told")
    click(browser, "#previous-lane")
    click(browser, "#previous-lane")
    assert "lane 31:" in text(browser, "#access-told")
    take_picture(browser, "matmul-access")


def test_memory_and_time_have_all_tiles_and_rows(shown: tuple[str, Browser]) -> None:
    name, browser = shown
    launch = report(name)["launches"][0]
    click(browser, "#tab-memory")
    tiles = {tile["name"] for tile in launch["tiles"] if "offset" in tile}
    assert set(texts(browser, "#memory-picture [data-tile]", "dataset.tile")) == tiles
    rows = texts(browser, "#timeline-picture [data-row]", "dataset.row")
    assert rows == [row["name"] for row in launch["trace"]["timeline"]["rows"]]
    click(browser, "#zoom-in")
    click(browser, "#later")
    assert "cycles" in texts(browser, "#timeline-picture", "getAttribute('aria-label')")[0]
    browser.run("document.querySelector('#timeline-picture').scrollIntoView()")
    take_picture(browser, f"{name}-time")


def test_the_keyboard_moves_between_views_and_lines(shown: tuple[str, Browser]) -> None:
    _, browser = shown
    click(browser, "#tab-summary")
    browser.run("document.querySelector('#tab-summary').focus()")
    browser.press("ArrowRight")
    assert browser.run("document.activeElement.id") == "tab-source"
    assert not browser.run("document.querySelector('#view-source').hidden")
    browser.run("document.querySelector('#view-source tbody').focus()")
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    assert browser.run("document.querySelectorAll('#view-source tr.selected').length") == 1
    browser.press("Enter")
    assert not browser.run("document.querySelector('#view-code').hidden")


def test_controls_have_names(shown: tuple[str, Browser]) -> None:
    _, browser = shown
    for view in VIEWS:
        click(browser, f"#tab-{view}")
    nameless = browser.run(
        """[...document.querySelectorAll('button, select, input, svg[tabindex], [role=region]')]
           .filter(node => !node.getAttribute('aria-label') && !node.textContent.trim()
                           && !node.closest('label')?.textContent.trim())
           .map(node => node.outerHTML.slice(0, 100))"""
    )
    assert nameless == []


def test_a_page_prints(shown: tuple[str, Browser], tmp_path: Path) -> None:
    _, browser = shown
    file = tmp_path / "k.pdf"
    browser.print_to(file)
    assert file.read_bytes().startswith(b"%PDF")
    assert file.read_bytes().count(b"/Type /Page") >= 4


def test_two_kernels_are_compared(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "both.html"
    write_page(file, [report("matmul"), report("hopper")])
    browser.open(file, "document.body && document.body.dataset.ready === 'true'")
    click(browser, "#tab-compare")
    shown_text = text(browser, "#view-compare")
    for name in ("matmul", "hopper"):
        counters = report(name)["launches"][0]["counters"]
        assert grouped(counters["warp_instructions"]) in shown_text
    take_picture(browser, "compare")
    browser.run("document.querySelector('#kernel').value = 1")
    browser.run("document.querySelector('#kernel').dispatchEvent(new Event('change'))")
    assert "sm_90a" in text(browser, "#subtitle")
