"""`PassConfigKey`: the options of `pass_configs`, with TileLang's names.

Only fast math changes numbers, and `tilewright.deterministic` fixes the order of sums that blocks
make together. Two keep code for Hopper from TMA and from producer warps. The others steer lowerings
that Tilewright decides itself; they are accepted and have no effect on meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tilewright.support.errors import LanguageError


class PassConfigKey(StrEnum):
    """Keys of `pass_configs`; each is also accepted as its text."""

    CUDA_KERNELS_OUTPUT_DIR = "cuda.kernels_output_dir"
    TIR_ADD_LOWER_PASS = "tirx.add_lower_pass"
    TIR_DISABLE_CSE = "tirx.disable_cse_tir"
    TIR_DISABLE_STORAGE_REWRITE = "tirx.disable_storage_rewrite"
    TIR_DISABLE_VECTORIZE = "tirx.disable_vectorize"
    TIR_ENABLE_DEBUG = "tirx.enable_debug"
    TIR_ENABLE_EQUIV_TERMS_IN_CSE = "tir.enable_equiv_terms_in_cse_tir"
    TIR_MERGE_STATIC_SMEM = "tirx.merge_static_smem"
    TIR_NOALIAS = "tirx.noalias"
    TIR_SIMPLIFY = "tirx.Simplify"
    TIR_USE_ASYNC_COPY = "tirx.use_async_copy"
    TL_AST_PRINT_ENABLE = "tl.ast_print_enable"
    TL_CONFIG_INDEX_BITWIDTH = "tl.config_index_bitwidth"
    TL_DEBUG_MERGE_SHARED_MEMORY_ALLOCATIONS = "tl.debug_merge_shared_memory_allocations"
    TL_DEVICE_COMPILE_FLAGS = "tl.device_compile_flags"
    TL_DISABLE_BUFFER_INIT_CHECK = "tl.disable_buffer_init_check"
    TL_DISABLE_DATA_RACE_CHECK = "tl.disable_data_race_check"
    TL_DISABLE_LOOP_UNSWITCHING = "tl.disable_loop_unswitching"
    TL_DISABLE_OUT_OF_BOUND_WARNING = "tl.disable_out_of_bound_warning"
    TL_DISABLE_PRELOWER_SEMANTIC_CHECK = "tl.disable_prelower_semantic_check"
    TL_DISABLE_SAFE_MEMORY_ACCESS = "tl.disable_safe_memory_legalize"
    TL_DISABLE_SHARED_MEMORY_REUSE = "tl.disable_shared_memory_reuse"
    TL_DISABLE_SHUFFLE_ELECT = "tl.disable_shuffle_elect"
    TL_DISABLE_THREAD_STORAGE_SYNC = "tl.disable_thread_storage_sync"
    TL_DISABLE_TMA_LOWER = "tl.disable_tma_lower"
    TL_DISABLE_VECTORIZE_256 = "tl.disable_vectorize_256"
    TL_DISABLE_WARP_SPECIALIZED = "tl.disable_warp_specialized"
    TL_DISABLE_WGMMA = "tl.disable_wgmma"
    TL_DUMP_IR_DIR = "tl.dump_ir_path"
    TL_EMIT_LINE_DIRECTIVES = "tl.emit_line_directives"
    TL_ENABLE_AGGRESSIVE_SHARED_MEMORY_MERGE = "tl.enable_aggressive_shared_memory_merge"
    TL_ENABLE_ASYNC_COPY = "tl.enable_async_copy"
    TL_ENABLE_AUTO_SCHEDULE = "tl.enable_auto_schedule"
    TL_ENABLE_AUTO_WARP_SPECIALIZATION = "tl.enable_auto_warp_specialization"
    TL_ENABLE_DUMP_IR = "tl.enable_dump_ir"
    TL_ENABLE_FAST_MATH = "tl.enable_fast_math"
    TL_ENABLE_FP32X2_REDUCTION = "tl.enable_fp32x2_reduction"
    TL_ENABLE_LOWER_LDGSTG = "tl.enable_lower_ldgstg"
    TL_ENABLE_LOWER_LDGSTG_PREDICATED = "tl.enable_lower_ldgstg_predicated"
    TL_ENABLE_REDUCER_PLAN_VERBOSE = "tl.enable_reducer_plan_verbose"
    TL_ENABLE_VECTORIZE_PLANNER_VERBOSE = "tl.enable_vectorize_planner_verbose"
    TL_FORCE_LET_INLINE = "tl.force_let_inline"
    TL_IF_STMT_BINDING_INLINE_REPLAYABLE_BINDS = "tl.if_stmt_binding_inline_replayable_binds"
    TL_LAYOUT_COST_MODEL = "tl.layout_cost_model"
    TL_LAYOUT_VISUALIZATION_ENABLE = "tl.layout_visualization_enable"
    TL_LAYOUT_VISUALIZATION_FORMATS = "tl.layout_visualization_formats"
    TL_LOOP_UNSWITCHING_ALLOW_NON_TRIVIAL_ELSE = "tl.loop_unswitching_allow_non_trivial_else"
    TL_PASS_PROFILE = "tl.pass_profile"
    TL_PASS_PROFILE_THRESHOLD_MS = "tl.pass_profile_threshold_ms"
    TL_PTXAS_REGISTER_USAGE_LEVEL = "tl.ptxas_register_usage_level"
    TL_REDUCER_FORCE_BASELINE = "tl.reducer_force_baseline"
    TL_SIMPLIFY = "tl.Simplify"
    TL_SIMPLIFY_APPLY_CONSTRAINTS_TO_BOOLEAN_BRANCHES = "apply_constraints_to_boolean_branches"
    TL_SIMPLIFY_CONVERT_BOOLEAN_TO_AND_OF_ORS = "convert_boolean_to_and_of_ors"
    TL_SIMPLIFY_ENABLE_LET_INLINE = "enable_simplify_let_inline"
    TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_PROVE_CONDITIONAL = "propagate_knowns_to_prove_conditional"
    TL_SIMPLIFY_PROPAGATE_KNOWNS_TO_SIMPLIFY_EXPRESSIONS = (
        "propagate_knowns_to_simplify_expressions"
    )
    TL_SIMPLIFY_TRANSITIVELY_PROVE_INEQUALITIES = "transitively_prove_inequalities"
    TL_STORAGE_REWRITE_DETECT_INPLACE = "tl.storage_rewrite_detect_inplace"
    # Of older versions of TileLang.
    TL_DISABLE_DYNAMIC_TAIL_SPLIT = "tl.disable_dynamic_tail_split"
    TL_DISABLE_FAST_MATH = "tl.disable_fast_math"
    TL_DYNAMIC_ALIGNMENT = "tl.dynamic_alignment"
    TL_ENABLE_PTXAS_VERBOSE_OUTPUT = "tl.enable_ptxas_verbose_output"
    # Of Tilewright.
    TILEWRIGHT_DETERMINISTIC = "tilewright.deterministic"


#: What the keys with an effect do; the documentation shows this table.
EFFECTS = {
    PassConfigKey.TL_ENABLE_FAST_MATH: "`True` permits approximate functions, contraction of "
    "multiplications and additions, and flushing of subnormal numbers",
    PassConfigKey.TL_DISABLE_FAST_MATH: "`True` overrides `tl.enable_fast_math`",
    PassConfigKey.TL_DISABLE_TMA_LOWER: "`True` keeps all copies from TMA (bulk copies)",
    PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: "`True` gives pipelined loops no producer warp",
    PassConfigKey.TILEWRIGHT_DETERMINISTIC: "`True` runs the blocks of a kernel with atomics in "
    "order on the CPU: float sums have the same bits on each run",
}


def normalize(configs: Mapping[Any, Any] | None) -> dict[str, Any]:
    """`pass_configs` by text; an unknown key is an error with a suggestion."""
    result: dict[str, Any] = {}
    known = {key.value.lower(): key.value for key in PassConfigKey}
    for key, value in (configs or {}).items():
        text = str(key.value if isinstance(key, PassConfigKey) else key)
        if text.startswith("tir.") and text.lower() not in known:  # as older versions have it
            text = text.replace("tir.", "tirx.", 1)
        if text.lower() not in known:
            from tilewright.support.suggest import hint_for

            raise LanguageError(
                f"unknown pass config '{text}'", hint=hint_for(text, known.values())
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


def settings(configs: Mapping[str, Any]) -> list[str]:
    """What `configs` (normalised) forbid, as the compiler calls it."""
    names = {
        PassConfigKey.TL_DISABLE_TMA_LOWER: "no_bulk",
        PassConfigKey.TL_DISABLE_WARP_SPECIALIZED: "no_roles",
    }
    return [name for key, name in names.items() if configs.get(key.value)]


def fast_math(configs: Mapping[str, Any]) -> bool:
    """True if `configs` (normalised) allow approximate functions and contraction."""
    if configs.get(PassConfigKey.TL_DISABLE_FAST_MATH.value):
        return False
    return bool(configs.get(PassConfigKey.TL_ENABLE_FAST_MATH.value))
