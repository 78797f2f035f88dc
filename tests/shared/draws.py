"""Independent draws of the stable laws that the package computes but never draws, for simulations."""

from __future__ import annotations

import math

import numpy as np

from stablesketch.law.one_sided import log_a
from stablesketch.law.zolotarev import log_scale

Array = np.ndarray
TINY = float(np.finfo(np.float64).tiny)


def one_sided_draws(p: float, shape: int | tuple[int, ...], rng: np.random.Generator) -> Array:
    """Z = p ln X, X positive p-stable, by Kanter's formula."""
    q = 1.0 - p
    # 1 - U lies in (0, 1]. The distance from π must be kept exactly, because the large draws are there.
    rest = math.pi * (1.0 - rng.random(shape))
    u = math.pi - rest
    waiting = np.maximum(rng.standard_exponential(shape), TINY)
    least = np.maximum(np.sin(rest), TINY)
    sines = p / q * np.log(np.maximum(np.sin(p * u), 1e-300) / least) + np.log(
        np.maximum(np.sin(q * u), 1e-300) / least
    )
    return np.asarray(q * (np.where(u > 0.0, sines, log_a(np.zeros(1), p)[0]) - np.log(waiting)))


def above_one_draws(p: float, shape: int | tuple[int, ...], rng: np.random.Generator) -> Array:
    """X symmetric p-stable, 1 < p <= 2, by the formula of Chambers, Mallows and Stuck."""
    complement = (0.5 * math.pi) * (1.0 - rng.random(shape))
    waiting = np.maximum(rng.standard_exponential(shape), TINY)
    signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    if p == 2.0:  # the formula at its limit, where cos θ cancels against sin 2θ
        return np.asarray(signs * 2.0 * np.cos(complement) * np.sqrt(waiting))
    t = -np.log(np.tan(complement))
    with np.errstate(over="ignore"):
        return np.asarray(signs * np.exp(log_scale(t, p) - (1.0 - p) / p * np.log(waiting)))
