"""Kinds of rasterisation that the carver recommends."""


class NoRasterization:
    """Blocks in the order of the grid."""
