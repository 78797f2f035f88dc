"""Gauss quadrature for the law of ln W, W exponential: the weight e^{u - e^u} on the whole line.

The nodes are those of the discrete measure that a fine trapezoid rule puts on the line. That rule is exact to rounding
(the weight is analytic for |Im u| < π/2, so its error falls like exp(-π²/step)), and for a discrete measure the
recurrence of the orthogonal polynomials is found by Stieltjes' procedure; the nodes are then the eigenvalues of the
Jacobi matrix (Golub and Welsch).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..numbers.arrays import Array


@lru_cache(maxsize=4)
def gauss_log_exponential(count: int) -> tuple[Array, Array]:
    """Nodes u_i and weights w_i, Σ w_i = 1, with E f(ln W) = Σ w_i f(u_i) for polynomials f of degree below 2·count."""
    grid = np.arange(-50.0, 5.0, 1.0 / 16.0)
    mass = np.exp(grid - np.exp(grid))
    mass /= mass.sum()
    diagonal = np.zeros(count)
    beside = np.zeros(count)
    before, current = np.zeros_like(grid), np.ones_like(grid)
    for k in range(count):
        size = np.sqrt(mass @ current**2)
        current = current / size
        if k > 0:
            beside[k] = size
        diagonal[k] = mass @ (grid * current**2)
        before, current = current, (grid - diagonal[k]) * current - beside[k] * before
    jacobi = np.diag(diagonal) + np.diag(beside[1:], 1) + np.diag(beside[1:], -1)
    nodes, vectors = np.linalg.eigh(jacobi)
    weights = vectors[0] ** 2
    nodes.setflags(write=False)
    weights.setflags(write=False)
    return nodes, weights
