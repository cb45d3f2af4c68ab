"""Exports flash attention's backward pass, of an unmodified TileLang script.

usage: python kernels.py FOLDER

The same as: tw compile ../../seed/flash_attention_backward.py --call CALL --emit library -o FOLDER
"""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "seed" / "flash_attention_backward.py"
CALL = "flashattn_bwd(batch=1, heads=2, seq_len=128, dim=64, groups=2)"
options = ["--call", CALL, "--emit", "library", "-o", sys.argv[1]]
subprocess.run([sys.executable, "-m", "tilewright", "compile", str(SCRIPT), *options], check=True)
