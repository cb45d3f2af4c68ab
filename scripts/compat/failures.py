"""Why a case failed: what Tilewright refused, a comparison, or a line about CUDA text."""

from __future__ import annotations

import re
from typing import Any

from generated_text import assertion_on_kernel_text

#: Uses of TileLang's and TVM's own passes, tools and registries, which no kernel needs.
_INTERNALS = re.compile(
    r"'(tvm|tilelang\.(analysis|backend|cache|carver|instrumentation|ir|tools|transform|utils|jit)\b)"
    r".*' is not part of Tilewright|'\w+' is not part of Tilewright; the carver"
)

#: Functions without a kernel: TVM compiles them for a host, by passes that are TileLang's own.
_NO_KERNEL = re.compile(r"launches no kernel|is only allowed inside 'with T\.Kernel")


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
            elif _NO_KERNEL.search(message):
                status = "no kernel"
            return {"status": status, "what": message, "where": where}
        cause = cause.__cause__ or cause.__context__
    message = (str(error).splitlines() or [""])[0][:300]
    what = f"{type(error).__name__}: {message}"
    if not isinstance(error, AssertionError):
        return {"status": "host", "what": what}
    if line := assertion_on_kernel_text(error):
        return {"status": "source text", "what": line}
    return {"status": "wrong", "what": what}
