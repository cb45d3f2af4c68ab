"""Integer helpers for host code."""

from __future__ import annotations


def cdiv(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-a // b)


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least `n`."""
    return 1 if n <= 1 else 1 << (n - 1).bit_length()
