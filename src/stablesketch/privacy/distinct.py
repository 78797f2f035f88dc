"""Private distinct counts: a secret number of phantom keys makes any sketch of distinct keys private by itself.

**The mechanism.** Registers under a secret (sketch/distinct.py) count the keys of the stream and, in addition, Z
phantom keys. Z is a secret random number: Z = max(0, z₀ + L), with public z₀ and discrete Laplace noise L of scale
b = c/ε (discrete_laplace.py), where c is the maximum number of pairs of one person. What is released is a public
function of the registers: their estimate of the number of all keys, less the mean of Z.

**Claim.** The registers, and hence anything computed from them, are (ε, δ)-private under either relation and for
streams of any length, with δ = P(L <= c - 1 - z₀) = q^(z₀-c+1)/(1 + q), q = e^(-ε/c), against those who do not know the
secret.

*Proof, 1: the registers depend on the stream only through a number.* A register is a function of the set of values that
the pseudorandom function takes on the distinct arguments (fingerprint or number of a phantom, domain). Let the function
be a random permutation of blocks, or a random function. Either has the same law after its arguments are renamed, so the
law of the registers is the same for every set of t distinct arguments: P_t. A stream with n distinct keys
(fingerprints) is counted as t = n + Z arguments, with Z independent of the function. So the registers are drawn as
follows: draw T = n + Z, then draw from P_T. The second step does not look at the stream. It remains to show that T is
private.

*2: neighbours.* If a stream loses up to c pairs, its distinct keys become fewer by at most c, and by no less than 0.
Under add_remove one neighbour is the other less c pairs at most. Under replace both are the common pairs and at most c
more, so both numbers of distinct keys lie between that of the common pairs and c more. In either case |n - n'| <= c.
(Two keys with one fingerprint are one key here, and then n counts fingerprints; the argument is the same. Collisions
cost accuracy, 2^-64 for each pair of keys, and no privacy.)

*3: T.* Let n' = n + j, 1 <= j <= c, and α = e^ε. For t >= n + j, P(n + Z = t) is at most α P(n' + Z = t): for t > n the
left is the ideal P(L = t - n - z₀), the right is at least the ideal one (more at t = n', where all of L <= -z₀ is
gathered), and ideal ones differ by a factor of at most e^(j/b) <= α (discrete_laplace.py). So n + Z exceeds α times n'
+ Z only below n + j, and there by at most P(Z < j) = P(L <= j - 1 - z₀) <= δ. In the other direction: for t > n + j
both are ideal; below n + j the left is 0; at t = n + j the left exceeds the ideal by P(L < -z₀), which is also at most
δ, because c >= 1. ∎ The first bound is attained with j = c by the set of all t below n + c: for T itself no smaller δ
holds.

**Other ε.** For ε' < ε the same argument gives H(e^ε') + δ, H the curve of L against L + c, which is max over k of P(L
<= k) - e^ε' P(L <= k - c): the noise is log-concave, so half lines distinguish best, and a shift below c reveals less
(privacy/charge.py). For ε' > ε it stays at δ: this is the event that an observer finds fewer keys than n'.

**In a table** (bounding/groups.py) every group has registers, a secret and phantoms of its own, and neighbours differ
in at most k groups, by j_g >= 1 keys in group g and c in all. Step 3 for each group shows: the law of T_g on one
neighbour is at most e^(j_g/b) times that on the other, except for a part with mass at most δ₁ = P(L <= c - 1 - z₀). The
law of all groups is the product. Without those parts, the product is at most e^(Σ j_g/b) <= e^ε times the other, and
the removed parts have mass 1 - Π(1 - ...) <= k δ₁ in all. So the table is (ε, k δ₁)-private: the noise is that of c
keys, and the failures count k times. Likewise H(e^ε') + k δ₁ for other ε': shifts j_g of discrete noise together reveal
no more than one shift of Σ j_g (bounding/groups.py).

**Assumptions.** AES-128 is a pseudorandom permutation; HMAC-SHA256 and SHAKE-256 are pseudorandom functions. The
guarantee is computational, like that of every release here. The registers are integers and the permutation is exact, so
there is no term for finite precision. L is drawn exactly, from random bits that come from the secret. So all shards
under one secret have the same phantoms, a merge has them once, and a shard seen alone is as private as the whole. *One*
look at the registers, with or without the release computed from them, is one release. A look now and another after more
keys are two releases, and together they reveal whether the keys in between were new: one release per secret.

**Compared with** a public number of phantoms: then there is only the registers' own randomness, and a few keys leave
so many traces that their number shows almost exactly. The simple bound (each of m registers is held by one key, so one
of t keys matters with probability m/t) needs c m/(1 - e^-ε) phantoms. These are thousands, and their own sketching
error is then in the result; every kind of register needs its own bound, and more registers need more phantoms. A secret
number needs about twenty at ε = 1 for any registers, and adds about sqrt(2) c/ε keys to the deviation
(benchmarks/distinct.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, PlanInfeasible
from ..numbers.arrays import Array
from ..numbers.checked import checked_real
from ..secret import Secret
from ..sketch import register_law
from ..sketch.estimators import checked_confidence
from ..text.wording import arg, subject
from . import discrete_laplace
from .privacy import Privacy

# More phantoms would make a release take seconds.
_MOST = 1 << 24
_SLACK = 1.0 + 1e-12
# For limits: the points over which Z is averaged, and the number of them at which the deviation is computed.
_MOST_POINTS = 512
_DEVIATIONS = 9
_LEAST_DEVIATION = 1e-9


@dataclass(frozen=True)
class PhantomNumber:
    """The public law of the secret number of phantoms, Z = max(0, centre + L).

    L is discrete Laplace of scale `pairs_per_person`/`epsilon`. `groups` is the number of groups of a table that a
    neighbour can change.

    >>> phantoms_for(Privacy(epsilon=1.0, delta=1e-9, pairs=0))
    PhantomNumber(centre=21, epsilon=1.0, pairs_per_person=1, groups=1)
    """

    centre: int
    epsilon: float
    pairs_per_person: int
    groups: int = 1

    def __post_init__(self) -> None:
        for name, least in (("centre", 0), ("pairs_per_person", 1), ("groups", 1)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= 2**53:
                raise ArgumentError(name, value, "must be a whole number in range", "Use phantoms_for(privacy)")
        if not isinstance(self.epsilon, float) or not 0.0 < self.epsilon < math.inf:
            raise ArgumentError("epsilon", self.epsilon, "must be a finite positive float", "Use phantoms_for(privacy)")

    @property
    def scale(self) -> Fraction:
        """b = c/ε, exactly."""
        return self.pairs_per_person / Fraction(self.epsilon)

    @property
    def mean(self) -> float:
        """E Z = z₀ + Σ over k >= 1 of P(L <= -z₀ - k) = z₀ + q^(z₀+1)/((1 + q)(1 - q)): what a release subtracts."""
        rate = self.epsilon / self.pairs_per_person
        return self.centre + self._tail(self.centre + 1) / -math.expm1(-rate)

    @property
    def gap(self) -> float:
        """An upper bound of the probability that Z is not the ideal z₀ + L in one of the changed groups: P(L < -z₀)."""
        return self.groups * self._tail(self.centre + 1) * _SLACK

    def delta(self, epsilon: float) -> float:
        """δ at any ε: a certified upper bound, proved above. At the ε of the law it is exact, up to 1e-12 of it."""
        epsilon = checked_real("epsilon", epsilon, "Pass 1.0, for example")
        if not epsilon >= 0.0:
            raise ArgumentError("epsilon", epsilon, "must be a number of 0 or more", "Pass 1.0, for example")
        c = self.pairs_per_person
        fewer = self.groups * self._tail(self.centre - c + 1) * _SLACK if self.centre >= c - 1 else 1.0
        if epsilon >= self.epsilon:
            return min(1.0, fewer)
        # P(L <= k) - e^ε' P(L <= k - c) is largest at the last k where it still grows: (|k - c| - |k|)/b > ε'.
        at = math.ceil(0.5 * (c - epsilon * c / self.epsilon)) - 1
        half_lines = (self.at_most(k) - math.exp(epsilon) * self.at_most(k - c) for k in range(at - 1, at + 3))
        # The terms are at most 1, and their exponents at most ε: both are correct to (2 + ε) 2^-52.
        return min(1.0, max(half_lines) + fewer + 1e-15 * (1.0 + self.epsilon))

    def draw(self, secret: Secret) -> int:
        """Z of this secret: the same in every shard that has the secret."""
        stream = discrete_laplace.KeyedIntegers(
            secret.derive(f"distinct/phantoms/{self.pairs_per_person}/{self.epsilon.hex()}")
        )
        return max(0, self.centre + discrete_laplace.sample(self.scale, stream.below))

    def _tail(self, k: int) -> float:
        """P(L <= -k) = q^k/(1 + q) for k >= 0."""
        rate = self.epsilon / self.pairs_per_person
        return math.exp(-k * rate) / (1.0 + math.exp(-rate))

    def at_most(self, k: int) -> float:
        """P(L <= k), the law of the noise alone."""
        return self._tail(-k) if k <= 0 else 1.0 - self._tail(k + 1)


def phantoms_for(privacy: Privacy) -> PhantomNumber:
    """The fewest phantoms that reach the ε and δ of `privacy`, for streams of any length and any number of registers.

    z₀ = c - 1 + k with the least k such that P(L <= -k) <= δ, or at most the part of δ that each of several groups has.
    By symmetry P(L <= k - 1) >= 1 - δ, a quantile of L, computed exactly.

    Raises:
        PlanInfeasible: there would be too many phantoms.
    """
    if not isinstance(privacy, Privacy):
        raise ArgumentTypeError(
            "privacy", type(privacy), "must be a Privacy", "Pass ss.Privacy(epsilon=..., delta=...)"
        )
    c = privacy.pairs_per_person
    scale = c / Fraction(privacy.epsilon)
    k = max(0, discrete_laplace.quantile(scale, 1 - Fraction(privacy.delta) / privacy.copies) + 1)
    centre = c - 1 + k
    if centre > _MOST:
        raise PlanInfeasible(
            f"ε = {privacy.epsilon:g} with up to {c:,} pairs per person would need {centre:,} phantom keys, above the "
            f"maximum of {_MOST:,}. Pass {arg('mechanism', 'exact')}, or a larger ε, or a smaller "
            f"{subject('pairs_per_person')}. The noise has a standard deviation of "
            f"{math.sqrt(discrete_laplace.variance(scale)):,.0f} keys."
        )
    return PhantomNumber(centre, privacy.epsilon, c, privacy.copies)


def distinct_deviation(keys: float, registers: int, phantoms: PhantomNumber) -> float:
    """The standard deviation of the released number for this many distinct keys: from the registers and from L."""
    sketched = register_law.deviation(keys + phantoms.mean, registers)
    return math.hypot(sketched, math.sqrt(discrete_laplace.variance(phantoms.scale)))


def distinct_limits(
    estimated: float, registers: int, phantoms: PhantomNumber, confidence: float = 0.95
) -> tuple[float, float]:
    """Limits for the number of distinct keys n, from the registers' estimate of n + Z.

    They are the n for which an estimate as high, or as low, still has probability (1 - confidence)/2. Given n, the
    estimate is n + Z plus the registers' error, which is normal to first order; it is averaged over Z.
    """
    tail = 0.5 - 0.5 * checked_confidence(confidence)
    if estimated == math.inf:
        return math.inf, math.inf
    values, weights = _points(phantoms, tail)
    below = _below(estimated, registers, values, weights)
    # P(estimate <= estimated | n) falls in n, from one limit to the other.
    low = register_law.solved(lambda n: -below(n), -(1.0 - tail))
    high = register_law.solved(lambda n: -below(n), -tail)
    return low, high


def _points(phantoms: PhantomNumber, tail: float) -> tuple[Array, Array]:
    """Z as a few points: values with their probabilities, up to a thousandth of `tail` at either end."""
    b = float(phantoms.scale)
    reach = math.ceil(b * math.log(1000.0 / tail)) + 1
    step = max(1, -(-2 * reach // _MOST_POINTS))
    ends = range(-reach - 1, reach + step, step)  # of cells with `step` values of L each
    weights = np.diff([phantoms.at_most(k) for k in ends])
    noise = np.array(ends[1:]) - 0.5 * (step - 1)
    return np.maximum(0.0, phantoms.centre + noise), weights / weights.sum()


def _below(estimated: float, registers: int, z: Array, weights: Array) -> Callable[[float], float]:
    """P(the registers' estimate of n + Z is at most `estimated`), as a function of n."""
    few = np.linspace(z[0], z[-1], _DEVIATIONS)  # the deviation is nearly linear between these

    def probability(n: float) -> float:
        deviations = register_law.deviations(n + few, registers)
        spread = np.maximum(np.interp(z, few, deviations), _LEAST_DEVIATION)
        scaled = (estimated - n - z) / (spread * math.sqrt(2.0))
        return float(weights @ np.array([0.5 * math.erfc(-x) for x in scaled.tolist()]))

    return probability
