"""Shannon's entropy from a sketch or from exact totals, with noise: for streams of any length, of people, in groups.

The estimate of a sketch is Ĥ = H + ζ, and ζ has one law for all streams (sketch/estimators/entropy_mean.py). The mass
G = N H rises with every pair, by at most Δ = c M (1 + ln(T/M)) for c pairs of one person, T bounding the totals of both
neighbours (mass.py). N Ĥ = G + N ζ is released with noise, and N before it unless it is public; H is their
quotient. The proofs are in docs/math-noisy-estimate.md and, for buckets, docs/math-bucket-entropy.md. In short:

**One estimate.** A pair of value v adds between 0 and v (1 + ln(T/v)) to G, v to N and v ζ to N ζ. Except with
probability δ_z, -z⁻ <= ζ <= z⁺. So with β = (1 + ln(T/M))/2 and z = (z⁺ + z⁻)/2 a pair that is added changes

    N (Ĥ - β'),      β' = β + (z⁺ - z⁻)/2,

by at most M (β + z) in either direction: half as much as it can change N Ĥ. Noise is added to this quantity; H is β'
plus the quantity divided by N, and the noise of N matters only through |H - β'|. If a pair is replaced, one change may
go up and the other down: twice that, except for ζ, which counts only by |N - N'|. The two streams are coupled by the
same ζ. Finite precision moves each by at most η T. In all, the change is at most

    V(T) = c (M (β + z) + 2 η T),      replace: c (2 M β + (M - 1) z + 2 η T).

N (Ĥ - β') is rounded to a grid of V/units, so its integer moves by at most `units`, and discrete Laplace noise of scale
units/ε_G is added. If N is public (replace, every pair counts 1), ζ drops out, T = N and β' = 0.

**Buckets.** N Ĥ is N H + Σ N_b ζ_b then, N_b the total of a bucket with entries of its own (mass.py). Added
pairs raise some N_b, so all of the above holds as it is, with the ζ_b of the buckets that change within their limits: c
buckets at most. A pair that is replaced may leave a bucket for another, and their ζ have opposite signs at worst, so

    V(T) = c (2 M (β + z) + 2 η T)      (replace),

also where N is public, over 2c buckets. The interval needs ‖N‖ = sqrt(Σ N_b²), which moves by at most c M, whatever the
hash: it is released too, with discrete Laplace noise of scale c M/ε_2, ε_2 being `NORM_SHARE` of ε.

**From exact totals** all of this holds with ζ = 0: z⁺ = z⁻ = 0, no δ is spent on ζ, and η is `EXACT_ERROR`, the largest
error of `exact_mass`. There is no largest T.

**T** comes from the noisy N and fails with probability δ_T: mass.py. So step and noise of G, in nats, depend
on an output, which is public by then. In steps they do not: for every T, the same pair of laws dominates G, discrete
Laplace noise at the distance `distance`. It can be composed as if it had been fixed before.

**Many groups.** Where every group has a sketch, a secret and an output of its own, and a person's c pairs lie in up to
`copies` of them, the distances of the groups add up to at most units + copies - 1, and several outputs with discrete
Laplace noise tell no more than one with the sum of their distances. So every group has the whole ε, and the failures
of `copies` groups are charged; of buckets, those of c. (This is for add_remove. Under replace a pair that leaves a
group for another is one removed and one added: plan it as add_remove of 2c pairs.)

**What computing costs.** η = `error(z)`: with Ĥ₀ the estimate from ideal R and the same random bits, |Ĥ - Ĥ₀| <= η
wherever |ζ| <= z <= 500, z the larger of z⁺ and z⁻, N <= 2^53 and no mean of positive parts of R in any entry exceeds
8, which has a probability below e^-1000. Two more events can change an outcome, and their probability is charged by
itself (`mishap` in shares.py): a draw below the end of the table of R, and that AES repeats no block. The
second one grows with the number of keys, so the guarantee is for streams of up to `most_keys`. Nothing of G is released
where T is beyond `largest_total`: that many pairs of the largest value, at most 2^53.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import ArgumentError
from ...numbers.arrays import Array
from ...sketch.estimators.entropy_mean import entropy_mean, entropy_mean_deviation
from ...text.wording import arg
from .. import discrete_laplace
from ..charge import Charge
from ..exact_moment import nearest
from .mass import EXACT_ERROR, TERM_ERROR, bucket_mass, bucket_norm, exact_mass, mass_change, most_total
from .shares import EntropyShares

BucketState = tuple[NDArray[np.int64], Array]

_UNITS = 1000  # steps of the grid, for one group
_LEAST_RATIO = 3  # above e
_ERROR, _ERROR_PER_REACH = 2.0**-40, 2.0**-48


def error(reach: float) -> float:
    """η: the largest error of the computed Ĥ if |ζ| <= reach."""
    return _ERROR + _ERROR_PER_REACH * reach


@dataclass(frozen=True)
class NoisyMass:
    """What was released: N with noise (None if it is public), and N (Ĥ - β') with noise in steps of a grid. T, the grid
    and β' = `centre` follow from the noisy N. `norm` is ‖N‖ with noise, for buckets.

    `mass` is None if T is beyond `largest_total`.
    """

    total: int | None
    bound: int
    mass: int | None
    step: Fraction
    centre: Fraction
    norm: int | None = None

    @property
    def nats(self) -> float:
        """N (Ĥ - β') with noise."""
        return float((self.mass or 0) * self.step)


@dataclass(frozen=True)
class EntropyNoise(EntropyShares):
    """The noise of each of the released numbers, and the release itself."""

    @cached_property
    def error(self) -> Fraction:
        """η: the largest error of the computed Ĥ."""
        if not self.size:
            return EXACT_ERROR
        return Fraction(error(self.reach)) + (Fraction(TERM_ERROR) if self.buckets > 1 else 0)

    def charge(self) -> Charge:
        """What is charged for all groups together: G, N if it is private, ‖N‖ for buckets, and `mishap` of a sketch."""
        lost = self.lost
        charges = [Charge("exact", epsilon=self.mass_epsilon, delta=lost, distance=self.distance, gap=lost)]
        if not self.total_is_public:
            charges.append(Charge("exact", epsilon=self.total_epsilon, distance=self.total_distance))
        if self.buckets > 1:
            charges.append(Charge("exact", epsilon=self.norm_epsilon, distance=self.norm_distance))
        if self.size:
            charges.append(Charge("other", delta=self.mishap))
        if len(charges) == 1:
            return charges[0]
        privacy = self.privacy
        return Charge("all", epsilon=privacy.epsilon, delta=privacy.delta, charges=tuple(charges))

    # --- N, and the bound it gives ---

    @cached_property
    def total_scale(self) -> Fraction:
        """The scale of the noise of N, if it is private."""
        return Fraction(self.total_distance) / Fraction(self.total_epsilon)

    def bound(self, noisy: int) -> int:
        """T from the noisy N, or from N itself if it is public."""
        if self.total_is_public:
            return max(noisy, 1)
        return most_total(noisy, self.total_distance, self.total_scale, self._each(self.copies))

    # --- G ---

    @property
    def _units(self) -> int:
        return _UNITS * self.copies

    @property
    def distance(self) -> int:
        """The largest difference of N (Ĥ - β') between neighbours, in steps, in all groups together."""
        return self._units + self.copies - 1

    @cached_property
    def mass_scale(self) -> Fraction:
        """The scale of the noise of G, in steps."""
        return Fraction(self.distance) / Fraction(self.mass_epsilon)

    def _half(self, bound: int) -> Fraction:
        """β: half of the most that each additional unit can add to G. From T = 3 M on, where 1 + ln(T/M) > 2."""
        privacy = self.privacy
        least = max(bound, _LEAST_RATIO * privacy.max_value)
        return mass_change(privacy, least) / (2 * privacy.pairs_per_person * privacy.max_value)

    def centre(self, bound: int) -> Fraction:
        """β', or 0 if N is public."""
        above, below = map(Fraction, self.reaches)
        return Fraction(0) if self.total_is_public else self._half(bound) + (above - below) / 2

    def change(self, bound: int) -> Fraction:
        """V(T): the largest difference of the computed N (Ĥ - β') between neighbours, in nats."""
        privacy, changed = self.privacy, self.privacy.pairs_per_person
        replaced = privacy.relation == "replace"
        each = (2 if replaced else 1) * changed * privacy.max_value
        exact = mass_change(privacy, bound) if self.total_is_public else each * self._half(bound)
        # With one ζ, both streams have nearly the same N ζ; in buckets a replaced pair moves from one to another.
        erring = self.total_distance if self.buckets == 1 else each
        return exact + erring * sum(map(Fraction, self.reaches), Fraction(0)) / 2 + 2 * changed * self.error * bound

    def step(self, bound: int) -> Fraction:
        """The step of the grid of N (Ĥ - β'): V(T)/units."""
        return self.change(bound) / self._units

    def noise(self, bound: int) -> float:
        """b: the scale of the noise of G, in nats."""
        return float(self.mass_scale * self.step(bound))

    # --- ‖N‖ ---

    @property
    def norm_distance(self) -> int:
        """The largest difference of ‖N‖ between neighbours, in all groups together: c M, under either relation."""
        return self.privacy.pairs_per_person * self.privacy.max_value

    @cached_property
    def norm_scale(self) -> Fraction:
        """The scale of the noise of ‖N‖, for buckets."""
        return Fraction(self.norm_distance) / Fraction(self.norm_epsilon)

    # --- the release ---

    def measure(self, total: int, locations: Array | None, below: discrete_laplace.Below) -> NoisyMass:
        """N and N (Ĥ - β') with noise, from the exact N and the y_j of a sketch of `size` entries (None if empty).

        `below(n)` returns uniform integers below n; the same integers give the same release.
        """
        if total > 0 and (self.buckets > 1 or locations is None or len(locations) != self.size):
            found = None if locations is None else len(locations)
            raise ArgumentError("locations", found, f"must have {self.size} elements", "Pass those of the sketch")

        def mass() -> Fraction:
            return total * Fraction(float(entropy_mean(locations))) if locations is not None else Fraction(0)

        return self._released(total, mass, below)

    def measure_buckets(self, total: int, read: Callable[[], BucketState], below: discrete_laplace.Below) -> NoisyMass:
        """Like `measure`, from buckets, and ‖N‖ with noise. `read` returns the totals of buckets and their y_j as rows.

        It is not called if T is beyond `largest_total`: its error would reveal that it cannot read them."""
        if self.buckets < 2:
            raise ArgumentError("buckets", self.buckets, "must be more than 1", "Use measure for a single sketch")
        found: list[BucketState] = []

        def mass() -> Fraction:
            found.append(read())
            totals, locations = found[0]
            if totals.shape != (self.buckets,) or locations.shape != (self.buckets, self.entries):
                must = f"must be of shape {(self.buckets, self.entries)}"
                raise ArgumentError("locations", locations.shape, must, "Pass those of the sketch")
            return bucket_mass(totals, locations)

        released = self._released(total, mass, below)
        if released.mass is None:
            return released
        norm = bucket_norm(found[0][0]) if found else 0
        return replace(released, norm=norm + discrete_laplace.sample(self.norm_scale, below))

    def measure_exact(self, totals: Collection[int], below: discrete_laplace.Below) -> NoisyMass:
        """Like `measure`, from the totals of all keys, each above 0; `size` must be 0."""
        if self.size:
            raise ArgumentError(
                "size", self.size, "must be 0 for exact totals", f"Create the noise with {arg('size', 0)}"
            )
        return self._released(sum(totals), lambda: exact_mass(totals), below)

    def _released(self, total: int, mass: Callable[[], Fraction], below: discrete_laplace.Below) -> NoisyMass:
        """`mass` computes N Ĥ, to within η N."""
        counted = None if self.total_is_public else total + discrete_laplace.sample(self.total_scale, below)
        bound = self.bound(total if counted is None else counted)
        step, centre = self.step(bound), self.centre(bound)
        if self.size and bound > self.largest_total:
            return NoisyMass(counted, bound, None, step, centre)
        units = nearest((mass() - total * centre) / step) if total > 0 else 0
        return NoisyMass(counted, bound, units + discrete_laplace.sample(self.mass_scale, below), step, centre)

    # --- what to expect ---

    @property
    def sketch_deviation(self) -> float:
        """The deviation of the sketch alone, in nats, if no key dominates: each bucket holds 1/B of N."""
        return self.worst_deviation / math.sqrt(self.buckets)

    @property
    def worst_deviation(self) -> float:
        """The deviation of the sketch alone if one key holds everything: that of one bucket."""
        return entropy_mean_deviation(self.entries) if self.size else 0.0

    def noise_deviation(self, total: float, entropy: float | None = None) -> float:
        """The deviation of the noise in the released H, in nats, to first order, in a stream of this total and entropy
        (by default the entropy farthest from β')."""
        n = max(total, 1.0)
        bound = self.bound(math.ceil(n))
        centre = float(self.centre(bound))
        off = max(abs(centre), abs(math.log(n) - centre)) if entropy is None else abs(entropy - centre)
        counted = 0.0 if self.total_is_public else off * float(self.total_scale)
        return math.sqrt(2.0) * math.hypot(self.noise(bound), counted) / n

    def deviation(self, total: float, entropy: float | None = None) -> float:
        """Like `noise_deviation`, including the error of the sketch if no key dominates."""
        return math.hypot(self.sketch_deviation, self.noise_deviation(total, entropy))
