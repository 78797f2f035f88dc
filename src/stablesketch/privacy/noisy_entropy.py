"""Shannon's entropy from a sketch or from exact totals, with noise: for streams of any length, of people, in groups.

The estimate of a sketch is Ĥ = H + ζ, and the law of ζ is the same for every stream (estimators/entropy_mean.py). The
mass G = N H rises with every pair, by at most Δ = c M (1 + ln(T/M)) for c pairs of one person, T bounding the totals of
both neighbours (exact_entropy.py). N Ĥ = G + N ζ is released with noise, and N before it unless it is public; H is
their quotient. The proofs are in docs/math-noisy-estimate.md, "Entropy". In short:

**One estimate.** A pair of value v adds between 0 and v (1 + ln(T/v)) to G, and v to N. So of G alone neighbours differ
by up to Δ, but of G - β N, with β = (1 + ln(T/M))/2, by Δ/2 where pairs are added or removed: half of it up, half down.
What is given noise is therefore N (Ĥ - β); H is β more than what that is divided by N, and the noise of N counts only
by |H - β|. (Where pairs are replaced it may be up on one side and down on the other: Δ.) Couple the two streams by the
same ζ. But for a probability of δ_z, |ζ| <= z, and then N ζ moves by at most |N - N'| z. Computing moves either by η T
at most. In all that is at most

    V(T) = c (M (1 + ln(T/M)) [/2] + (M - [replace]) z + 2 η T).

N (Ĥ - β) is rounded to a grid of V/units, so its integer moves by at most `units`, and discrete Laplace noise of scale
units/ε_G is added. Where N is public (replace, every pair counts 1) ζ drops out, T = N and β = 0.

**From exact totals** all of it holds with ζ = 0: z = 0, nothing is lost to it, and η is `EXACT_ERROR`, by which
`exact_mass` may be off. There is no largest T.

**T** comes from the noisy N, but for a probability of δ_T: exact_entropy.py. So step and noise of G, in nats, depend on
an output, which is public by then. In steps they do not: whatever T came out, one and the same pair of laws dominates
G, discrete Laplace noise at the distance `distance`. It can be composed as if it had been fixed before.

**Many groups.** Where every group has a sketch, a secret and an output of its own, and a person's c pairs lie in up to
`copies` of them, the distances of the groups add up to at most units + copies - 1, and several outputs with discrete
Laplace noise tell no more than one with the sum of their distances. So every group has the whole ε, and `copies` times
the failures are charged. (This is for add_remove. Under replace a pair that leaves a group for another is one removed
and one added: plan it as add_remove of 2c pairs.)

**What computing costs.** η = `error(z)`: with Ĥ₀ the estimate from ideal R and the same random bits, |Ĥ - Ĥ₀| <= η
wherever |ζ| <= z <= 500, N <= 2^53 and no mean of positive parts of R in any entry exceeds 8, which has a probability
below e^-1000. Beyond T = 2^53 nothing of G is released.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError
from ..sketch.estimators.entropy_mean import entropy_mean, entropy_mean_deviation, entropy_mean_law
from ..sketch.estimators.entropy_mean import size_for as mean_size_for
from . import discrete_laplace
from .exact_entropy import EXACT_ERROR, exact_mass, failure, mass_change, most_total
from .exact_moment import nearest
from .mechanism import Mechanism
from .privacy import Privacy

__all__ = ["MOST_TOTAL", "EntropyNoise", "NoisyMass", "entropy_size_for", "error"]

Array = NDArray[np.float64]
Below = Callable[[int], int]

MOST_TOTAL = 2**53
"""The largest T for which G is released from a sketch."""

# Of ε, for N where it is private. To first order H errs by (noise of G + |H - β| noise of N)/N, so the best share rises
# with |H - β|/β, from a quarter at 0.2 to a half at 1. Three eighths of a round ε lie on the lattice of loss_law.py.
_TOTAL_SHARE = 0.375
_UNITS = 1000  # of the grid, for one group
_LEAST_RATIO = 3  # above e
_ERROR, _ERROR_PER_REACH = 2.0**-40, 2.0**-48
_FARTHEST = 500.0
_LEAST_SIZE = 16  # fewer would save nothing, and take far more noise


def error(reach: float) -> float:
    """η: by how much the computed Ĥ may be off where |ζ| <= reach."""
    return _ERROR + _ERROR_PER_REACH * reach


@dataclass(frozen=True)
class NoisyMass:
    """What was released: N with noise (None where it is public), and N (Ĥ - β) with noise in steps of a grid. T, the
    grid and β = `centre` follow from the noisy N.

    `mass` is None where T is beyond `MOST_TOTAL`.
    """

    total: int | None
    bound: int
    mass: int | None
    step: Fraction
    centre: Fraction

    @property
    def nats(self) -> float:
        """N (Ĥ - β) with noise."""
        return float((self.mass or 0) * self.step)


@dataclass(frozen=True)
class EntropyNoise:
    """The noise of entropy from `size` entries, 0 for exact totals; `copies` is the number of groups a person's pairs
    may lie in, each of them with a release of its own like this one. `share` of ε goes to N where it is private."""

    privacy: Privacy
    size: int
    copies: int = 1
    share: float = _TOTAL_SHARE

    def __post_init__(self) -> None:
        if self.copies < 1:
            raise ArgumentError("copies", self.copies, "there is at least one group", "Pass 1 or more")
        if not 0.0 < self.share < 1.0:
            raise ArgumentError("share", self.share, "it must lie between 0 and 1", "Pass one such as 0.375")
        if self.copies > 1 and self.privacy.relation == "replace":
            raise ArgumentError(
                "copies", self.copies, "under replace a pair may change its group, and that moves two of them",
                "Use relation='add_remove' with twice the pairs_per_person",
            )  # fmt: skip
        if self.size < 0:
            raise ArgumentError("size", self.size, "a sketch has some entries", "Pass 16 or more, or 0: exact totals")
        if self.reach > _FARTHEST:
            raise ArgumentError(
                "size", self.size, f"at δ = {self.privacy.delta:.3g} so few entries can err by {self.reach:.3g} nats",
                "Use 16 entries or more",
            )  # fmt: skip

    # --- what of ε and δ goes where ---

    @property
    def total_is_public(self) -> bool:
        return self.total_distance == 0

    @property
    def total_distance(self) -> int:
        """By how much neighbours can differ in N: c M, c (M - 1) under replace."""
        privacy = self.privacy
        return privacy.pairs_per_person * (privacy.max_value - (privacy.relation == "replace"))

    @property
    def total_epsilon(self) -> float:
        return 0.0 if self.total_is_public else self.share * self.privacy.epsilon

    @property
    def mass_epsilon(self) -> float:
        """The rest, rounded down: the two add up to no more than ε."""
        whole, counted = self.privacy.epsilon, self.total_epsilon
        rest = whole - counted
        return rest if Fraction(rest) + Fraction(counted) <= Fraction(whole) else math.nextafter(rest, 0.0)

    @property
    def lost(self) -> float:
        """With what probability the outcome may not be the ideal one: copies (δ_T + δ_z), 0 if there is neither. The
        composition of mechanism.py makes (1 + e^ε) times as much of it, and a little more where ε is not on its
        lattice."""
        return 0.9 * failure(self.mass_epsilon, self.privacy.delta) if self._failures else 0.0

    @property
    def _failures(self) -> int:
        """How many things may fail in a group: ζ of a sketch, and T where N is private."""
        return (self.size > 0) + (not self.total_is_public)

    @property
    def _each(self) -> float:
        """δ_z of a sketch, and δ_T where N is private."""
        return self.lost / (self.copies * self._failures) * (1.0 - 1e-9)

    @cached_property
    def reach(self) -> float:
        """z: |ζ| is at most this but with probability δ_z."""
        return entropy_mean_law(self.size).reach(self._each) if self.size else 0.0

    @cached_property
    def error(self) -> Fraction:
        """η: by how much the computed Ĥ may be off."""
        return Fraction(error(self.reach)) if self.size else EXACT_ERROR

    def mechanism(self) -> Mechanism:
        """What is charged for all groups together: G, and N beside it where that is private."""
        mass = Mechanism(
            "exact", epsilon=self.mass_epsilon, delta=self.lost, distance=self.distance, gap=self.lost
        )  # fmt: skip
        if self.total_is_public:
            return mass
        counted = Mechanism("exact", epsilon=self.total_epsilon, distance=self.total_distance)
        privacy = self.privacy
        return Mechanism("all", epsilon=privacy.epsilon, delta=privacy.delta, parts=(mass, counted))

    # --- N, and the bound it gives ---

    @property
    def total_scale(self) -> Fraction:
        """Of the noise of N, where it is private."""
        return Fraction(self.total_distance) / Fraction(self.total_epsilon)

    def bound(self, noisy: int) -> int:
        """T from the noisy N, or from N itself where it is public."""
        if self.total_is_public:
            return max(noisy, 1)
        return most_total(noisy, self.total_distance, self.total_scale, self._each)

    # --- G ---

    @property
    def _units(self) -> int:
        return _UNITS * self.copies

    @property
    def distance(self) -> int:
        """By how much N (Ĥ - β), in steps, can differ between neighbours, in all groups together."""
        return self._units + self.copies - 1

    @property
    def mass_scale(self) -> Fraction:
        """Of the noise of G, in steps."""
        return Fraction(self.distance) / Fraction(self.mass_epsilon)

    def centre(self, bound: int) -> Fraction:
        """β: half of the most that N units more can add to G, per unit. From T = 3 M on, where 1 + ln(T/M) > 2."""
        privacy = self.privacy
        if self.total_is_public:
            return Fraction(0)
        least = max(bound, _LEAST_RATIO * privacy.max_value)
        return mass_change(privacy, least) / (2 * privacy.pairs_per_person * privacy.max_value)

    def change(self, bound: int) -> Fraction:
        """V(T): by how much the computed N (Ĥ - β) can differ between neighbours, in nats."""
        privacy = self.privacy
        changed = privacy.pairs_per_person
        if self.total_is_public:
            exact = mass_change(privacy, bound)
        else:
            sides = 2 if privacy.relation == "replace" else 1
            exact = sides * changed * privacy.max_value * self.centre(bound)
        return exact + self.total_distance * Fraction(self.reach) + 2 * changed * self.error * bound

    def step(self, bound: int) -> Fraction:
        """Of the grid of N (Ĥ - β): V(T)/units."""
        return self.change(bound) / self._units

    def noise(self, bound: int) -> float:
        """b: the scale of the noise of G, in nats."""
        return float(self.mass_scale * self.step(bound))

    # --- the release ---

    def measure(self, total: int, locations: Array | None, below: Below) -> NoisyMass:
        """N and N (Ĥ - β) with noise, from the exact N and the y_j of a sketch of `size` entries (None if it is empty).

        `below(n)` gives uniform integers below n; the same ones give the same release.
        """
        if total > 0 and (locations is None or len(locations) != self.size):
            found = None if locations is None else len(locations)
            raise ArgumentError("locations", found, f"there must be {self.size} of them", "Pass those of the sketch")

        def mass() -> Fraction:
            return total * Fraction(float(entropy_mean(locations))) if locations is not None else Fraction(0)

        return self._released(total, mass, below)

    def measure_exact(self, totals: Collection[int], below: Below) -> NoisyMass:
        """The same from the totals of all keys, each above 0, where `size` is 0."""
        if self.size:
            raise ArgumentError("size", self.size, "exact totals have no entries", "Make the noise with size=0")
        return self._released(sum(totals), lambda: exact_mass(totals), below)

    def _released(self, total: int, mass: Callable[[], Fraction], below: Below) -> NoisyMass:
        """`mass` computes N Ĥ, to within η N."""
        counted = None if self.total_is_public else total + discrete_laplace.sample(self.total_scale, below)
        bound = self.bound(total if counted is None else counted)
        step, centre = self.step(bound), self.centre(bound)
        if self.size and bound > MOST_TOTAL:
            return NoisyMass(counted, bound, None, step, centre)
        units = nearest((mass() - total * centre) / step) if total > 0 else 0
        return NoisyMass(counted, bound, units + discrete_laplace.sample(self.mass_scale, below), step, centre)

    # --- what to expect ---

    def deviation(self, total: float, entropy: float | None = None) -> float:
        """Of the released H, in nats, in a stream of this total and entropy (by default the one farthest from β): of
        the sketch, and to first order of both noises."""
        n = max(total, 1.0)
        bound = self.bound(math.ceil(n))
        centre = float(self.centre(bound))
        off = max(centre, math.log(n) - centre) if entropy is None else abs(entropy - centre)
        counted = 0.0 if self.total_is_public else off * float(self.total_scale)
        noise = math.hypot(self.noise(bound), counted)
        sketched = entropy_mean_deviation(self.size) if self.size else 0.0
        return math.hypot(sketched, math.sqrt(2.0) * noise / n)


def entropy_size_for(deviation: float, privacy: Privacy, total: float = 0.0, copies: int = 1) -> int:
    """The fewest entries, 16 or more, whose `deviation` is at most this in a stream of this total; 0 leaves the noise
    out.

    The noise falls with the entries, a little; it is taken at those that would do without it, so there are enough.
    """
    size = max(mean_size_for(deviation), _LEAST_SIZE)
    if not total:
        return size
    added = EntropyNoise(privacy, size, copies).deviation(total) ** 2 - entropy_mean_deviation(size) ** 2
    if added >= deviation**2:
        raise ArgumentError(
            "deviation", deviation, f"the noise alone is {math.sqrt(added):.3g} nats at a total of {total:,.6g}",
            f"Pass more than {math.sqrt(added):.2g}, or a larger ε",
        )  # fmt: skip
    return max(size, mean_size_for(math.sqrt(deviation**2 - added)))
