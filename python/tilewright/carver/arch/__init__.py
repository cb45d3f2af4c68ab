"""`tilelang.carver.arch`: facts about the chosen architecture."""

from tilewright.carver.arch import driver

__all__ = ["driver"]
