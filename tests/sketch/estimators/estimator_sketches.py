"""Simulated sketches with F = 1 for the tests of the estimators."""

from __future__ import annotations

import numpy as np

from stablesketch.law import StableLaw

INDICES = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]


def sketches(p: float, size: int, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(ln|a|, signs), both of shape (count, size)."""
    return StableLaw(p).sample_logs((count, size), np.random.default_rng([seed, size]))
