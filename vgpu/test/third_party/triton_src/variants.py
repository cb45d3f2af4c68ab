"""What is compiled from `kernels.py`: one row a PTX file. Read by `regenerate.py` only.

A variant names the kernel, the types of its arguments (a `:16` marks values divisible by 16, which
is what Triton's launcher would find out), the constants, and the architecture.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Variant:
    name: str
    kernel: str
    arch: int
    signature: tuple[str, ...]  # of the arguments that are not constants
    constants: dict = field(default_factory=dict)
    num_warps: int = 4
    num_stages: int = 3


def _matmul(name, arch, operand, result, tile, a_columns=False, b_columns=False, **options):
    """The strides that are 1 become constants, as Triton's launcher makes them."""
    m, n, k = tile
    strides = {
        "stride_am": "i32:16",
        "stride_ak": "i32:16",
        "stride_bk": "i32:16",
        "stride_bn": "i32:16",
    }
    constants = {"BM": m, "BN": n, "BK": k, "ACC": options.pop("acc", "float32")}
    constants["stride_am" if a_columns else "stride_ak"] = 1
    constants["stride_bk" if b_columns else "stride_bn"] = 1
    signature = (f"*{operand}:16", f"*{operand}:16", f"*{result}:16", "i32", "i32:16", "i32:16")
    signature += tuple(kind for name_, kind in strides.items() if name_ not in constants)
    return Variant(name, "matmul", arch, signature, constants, **options)


_ATTENTION = ("*fp16:16", "*fp16:16", "*fp16:16", "*fp16:16", "i32:16", "fp32")

VARIANTS = [
    Variant(
        "add_sm80", "vector_add", 80, ("*fp32:16", "*fp32:16", "*fp32:16", "i32"), {"BLOCK": 512}
    ),
    Variant(
        "add_unaligned_sm80", "vector_add", 80, ("*fp16", "*fp16", "*fp16", "i32"), {"BLOCK": 256}
    ),
    Variant("softmax_sm80", "softmax", 80, ("*fp32:16", "*fp32:16", "i32"), {"BLOCK": 512}),
    Variant(
        "softmax_sm90", "softmax", 90, ("*fp32:16", "*fp32:16", "i32"), {"BLOCK": 1024}, num_warps=8
    ),
    Variant(
        "layer_norm_sm80",
        "layer_norm",
        80,
        ("*fp16:16", "*fp32:16", "*fp32:16", "*fp16:16", "*fp32:16", "*fp32:16", "i32", "fp32"),
        {"BLOCK": 256},
    ),
    Variant(
        "histogram_sm80",
        "histogram_atomics",
        80,
        ("*i32:16", "*i32:16", "*fp32:16", "i32"),
        {"BLOCK": 512},
    ),
    Variant("scan_sm80", "scan_rows", 80, ("*i32:16", "*i32:16"), {"COLS": 512}),
    _matmul("matmul_f16_sm80", 80, "fp16", "fp32", (64, 64, 32)),
    _matmul(
        "matmul_f16_columns_sm80", 80, "fp16", "fp16", (64, 64, 32), a_columns=True, b_columns=True
    ),
    _matmul("matmul_bf16_sm80", 80, "bf16", "fp32", (32, 64, 32)),
    _matmul("matmul_f16_acc16_sm80", 80, "fp16", "fp16", (32, 32, 32), acc="float16"),
    _matmul("matmul_tf32_sm80", 80, "fp32", "fp32", (32, 32, 32)),
    _matmul("matmul_s8_sm80", 80, "i8", "i32", (32, 32, 64), b_columns=True, acc="int32"),
    _matmul("matmul_f64_sm80", 80, "fp64", "fp64", (32, 32, 16), acc="float64", num_stages=2),
    _matmul("matmul_e4m3_sm89", 89, "fp8e4nv", "fp32", (32, 32, 64), b_columns=True),
    _matmul("matmul_e5m2_sm89", 89, "fp8e5", "fp32", (32, 32, 64), b_columns=True),
    _matmul("matmul_f16_sm90", 90, "fp16", "fp32", (64, 64, 32)),
    _matmul(
        "matmul_f16_columns_sm90", 90, "fp16", "fp16", (64, 128, 32), a_columns=True, b_columns=True
    ),
    _matmul("matmul_bf16_sm90", 90, "bf16", "fp32", (64, 32, 64)),
    _matmul("matmul_tf32_sm90", 90, "fp32", "fp32", (64, 32, 32), b_columns=True),
    _matmul("matmul_s8_sm90", 90, "i8", "i32", (64, 32, 64), b_columns=True, acc="int32"),
    _matmul("matmul_e4m3_sm90", 90, "fp8e4nv", "fp32", (64, 32, 64), b_columns=True),
    Variant(
        "matmul_tma_sm90",
        "matmul_descriptors",
        90,
        ("tensordesc<fp16[64,64]>", "tensordesc<fp16[64,64]>", "tensordesc<fp16[64,64]>", "i32:16"),
        {"BM": 64, "BN": 64, "BK": 64},
    ),
    Variant(
        "attention_sm80",
        "flash_attention",
        80,
        _ATTENTION,
        {"BM": 64, "BN": 32, "D": 32, "CAUSAL": False},
        num_stages=2,
    ),
    Variant(
        "attention_causal_sm80",
        "flash_attention",
        80,
        _ATTENTION,
        {"BM": 32, "BN": 32, "D": 64, "CAUSAL": True},
        num_stages=2,
    ),
    Variant(
        "attention_sm90",
        "flash_attention",
        90,
        _ATTENTION,
        {"BM": 64, "BN": 32, "D": 64, "CAUSAL": False},
        num_stages=2,
    ),
]
