"""Bounding how much one person, group, key or value can change: the rules, and their proofs."""

from .max_value import AutoMaxValue

__all__ = ["AutoMaxValue"]
