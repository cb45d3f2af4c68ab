"""The whole corpus: `PROGRAMS`, in a fixed order. One row is one kernel with one launch shape."""

import program
import programs_basic  # noqa: F401
import programs_hopper  # noqa: F401
import programs_scalar  # noqa: F401
import programs_tensor  # noqa: F401
import programs_triton  # noqa: F401
import programs_warp  # noqa: F401

PROGRAMS = program.PROGRAMS

if __name__ == "__main__":
    for p in PROGRAMS:
        launch = f"grid {p.grid} block {p.block} shared {p.shared_bytes}"
        print(f"{p.name:32} {p.path.name:34} {p.arch:7} {launch}")
