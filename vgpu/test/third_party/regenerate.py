#!/usr/bin/env python3
"""Rebuilds ptx/*.ptx from cuda/*.cu (needs nvcc) and triton_src/ (needs triton; no GPU either way).

    python regenerate.py cuda   [NAME …] [--nvcc PATH]
    python regenerate.py triton [NAME …]

The PTX is kept as the compilers wrote it, except that paths are cut to file names and DWARF
sections that nothing refers to are dropped. Triton's launch parameters go to ptx/triton.json.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PTX = HERE / "ptx"

# CUDA source -> architectures it is compiled for.
CUDA_SOURCES = {
    "elementwise": ["sm_80"],
    "transpose": ["sm_80", "sm_90a"],
    "reduce": ["sm_80", "sm_90a"],
    "histogram": ["sm_80"],
    "matmul_tiled": ["sm_80"],
    "matmul_wmma": ["sm_80"],
    "matmul_mma": ["sm_80", "sm_90a"],
    "mma_shapes": ["sm_80", "sm_90a"],
    "scan": ["sm_80", "sm_90a"],
    "warp": ["sm_80"],
    "control": ["sm_80"],
    "recursion": ["sm_80"],
    "bits": ["sm_80"],
    "atomics": ["sm_80", "sm_90a"],
    "wide_atomics": ["sm_90"],
    "runtime": ["sm_80"],
    "softmax": ["sm_80"],
    "math": ["sm_80"],
    "async_copy": ["sm_80"],
    "mbarrier": ["sm_80"],
    "fp8": ["sm_90a"],
    "tma": ["sm_90a"],
    "wgmma": ["sm_90a"],
}

# Kept whole, with its debug sections, because a reader of PTX must cope with them.
WITH_DEBUG_SECTIONS = {"triton_add_sm80"}


def tidy(text: str, keep_sections: bool) -> str:
    """Cuts paths to names; drops DWARF sections other than the strings that `.loc` refers to."""
    text = re.sub(r'(\.file\s+\d+ )"[^"]*/([^"/]+)"(?:, *\d+, *\d+)?', r'\1"\2"', text)
    if not keep_sections:
        text = re.sub(r"\t\.section\t\.debug_(?!str\b)\w+\s*\{[^}]*\}\n?", "", text)
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def build_cuda(names: list[str], nvcc: str) -> None:
    for name in names or CUDA_SOURCES:
        for arch in CUDA_SOURCES[name]:
            target = PTX / f"{name}.{arch}.ptx"
            command = [
                nvcc,
                "-ptx",
                "-lineinfo",
                "-std=c++17",
                "-diag-suppress=177",
                f"-arch={arch}",
            ]
            subprocess.run(
                [*command, f"{name}.cu", "-o", str(target)], cwd=HERE / "cuda", check=True
            )
            target.write_text(tidy(target.read_text(), keep_sections=False))
            print(f"{target.name}: {target.stat().st_size} bytes")


def build_triton(names: list[str]) -> None:
    sys.path.insert(0, str(HERE / "triton_src"))
    import kernels
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile
    from variants import VARIANTS

    launches_file = PTX / "triton.json"
    launches = json.loads(launches_file.read_text()) if launches_file.exists() else {}
    for v in VARIANTS:
        if names and v.name not in names:
            continue
        fn = getattr(kernels, v.kernel)
        constants = dict(v.constants)
        if "ACC" in constants:
            constants["ACC"] = getattr(tl, constants["ACC"])
        free = iter(v.signature)
        kinds = {a: "constexpr" if a in constants else next(free) for a in fn.arg_names}
        attrs = {
            (i,): [["tt.divisibility", 16]]
            for i, kind in enumerate(kinds.values())
            if kind.endswith(":16")
        }
        source = ASTSource(
            fn=fn,
            signature={a: kind.removesuffix(":16") for a, kind in kinds.items()},
            constexprs=constants,
            attrs=attrs,
        )
        options = {"num_warps": v.num_warps, "num_stages": v.num_stages, "enable_fp_fusion": True}
        built = compile(source, target=GPUTarget("cuda", v.arch, 32), options=options)
        name = f"triton_{v.name}"
        target = PTX / f"{name}.ptx"
        target.write_text(tidy(built.asm["ptx"], keep_sections=name in WITH_DEBUG_SECTIONS))
        launches[name] = {
            "entry": built.metadata.name,
            "num_warps": built.metadata.num_warps,
            "shared_bytes": built.metadata.shared,
            "arch": f"sm_{v.arch}" + ("a" if v.arch >= 90 else ""),
        }
        assert built.metadata.global_scratch_size == 0, "the tests pass null scratch pointers"
        print(f"{target.name}: {target.stat().st_size} bytes, {launches[name]}")
    launches_file.write_text(json.dumps(launches, indent=1, sort_keys=True) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["cuda", "triton"])
    parser.add_argument("names", nargs="*", help="only these sources or variants")
    parser.add_argument("--nvcc", default="nvcc")
    options = parser.parse_args()
    PTX.mkdir(exist_ok=True)
    if options.what == "cuda":
        build_cuda(options.names, options.nvcc)
    else:
        build_triton(options.names)


if __name__ == "__main__":
    main()
