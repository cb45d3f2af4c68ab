"""`PassConfigKey`: the options of `pass_configs`, with TileLang's names.

Only fast math changes numbers, and `tilewright.deterministic` fixes the order of sums that blocks
make together. The others steer lowerings that Tilewright decides itself; they are accepted and have
no effect on meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tilewright.errors import LanguageError


class PassConfigKey(StrEnum):
    """Keys of `pass_configs`; each is also accepted as its text."""

    TL_SIMPLIFY = "tl.Simplify"
    TL_SIMPLIFY_ENABLE_LET_INLINE = "tl.simplify_enable_let_inline"
    TL_SIMPLIFY_APPLY_CONSTRAINTS_TO_BOOLEAN_BRANCHES = (
        "tl.simplify_apply_constraints_to_boolean_branches"
    )
    TL_SIMPLIFY_CONVERT_BOOLEAN_TO_AND_OF_ORS = "tl.simplify_convert_boolean_to_and_of_ors"
    TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_PROVE_CONDITIONAL = (
        "tl.simplify_propagate_knowns_to_prove_conditional"
    )
    TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_SIMPLIFY_EXPRESSIONS = (
        "tl.simplify_propagate_knowns_to_simplify_expressions"
    )
    TL_ENABLE_FAST_MATH = "tl.enable_fast_math"
    TL_DISABLE_FAST_MATH = "tl.disable_fast_math"
    TL_DISABLE_WARP_SPECIALIZED = "tl.disable_warp_specialized"
    TL_DISABLE_TMA_LOWER = "tl.disable_tma_lower"
    TL_DISABLE_WGMMA = "tl.disable_wgmma"
    TL_DISABLE_VECTORIZE_256 = "tl.disable_vectorize_256"
    TL_DISABLE_THREAD_STORAGE_SYNC = "tl.disable_thread_storage_sync"
    TL_DISABLE_SHARED_MEMORY_REUSE = "tl.disable_shared_memory_reuse"
    TL_DISABLE_DATA_RACE_CHECK = "tl.disable_data_race_check"
    TL_DISABLE_BUFFER_INIT_CHECK = "tl.disable_buffer_init_check"
    TL_ENABLE_ASYNC_COPY = "tl.enable_async_copy"
    TL_ENABLE_AGGRESSIVE_SHARED_MEMORY_MERGE = "tl.enable_aggressive_shared_memory_merge"
    TL_ENABLE_LOWER_LDGSTG = "tl.enable_lower_ldgstg"
    TL_ENABLE_LOWER_LDGSTG_PREDICATED = "tl.enable_lower_ldgstg_predicated"
    TL_ENABLE_PTXAS_VERBOSE_OUTPUT = "tl.enable_ptxas_verbose_output"
    TL_ENABLE_VECTORIZE_PLANNER_VERBOSE = "tl.enable_vectorize_planner_verbose"
    TL_PTXAS_REGISTER_USAGE_LEVEL = "tl.ptxas_register_usage_level"
    TL_DEVICE_COMPILE_FLAGS = "tl.device_compile_flags"
    TL_EMIT_LINE_DIRECTIVES = "tl.emit_line_directives"
    TL_CONFIG_INDEX_BITWIDTH = "tl.config_index_bitwidth"
    TL_IF_STMT_BINDING_INLINE_REPLAYABLE_BINDS = "tl.if_stmt_binding_inline_replayable_binds"
    TL_LAYOUT_COST_MODEL = "tl.layout_cost_model"
    TL_LAYOUT_VISUALIZATION_ENABLE = "tl.layout_visualization_enable"
    TL_LAYOUT_VISUALIZATION_FORMATS = "tl.layout_visualization_formats"
    TL_LOOP_UNSWITCHING_ALLOW_NON_TRIVIAL_ELSE = "tl.loop_unswitching_allow_non_trivial_else"
    TL_PASS_PROFILE = "tl.pass_profile"
    TL_PASS_PROFILE_THRESHOLD_MS = "tl.pass_profile_threshold_ms"
    TL_REDUCER_FORCE_BASELINE = "tl.reducer_force_baseline"
    TL_STORAGE_REWRITE_DETECT_INPLACE = "tl.storage_rewrite_detect_inplace"
    TILEWRIGHT_DETERMINISTIC = "tilewright.deterministic"


def normalize(configs: Mapping[Any, Any] | None) -> dict[str, Any]:
    """`pass_configs` by text; an unknown key is an error with a suggestion."""
    result: dict[str, Any] = {}
    known = {key.value.lower(): key.value for key in PassConfigKey}
    for key, value in (configs or {}).items():
        text = str(key.value if isinstance(key, PassConfigKey) else key)
        if text.lower() not in known:
            from difflib import get_close_matches

            close = get_close_matches(text, list(known.values()), n=1)
            raise LanguageError(
                f"unknown pass config '{text}'",
                hint=f"did you mean '{close[0]}'?" if close else None,
            )
        result[known[text.lower()]] = value
    return result


def names_fast_math(configs: Mapping[str, Any]) -> bool:
    """True if `configs` (normalised) say anything of fast math."""
    keys = (PassConfigKey.TL_ENABLE_FAST_MATH.value, PassConfigKey.TL_DISABLE_FAST_MATH.value)
    return any(key in configs for key in keys)


def deterministic(configs: Mapping[str, Any]) -> bool | None:
    """Whether atomics are to be applied in a fixed order; None leaves it to the environment."""
    value = configs.get(PassConfigKey.TILEWRIGHT_DETERMINISTIC.value)
    return None if value is None else bool(value)


def fast_math(configs: Mapping[str, Any]) -> bool:
    """True if `configs` (normalised) allow approximate functions and contraction."""
    if configs.get(PassConfigKey.TL_DISABLE_FAST_MATH.value):
        return False
    return bool(configs.get(PassConfigKey.TL_ENABLE_FAST_MATH.value))
