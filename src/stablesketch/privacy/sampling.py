"""What sampling guarantees: every pair is kept with probability q, and only kept pairs reach the sketch.

The paper's Theorem 4 says that ε shrinks by the factor q. It does not: the sketch of a sample has the sensitivity of
the sample, which is shorter than the stream (paper/formulas.py has the counterexample). What does hold is proved here.

**Setting.** One person has c pairs with values up to M. η = 1 - (1-q)^c is the probability that any of them is kept. T
is the kept part of the pairs that two neighbours share, and t its number of pairs. Given T, the entries have the law μ₀
if none of the person's pairs is kept, μ₁ if some are, and ν₁ if some of the neighbour's are. The same coins decide
which pairs of both neighbours are kept. So under replace the two neighbours have the laws P = (1-η) μ₀ + η μ₁ and
Q = (1-η) μ₀ + η ν₁; under add or remove they have P and μ₀. D_α(μ‖ν) is the supremum of μ - αν over all sets, so that
δ(ε) = D_{e^ε}.

**Claim.** For ε > 0 let e^{ε'} = 1 + η (e^ε - 1) and β = e^{ε'-ε}. Then

    replace:            D_{e^ε'}(P‖Q)  <= η ((1-β) D_{e^ε}(μ₁‖μ₀) + β D_{e^ε}(μ₁‖ν₁))
    add:                D_{e^ε'}(P‖μ₀)  = η D_{e^ε}(μ₁‖μ₀)
    remove:             D_{e^ε'}(μ₀‖P) <= η β D_{e^ε}(μ₀‖μ₁)

*Proof.* Replace: P - e^{ε'} Q = η μ₁ - e^{ε'} η ν₁ - (e^{ε'} - 1)(1-η) μ₀, and (e^{ε'} - 1)(1-η) = η (e^ε - 1)(1-η) =
η (e^ε - e^{ε'}) = η e^ε (1-β); so P - e^{ε'} Q = η (μ₁ - e^ε ((1-β) μ₀ + β ν₁)), and D is convex in its second
argument. (This is the advanced joint convexity of Balle, Barthe and Gaboardi, 2018.) Add: P - e^{ε'} μ₀ = η μ₁ -
(e^{ε'} - 1 + η) μ₀ = η (μ₁ - e^ε μ₀). Remove: μ₀ - e^{ε'} P = (1 - e^{ε'}(1-η)) μ₀ - e^{ε'} η μ₁, and 1 - e^{ε'} (1-η)
<= ηβ, because (1-η+ηe^ε)(1-η+ηe^{-ε}) = 1 + 2η(1-η)(cosh ε - 1) >= 1; so it is at most ηβ (μ₀ - e^ε μ₁). ∎

Under replace, joint convexity alone also gives D_{e^ε'}(P‖Q) <= η D_{e^ε'}(μ₁‖ν₁). The smaller of the two bounds is
used. (At p = 1 and M = 1 it is 0, because replacing a pair does not change F_1.)

**The sensitivity of a sample.** Let i <= c of the person's pairs be kept. Let s >= t be the total of T, and Λ the
floor, which is not sampled. privacy/neighbours.py shows:

- with these pairs against without them: F_p + Λ grows by a factor of at most 1 + i M^p/(Λ + t^p), which is largest for
  i = c;
- i pairs of one neighbour against the same i of the other: the factor is at most g_i(s) = (Λ + s^p + i M^p)/(Λ +
  (s+i)^p). It grows with i: with u = s + i, its derivative has the sign of
  Λ (M^p - p u^{p-1}) + u^{p-1} (M^p (u - pi) - p s^p), where u^{p-1} <= 1, u - pi >= s, and s >= s^p (or s = 0). So the
  factor is at most the largest g_c(s) over s >= t.

μ₁ and ν₁ are mixtures over which pairs are kept, with the same weights. D is jointly convex, so the worst choice of
pairs bounds it. Fewer than c pairs, or pairs that both neighbours have, are covered too: as pairs that add nothing.
Both factors fall as t grows. t is binomial, of n - c (replace) or n (add or remove) trials, and in a longer stream it
is stochastically larger. So for cuts 0 = t_0 < t_1 < ..., with d_i the bracket of the claim at t_i and C_i = P(t <
t_i),

    δ(ε') <= η (d_k + Σ_{i=1..k} (d_{i-1} - d_i) C_i) .

An empty sample without a floor leaves entries that are exactly 0, which may reveal everything, so d = 1.

**Per entry.** If every entry has its own coins, the entries are independent, and the claim holds for each. From it,
entries/sampled.py makes a law on a lattice, and composes it.

The result is a certified upper bound, not the exact curve: the claim is an inequality, and the cuts add to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from ..errors import ArgumentError
from ..law import StableLaw
from ..numbers.checked import checked_real
from .binomial import log_tail
from .entries.curve import PrivacyCurve
from .neighbours import log_sensitivity
from .privacy import Privacy

SampledPer = Literal["pair", "entry"]

LEAST_RATE = 2.0**-11
"""From here on q · 2^64 is a whole number, so that a 64-bit coin has exactly the rate that is accounted for."""

# Deviations below the mean at which t is cut; beyond the last, everything counts as revealed.
_CUTS = (0.1, 0.7, 1.4, 2.2, 3.2, 4.5, 6.2, 8.5)
_UP = 1.0 + 1e-12
_MOST_LOG_RHO = 700.0
_PRECISION = 1e-4
_FIRST_EPSILON, _LEAST_EPSILON, _MOST_EPSILON = 0.05, 1e-9, 1e5
# Relative to the sum so far: if the probability of a cut is less, everything below the cut counts as revealed.
_NEGLIGIBLE = 1e-4


@dataclass(frozen=True)
class Sampling:
    """Keeps every pair with probability `rate`: once for all entries (`per="pair"`), or separately for each entry
    (`per="entry"`).

    The coins are drawn from the secret. About rate · f pairs are kept of a key that occurs f times, and the estimate is
    divided by rate^p. It is biased downwards: not at all for keys that occur often, by the factor rate^(1-p) for keys
    that occur once. See docs/paper.md for numbers; a floor is unbiased and usually the better choice.
    """

    rate: float
    per: SampledPer = "pair"

    def __post_init__(self) -> None:
        rate = checked_real("sampling.rate", self.rate, "Pass 0.02, for example")
        if not LEAST_RATE <= rate < 1.0:
            raise ArgumentError(
                "sampling.rate", self.rate, "must be between 1/2048 and 1", "Pass 0.02, or leave sampling out"
            )
        object.__setattr__(self, "rate", rate)
        if self.per not in get_args(SampledPer):
            raise ArgumentError("sampling.per", self.per, 'must be "pair" or "entry"', "Choose one of them")

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return {"rate": self.rate, "per": self.per}


def kept_chance(rate: float, pairs: int) -> float:
    """η = 1 - (1-q)^c: the probability that at least one of c pairs is kept."""
    return -math.expm1(pairs * math.log1p(-rate))


def amplified(epsilon: float, eta: float) -> float:
    """ε' = ln(1 + η (e^ε - 1)), rounded up slightly."""
    if epsilon > 700.0:
        return (epsilon + math.log(eta)) * _UP if eta < 1.0 else epsilon
    return math.log1p(eta * math.expm1(epsilon)) * _UP


def unamplified(epsilon: float, eta: float) -> float:
    """The ε of the claim for a given ε', rounded down slightly: δ decreases with ε, so this is the safe side."""
    if epsilon > 700.0:
        return (epsilon - math.log(eta)) / _UP
    return math.log1p(math.expm1(epsilon) / eta) / _UP


def common_pairs(privacy: Privacy) -> int:
    """The least number of pairs that neighbours share; T is their sample."""
    return max(privacy.pairs - privacy.pairs_per_person, 0) if privacy.relation == "replace" else privacy.pairs


class SampledCurve:
    """The privacy of `size` entries of a sampled stream: certified upper bounds for δ(ε) and ε(δ).

    >>> curve = SampledCurve(0.25, 50, Privacy(1.0, 1e-6, pairs=10**6), Sampling(0.02))
    >>> 0.1 < curve.epsilon(1e-6) < 0.12
    True
    """

    def __init__(self, p: float, size: int, privacy: Privacy, sampling: Sampling, floor: float = 0.0) -> None:
        self.p = StableLaw(p).p
        self.size, self.privacy, self.sampling, self.floor = size, privacy, sampling, floor
        self._eta = kept_chance(sampling.rate, privacy.pairs_per_person)
        self._cuts = cut_chances(common_pairs(privacy), sampling.rate)

    def delta(self, epsilon: float) -> float:
        """A δ for which the entries are (epsilon, δ)-private, epsilon > 0."""
        epsilon = checked_real("epsilon", epsilon, "Pass 1.0, for example")
        if not epsilon > 0.0:
            raise ArgumentError("epsilon", epsilon, "must be positive", "Pass 1.0, for example")
        if self.sampling.per == "entry":
            from .entries.sampled import per_entry_delta

            return per_entry_delta(self.p, self.size, self.privacy, self.sampling.rate, self.floor, float(epsilon))
        return self._per_pair(float(epsilon))

    def epsilon(self, delta: float) -> float:
        """An ε for which the entries are (ε, delta)-private; infinite if there is none."""
        if not 0.0 < delta < 1.0:
            raise ArgumentError("delta", delta, "must be between 0 and 1", "Pass 1e-9, for example")
        low, high = 0.0, _FIRST_EPSILON
        while self.delta(high) > delta:
            low, high = high, 2.0 * high
            if high > _MOST_EPSILON:
                return math.inf
        at_low, at_high = (
            math.log(max(self.delta(x), 1e-300)) - math.log(delta) if x else math.inf for x in (low, high)
        )
        side = 0
        while high - low > _PRECISION * high and high > _LEAST_EPSILON:
            middle = 0.25 * high
            if low > 0.0:  # a secant of ln δ; an end that stays twice counts half (Illinois)
                share = at_low / (at_low - at_high) if at_low > at_high else 0.5
                middle = low + (high - low) * min(max(share, 0.02), 0.98)
            here = math.log(max(self.delta(middle), 1e-300)) - math.log(delta)
            if here <= 0.0:
                high, at_high, at_low, side = middle, here, at_low * (0.5 if side < 0 else 1.0), -1
            else:
                low, at_low, at_high, side = middle, here, at_high * (0.5 if side > 0 else 1.0), 1
        return high

    def _per_pair(self, epsilon: float) -> float:
        inner = unamplified(epsilon, self._eta)
        # From the highest cut down: d_k, then (d_{i-1} - d_i) C_i; d grows, rounding apart, and is at most 1.
        total, above, after = 0.0, 0.0, 1.0
        for cut, below in reversed(self._cuts):
            here = max(self._bracket(cut, epsilon, inner), above)
            total += (here - above) * after
            above, after = here, below
            if below <= _NEGLIGIBLE * total:
                break
        else:
            if self.floor > 0.0:
                here = max(self._bracket(0, epsilon, inner), above)
                return min(1.0, self._eta * (total + (here - above) * after) * _UP)
        return min(1.0, self._eta * (total + (1.0 - above) * after) * _UP)

    def _bracket(self, t: int, epsilon: float, inner: float) -> float:
        """The bracket of the claim when t shared pairs are kept: the worse of the two orders of the neighbours."""
        beta = math.exp(epsilon - inner)
        with_pairs = sample_log_rho(self.p, self.privacy, "add_remove", t, self.floor)
        if self.privacy.relation == "add_remove":
            added = direction_delta(self.p, self.size, with_pairs, inner, wide_first=True)
            removed = direction_delta(self.p, self.size, with_pairs, inner, wide_first=False)
            return max(added, beta * removed)
        instead = sample_log_rho(self.p, self.privacy, "replace", t, self.floor)
        added = direction_delta(self.p, self.size, with_pairs, inner, wide_first=True)
        replaced, plain = (
            max(direction_delta(self.p, self.size, instead, at, wide_first=wide) for wide in (False, True))
            for at in (inner, epsilon)
        )
        return min((1.0 - beta) * added + beta * replaced, plain)


def sample_log_rho(
    p: float, privacy: Privacy, relation: Literal["replace", "add_remove"], t: int, floor: float
) -> float:
    """ln of 1 + c M^p/(Λ + t^p) ("add_remove"), or of the greatest g_c(s), s >= t ("replace"), rounded up."""
    count = privacy.pairs_per_person
    pairs = t + count if relation == "replace" else t
    sample = Privacy(privacy.epsilon, privacy.delta, pairs, privacy.max_value, relation, count)
    return log_sensitivity(p, sample, floor)


_curve = lru_cache(maxsize=256)(PrivacyCurve.from_log)


@lru_cache(maxsize=4096)
def direction_delta(p: float, size: int, log_rho: float, epsilon: float, *, wide_first: bool) -> float:
    """An upper bound of D_{e^ε} of `size` entries in one direction; 1 if ρ is infinite."""
    if log_rho > _MOST_LOG_RHO:
        return 1.0
    return _curve(p, size, log_rho).delta_in_direction(epsilon, wide_first=wide_first)


def cut_chances(trials: int, rate: float) -> list[tuple[int, float]]:
    """Increasing (t_i, an upper bound of P(Bin(trials, rate) < t_i)); empty if it is not certain that any are kept.

    P(Bin(trials, rate) < t) = P(Bin(trials, 1 - rate) >= trials - t + 1), and t is at most the mean.
    """
    mean, deviation = trials * rate, math.sqrt(trials * rate * (1.0 - rate))
    cuts = sorted({math.floor(mean - away * deviation) for away in _CUTS})
    return [(cut, min(1.0, math.exp(log_tail(trials - cut + 1, trials, 1.0 - rate)) * _UP)) for cut in cuts if cut >= 1]
