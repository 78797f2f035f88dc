"""What entropy with noise has in common, from a sketch or from exact totals: privacy/entropy/noise.py.

**After a release**, entropy is a value, limits and a belief. The release has N + Z_N and N (H + ζ - β') + Z_G, with a
public β' and three independent errors of known law. So H is believed to be β' + (mass - Z_G)/(N - Z_N) - ζ, over the
three laws; ζ = 0 for exact totals.

**With buckets** the third error is Σ (N_b/N) ζ_b. Its deviation is sqrt(v) ‖N‖/N, where v is the variance of one ζ; ‖N‖
was released with noise. Its law depends on how the N_b are spread: normal if there are many alike, that of one ζ if one
holds everything. We use the law for one bucket that holds a share a of N while the others share the rest evenly, with
a² + (1 - a)²/(B - 1) = (‖N‖/N)²: a ζ and a normal error. This is correct at both ends. With several heavy buckets it is
slightly more skewed than the truth, which costs the limits less than 1% of their confidence.
The noise of ‖N‖ is left out: it changes the deviation of the sketch by at most a sixth of the noise of G.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ...numbers.arrays import Array
from ...plan.mechanism import Mechanism
from ...plan.plan import Plan
from ...privacy import Privacy
from ...privacy.charge import Charge
from ...privacy.entropy.noise import EntropyNoise, NoisyMass
from ...sketch.estimators.entropy_mean import entropy_mean_law
from ...statistic.published import NoisyTotal
from ..shared.belief import Belief, belief
from ..shared.laplace_noise import laplace_belief


class Entropy(Mechanism):
    """N H with noise, and N with noise if it is private. The amount of noise depends on the length of the stream."""

    by_length = True

    def cost(self, plan: Plan) -> Charge:
        return entropy_noise(plan).charge()

    def noise_scale(self, plan: Plan) -> float:
        return plan.noise if self.includes_noise(plan) else 0.0

    def includes_noise(self, plan: Plan) -> bool:
        """True if a length is expected."""
        return max(plan.privacy.pairs, plan.privacy.total) > 0

    def measured(self, plan: Plan) -> str:
        return "entropy times the total"

    def noise_in_words(self, plan: Plan) -> str:
        return super().noise_in_words(plan) if self.noise_scale(plan) else "b (set by the total)"


def entropy_noise(plan: Plan) -> EntropyNoise:
    """The noise of a release by this plan, from a sketch or from exact totals."""
    return noise_for(plan.privacy, plan.size, plan.buckets)


@lru_cache(maxsize=64)
def noise_for(privacy: Privacy, size: int, buckets: int) -> EntropyNoise:
    """The noise, computed once for all groups of a table: computing z takes a while."""
    return EntropyNoise(privacy, size, privacy.copies, buckets=buckets)


def exact_entropy_deviation(privacy: Privacy) -> float:
    """The deviation of the released H, to first order, at the least possible N and with H farthest from β."""
    return noise_for(privacy, 0, 1).deviation(least_total(privacy))


def least_total(privacy: Privacy) -> int:
    return max(privacy.pairs, privacy.total, 1)


def measured_entropy(found: NoisyMass, noise: EntropyNoise, confidence: float) -> Belief:
    """H = β + mass/N within [0, ln T], because a total of T has no more entropy. Without a mass, nothing else is known.

    The limits contain H with their stated probability if N is well above its own noise, and about as often in shorter
    streams.
    """
    most = math.log(max(found.bound, 1))
    total = None if found.total is None else NoisyTotal(float(found.total), float(noise.total_scale))
    if found.mass is None:
        return Belief(0.5 * most, 0.0, most, lambda probability: most * np.asarray(probability), total)
    centre, step = float(found.centre), float(found.step)
    # Rounding is negligible compared with the error of a sketch, but not compared with little noise alone.
    mass = laplace_belief(found.nats, float(noise.mass_scale) * step, 0.0 if noise.size else 0.5 * step)

    def entropy(at: tuple[Array, ...]) -> Array:
        """Where the believed total is 0 or less, the entropy is 0."""
        return np.where(at[1] < 0.5, 0.0, centre + at[0] / np.maximum(at[1], 1.0))

    if total is None:
        n = float(found.bound)
        whole = Belief(mass.value / n, 0.0, 0.0, lambda probability: mass.quantiles(probability) / n)
    else:
        whole = belief(entropy, (mass, laplace_belief(total.value, total.scale)), confidence)
    one, others = _weights(found, noise)
    if one:
        zeta = Belief(0.0, 0.0, 0.0, entropy_mean_law(noise.entries).quantiles)
        whole = belief(lambda at: at[0] - one * at[1], (whole, zeta), confidence)
    if others:
        spread = NormalDist(0.0, others * noise.worst_deviation)
        rest = Belief(0.0, 0.0, 0.0, lambda at: np.array([spread.inv_cdf(each) for each in at.ravel().tolist()]))
        whole = belief(lambda at: at[0] - at[1], (whole, rest), confidence)
    return replace(whole.at(confidence), total=total).within(0.0, most)


def _weights(found: NoisyMass, noise: EntropyNoise) -> tuple[float, float]:
    """The weights of one ζ and of a normal error with its variance: a, and the root of the rest of (‖N‖/N)².

    ‖N‖² is at least N²/B, and at least N if every pair has its own key: both together if the hash behaves as it should.
    """
    if found.norm is None:
        return float(noise.size > 0), 0.0
    buckets = noise.buckets
    n = max(float(found.bound if found.total is None else found.total), 1.0)
    square = min(max(min(max(found.norm / n, 0.0), 1.0) ** 2, 1.0 / buckets + (1.0 - 1.0 / buckets) / n), 1.0)
    # a² B/(B - 1) - 2a/(B - 1) + 1/(B - 1) - square = 0, the larger root.
    one = (1.0 + math.sqrt((buckets - 1) * max(buckets * square - 1.0, 0.0))) / buckets
    return one, math.sqrt(max(square - one * one, 0.0))
