"""Maximum likelihood, with its bias removed: for all but the smallest sketches as good as the Pitman estimator."""

from __future__ import annotations

from ...arrays import Array
from .bias import log_mean_ratio
from .location import maximum

__all__ = ["log_estimate"]


def log_estimate(log_magnitudes: Array, signs: Array, p: float) -> Array:
    """e^{pμ}, μ the location of greatest likelihood, divided by its mean at F = 1, which bias.py finds."""
    return _raw(log_magnitudes, signs, p) - log_mean_ratio(_raw, p, log_magnitudes.shape[1])


def _raw(log_magnitudes: Array, signs: Array, p: float) -> Array:
    return p * maximum(log_magnitudes, p)
