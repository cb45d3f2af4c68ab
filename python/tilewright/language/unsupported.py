"""Names of the TileLang language that Tilewright knows but does not support yet."""

from __future__ import annotations

#: name: what to do instead, or "" where there is nothing.
UNSUPPORTED: dict[str, str] = dict.fromkeys(
    """
    ClusterKernel CUDASourceCodeKernel If Then PersistentTileScheduler PrimExpr Ramp Broadcast
    Shuffle StridedTensor Var WSID WSPipeline WSRole WSSchedule WSScope WSSync WSSyncKind While abs2
    activemask add2 address_of alloc_cluster_barrier alloc_tcgen05_smem_desc alloc_wgmma_desc
    annotate_compile_flags annotate_pass_configs annotate_ws_schedule atomic_load atomic_store
    block_rank_in_cluster call_extern call_intrin clc_get_first_ctaid_x clc_is_canceled
    clc_try_cancel_multicast cluster_arrive cluster_sync cluster_wait copy_cluster
    create_tma_descriptor decl_buffer extract_lane fast_rcp fma2 func_attr gemm_sp handle ieee_add
    ieee_fdiv ieee_fmaf ieee_frcp ieee_frsqrt ieee_fsqrt ieee_mul ieee_sub import_source
    index_to_coordinates initialize_wgmma_descriptor launch_thread ldg128 ldg256 ldg32 ldg64 lds128
    lds32 lds64 let make_tensor match_all_sync match_any_sync match_buffer max2
    mbarrier_arrive_expect_tx mbarrier_expect_tx min2 mma_gemm_blockscaled mul2 named_barrier_arrive
    ptr ptx_arrive_barrier ptx_fence_barrier_init ptx_init_barrier_thread_count ptx_wgmma_ss reads
    rng_init rng_rand rng_rand_float sblock sblock_alloc_buffer sblock_attr stg128 stg256 stg32
    stg64 sts128 sts32 sts64 sub2 target tcgen05_cp_warpx4 tcgen05_gemm_blockscaled
    tcgen05_sf_warp_transpose thread_return tir tma_gather4 tma_gather4_bytes tma_load tma_scatter4
    tvm_access_ptr tvm_storage_sync type_annotation writes ws_op __ffs __fns
    """.split(),
    "",
)

UNSUPPORTED.update(
    call_extern="functions in CUDA source text cannot run here; write it in the language",
    import_source="functions in CUDA source text cannot run here; write them in the language",
    let="a plain assignment binds a value",
)

#: dtypes of TileLang that have no element type here yet.
UNSUPPORTED_DTYPES = tuple(
    """
    float4_e2m1fnx2 float4_e2m1_unpacked float8_e4m3fnx8 bfloat16x2 float16x2 float32x2 float32x4
    float32x8
    """.split()
)
