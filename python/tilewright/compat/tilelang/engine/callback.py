"""Callbacks on generated source text: Tilewright generates none, so registering one is an error."""

from __future__ import annotations

from tilewright.compat import refuse_rest
from tilewright.support.not_part import NotPart

_REASON = "no source text is generated; kernel.ptx and kernel.ir(stage) show what is"

register_c_postproc = NotPart("register_c_postproc", _REASON)
register_c_postproc_callback = NotPart("register_c_postproc_callback", _REASON)
register_cuda_postproc = NotPart("register_cuda_postproc", _REASON)
register_cuda_postproc_callback = NotPart("register_cuda_postproc_callback", _REASON)
register_hip_postproc = NotPart("register_hip_postproc", _REASON)
register_hip_postproc_callback = NotPart("register_hip_postproc_callback", _REASON)

refuse_rest(__name__)
