"""Sphinx's settings for `make docs`; scripts/build_docs.py calls Sphinx."""

import re
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

project = "Tilewright"
author = "The Tilewright authors"
project_copyright = author
_version = Path(__file__).parents[1] / "python" / "tilewright" / "support" / "version.py"
release = re.search(r'RELEASE = "([^"]+)"', _version.read_text(encoding="utf-8"))[1]

extensions = ["myst_parser", "breathe"]
breathe_default_project = "tilewright"  # scripts/build_docs.py says where Doxygen's output is
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4
nitpicky = True
# Names of the standard, of templates' parameters, and of what headers keep to themselves.
nitpick_ignore_regex = [
    (r"c(pp)?:identifier", r"std(::.*)?|u?int\d+_t|size_t|detail(::.*)?|Impl|Where(::.*)?|Number"),
    (r"cpp:identifier", r".*::@\d+"),  # a union without a name
]
# Sections of generated pages skip levels; excerpts of code have ellipses.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

html_theme = "furo"
html_title = f"Tilewright {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # excerpts are fetched, which pages opened as files cannot do
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}


class _Plain(TextLexer):
    """Languages that Pygments does not know: shown as they are."""


def setup(app: Any) -> None:
    """Called by Sphinx."""
    for name in ("mlir", "ptx"):
        app.add_lexer(name, _Plain)
