"""Estimators of F_p from the entries of a sketch, working in logarithms throughout."""

from .registry import (
    DEFAULT_METHOD,
    METHODS,
    Estimate,
    checked_confidence,
    estimate,
    log_estimates,
    log_intervals,
)

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "Estimate",
    "checked_confidence",
    "estimate",
    "log_estimates",
    "log_intervals",
]
