"""`tilelang.layout`: Tilewright's layouts under TileLang's names."""

from __future__ import annotations

from tilewright.compat import refuse_rest
from tilewright.types.layout import *  # noqa: F403

refuse_rest(__name__)
