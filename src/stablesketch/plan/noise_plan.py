"""Plans that add discrete Laplace noise to an exact number: pure ε, whatever the number."""

from __future__ import annotations

from .asked import Asked
from .plan import Accuracy, Cost, Numbers, Plan

__all__ = ["noise_plan"]


def noise_plan(asked: Asked, deviation: float, expected: float, *, step: float = 1.0, bytes: int = 0) -> Plan:
    """`deviation` is that of the noise; the error is relative to `expected`, absolute where that is 0."""
    error = deviation / expected if expected > 0.0 else deviation
    epsilon = asked.privacy.epsilon
    return Plan(
        asked,
        "exact",
        Cost(epsilon, 0.0, epsilon),
        Accuracy(error, expected > 0.0, expected, error),
        Numbers(step=step, bytes=bytes),
    )
