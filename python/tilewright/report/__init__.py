"""Reports: a kernel as one HTML page.

`page` writes and reads it, `machines` and `timeline` model how long a kernel takes, `compare` tells
two reports apart. The data come from `runtime.report`.
"""
