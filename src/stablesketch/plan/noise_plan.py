"""Plans that add discrete Laplace noise to an exact number: pure ε, whatever the number."""

from __future__ import annotations

from ..privacy import Privacy
from ..statistic import Statistic
from .phantoms import Phantoms
from .plan import Plan

__all__ = ["noise_plan"]


def noise_plan(
    statistic: Statistic, privacy: Privacy, deviation: float, expected: float, *, step: float = 1.0, bytes: int = 0,
    deletes: bool = False,
) -> Plan:  # fmt: skip
    """`deviation` is that of the noise; the error is relative to `expected`, absolute where that is 0."""
    error = deviation / expected if expected > 0.0 else deviation
    return Plan(
        statistic=statistic,
        privacy=privacy,
        mechanism="exact",
        size=0,
        phantoms=Phantoms(0, 1),
        step=step,
        epsilon=privacy.epsilon,
        delta=0.0,
        pure_epsilon=privacy.epsilon,
        error=error,
        relative=expected > 0.0,
        expected=expected,
        bytes=bytes,
        exact_error=error,
        deletes=deletes,
    )
