"""The least noise of an estimate, for tests that ask for nothing else of its law."""

from __future__ import annotations

from stablesketch.privacy.noisy_estimate import EXACT, NoisyEstimate, Precision


def noise_for(
    p: float, size: int, epsilon: float, delta: float, copies: int = 1, precision: Precision = EXACT
) -> float:
    """The least b/Δ for which an estimate from `size` one-sided entries plus Laplace(b) is (ε, δ)-private."""
    return NoisyEstimate(p, size, copies).noise(epsilon, delta, precision)
