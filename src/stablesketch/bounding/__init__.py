"""Bounding what one person, one group, one key or one value can change: the rule, its proof, and its forms."""

from .max_value import AutoMaxValue

__all__ = ["AutoMaxValue"]
