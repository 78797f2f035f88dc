"""The paper's formulas, for comparison only."""

from .formulas import epsilon, sensitivity, subsampled_epsilon

__all__ = ["epsilon", "sensitivity", "subsampled_epsilon"]
