"""`make docs`: each dialect and each list of passes has a page of its own."""

from __future__ import annotations

import build_docs


def test_rooms_do_not_overwrite_each_others_pages() -> None:
    include = build_docs.ROOT / "include" / "tilewright"
    records = [file for pattern in build_docs.GENERATORS for file in include.rglob(pattern)]
    pages = build_docs.reference_pages()
    assert len(pages) == len(records) > 1
    assert "tile-check-plans" in pages["reference/PlanCheck-Passes.md"]
    assert "tile-infer-layouts" in pages["reference/Transforms-Passes.md"]
