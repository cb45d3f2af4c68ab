"""Exports softmax of rows of 256. usage: python kernels.py FOLDER"""

import sys
from pathlib import Path

import tilewright

sys.path.append(str(Path(__file__).resolve().parents[2]))
from softmax import softmax  # examples/softmax.py

tilewright.export_library(f"{sys.argv[1]}/softmax", {"softmax": softmax(100, 256)})
