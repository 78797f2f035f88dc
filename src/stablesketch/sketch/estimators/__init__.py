"""Estimators of F_p from the entries of a sketch, working in logarithms throughout."""

from .registry import DEFAULT_METHOD, METHODS, checked_confidence, log_estimates, log_intervals
from .result import Estimate, estimate

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "Estimate",
    "checked_confidence",
    "estimate",
    "log_estimates",
    "log_intervals",
]
