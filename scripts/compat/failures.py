"""Why a case failed: what Tilewright refused, a comparison, or a line about CUDA text."""

from __future__ import annotations

import linecache
import re
from typing import Any

_ON_SOURCE_TEXT = re.compile(
    r"(source|src|code|ptx|cuda|script|text|ir\b|sass)\w*[\s)\].]|get_kernel_source|\bre\.(search|findall)"
    r"|\.count\(|FileCheck"
)

_OF_SOURCE_TEXT = re.compile(
    r"in (the )?(kernel )?(source|code)\b|generated code|CUDA source|calls (found|but found)"
    r"|Expected \w+ calls|__syncthreads|No \w+ calls"
)

#: Uses of TileLang's and TVM's own passes, tools and registries, which no kernel needs.
_INTERNALS = re.compile(
    r"'(tvm|tilelang\.(analysis|backend|cache|carver|instrumentation|ir|tools|transform|utils|jit)\b)"
    r".*' is not part of Tilewright|'\w+' is not part of Tilewright; the carver"
)


def describe_failure(error: BaseException, file: str) -> dict[str, Any]:
    """The status that an exception gives its case, and the construct or line it is about."""
    from tilewright.support.errors import TilewrightError

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, TilewrightError):
            message = cause.message.splitlines()[0]
            where = f"{cause.location.file}:{cause.location.line}" if cause.location else ""
            status = "crash" if cause.kind == "internal error" else "refused"
            if _INTERNALS.match(message):
                status = "internals"
            return {"status": status, "what": message, "where": where}
        cause = cause.__cause__ or cause.__context__
    message = (str(error).splitlines() or [""])[0][:300]
    what = f"{type(error).__name__}: {message}"
    if not isinstance(error, AssertionError):
        return {"status": "host", "what": what}
    line = _asserting_line(error)
    if ("assert" in line and _ON_SOURCE_TEXT.search(line)) or _OF_SOURCE_TEXT.search(message):
        return {"status": "source text", "what": line}
    return {"status": "wrong", "what": what}


def _asserting_line(error: BaseException) -> str:
    """The innermost line of the traceback that is an assertion."""
    traceback, found = error.__traceback__, ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        line = linecache.getline(file, traceback.tb_lineno).strip()
        if line.startswith("assert") or "assert" in line:
            found = line
        traceback = traceback.tb_next
    return found
