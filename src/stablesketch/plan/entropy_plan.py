"""Plans of Shannon's entropy by a sketch: entries for the error, noise on its mass N H and on N for the privacy.

What is released, and why it is private for streams of any length, of people and in groups: privacy/noisy_entropy.py.
"""

from __future__ import annotations

import math

from ..errors import ArgumentError, PlanInfeasible
from ..privacy import Privacy
from ..privacy.noisy_entropy import EntropyNoise, entropy_size_for
from ..sketch import entry_bytes
from ..sketch.estimators.entropy_mean import entropy_mean_deviation
from ..statistic import Shannon
from .exact_entropy_plan import exact_entropy_deviation
from .phantoms import Phantoms
from .plan import Plan
from .wanted import HEADER_BYTES, LARGEST_SIZE, Wanted
from .ways_out import a_larger_error

__all__ = ["entropy_noise", "entropy_plan"]

_FEWEST = 16  # with fewer entries the estimate has too heavy a tail


def entropy_plan(statistic: Shannon, privacy: Privacy, wanted: Wanted) -> Plan:
    """By the size asked for, the memory, or the error, which is that of the sketch; the noise comes on top."""
    if wanted.size is not None or wanted.memory is not None:
        size = wanted.size_within(_entry_bytes(privacy), _FEWEST)
        if size < _FEWEST:
            raise ArgumentError(
                "size", size, f"a sketch of entropy has at least {_FEWEST} entries", f"Pass size={_FEWEST} or more"
            )
    else:
        error = wanted.error_or(statistic.default_error)
        size = entropy_size_for(error, privacy)
        if size > LARGEST_SIZE:
            best = entropy_mean_deviation(LARGEST_SIZE)
            raise PlanInfeasible(
                f"no sketch of up to {LARGEST_SIZE:,} entries has an error of {error:g} nats: the best is {best:.3g}. "
                f"{a_larger_error(best)}, or pass mechanism='exact'."
            )
    noise, total = EntropyNoise(privacy, size, privacy.copies), max(privacy.pairs, privacy.total)
    bound = noise.bound(max(total, 1))
    return Plan(
        statistic=statistic,
        privacy=privacy,
        mechanism="sketch",
        size=size,
        phantoms=Phantoms(0, 1),
        step=float(noise.step(bound)),
        epsilon=privacy.epsilon,
        delta=privacy.delta,
        pure_epsilon=math.inf,
        error=noise.deviation(total) if total else entropy_mean_deviation(size),
        relative=False,
        expected=0.0,
        bytes=HEADER_BYTES + math.ceil(size * _entry_bytes(privacy)),
        exact_error=exact_entropy_deviation(privacy),
        deletes=wanted.deletes,
        noise=noise.noise(bound),
    )


def entropy_noise(plan: Plan) -> EntropyNoise:
    """The noise of a release by this plan, from a sketch or from exact totals."""
    return EntropyNoise(plan.privacy, plan.size, plan.privacy.copies)


def _entry_bytes(privacy: Privacy) -> float:
    """An entry is a sum of f R, about as large as the total: at most pairs times the largest value."""
    return entry_bytes(1.0, float(max(privacy.pairs, 1)) * privacy.max_value)
