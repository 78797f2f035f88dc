"""`ComposedCost`: the privacy cost of one or many releases, as an upper bound that composes.

Two ways to compose, chosen when a ledger is made:

- **By privacy loss distribution** (`Law`), the default. It is the tighter one, and holds if the *mechanisms* (which
  plan, how large an ε) of later releases do not depend on the values of earlier ones. The questions asked of the data
  may depend on them: a dominating pair covers every query of its mechanism.
- **By one moment** (`LossMoment`), for ledgers made with adaptive=True. It holds even if every plan is chosen after
  looking at all earlier values. Composing whole distributions does not. Let a first release have the loss +x or -x, and
  let a second mechanism that only hurts after +x and a third that only hurts after -x each be just within the budget.
  Somebody who looks at the first value and then picks one of them exceeds the budget.

  *Proof for the moment.* Fix θ > 0 in advance, and let K_i bound ln E_P[e^{θ L_i}] for whatever release i turns out to
  be, given all before it. Then E_P[exp(Σ θ L_i - Σ K_i)] <= 1 by induction, so if the ledger keeps Σ K_i <= K on every
  path, E_P[e^{θL}] <= e^K for the total loss L. With (1 - e^{-x})_+ <= s e^{θx}, s = θ^θ/(1+θ)^{1+θ}, it follows that
  δ(ε) <= s e^{K - θε}. Masses at infinity add up to at most I on every path. Both limits must also be fixed in advance,
  or a path could trade one for the other: half of δ is for the first and half for the second, and

      δ(ε) = 2 max(s e^{K - θε}, I). ∎

In addition there is **basic composition**: all releases together are (Σ ε_i, Σ δ_i)-private. For one or two releases,
and for pure ones, it is the better bound, and the smaller of the two counts. Adaptive ledgers do not use it: that one
or the other bound holds on every path would prove nothing there.

Disjoint data, add_remove only: a person is in one part of a partition, and the releases of all other parts do not
depend on them. The cost of the partition is therefore the cost of *some* part, whichever: `worse_than_both` over the
parts.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from ..errors import BlobError
from ..numbers.search import least_above, valley
from ..privacy.charge import Charge
from ..privacy.loss_law import ATOM, Law, compose, power, worse_than_both

_UP = 1.0 + 2.0**-40
_MOMENT = struct.Struct("<ddd")
_COST = struct.Struct("<cddI")  # kind, basic ε and δ, directions
_PRECISION = 1e-7


@dataclass(frozen=True)
class LossMoment:
    """ln E_P[e^{θ·loss}] <= `log_moment`, besides a mass `infinity` at infinity."""

    theta: float
    log_moment: float = 0.0
    infinity: float = 0.0

    @classmethod
    def read(cls, raw: bytes) -> LossMoment:
        """The three numbers, each in its range."""
        theta, log_moment, infinity = _MOMENT.unpack(raw)
        if not (0.0 < theta < math.inf and log_moment >= 0.0 and infinity >= 0.0):
            raise BlobError("invalid moment: corrupt data.")
        return cls(theta, log_moment, infinity)

    @classmethod
    def of_law(cls, theta: float, law: Law) -> LossMoment:
        """ln Σ w e^{θt} for a law that dominates: E_P[e^{θL}] = E_Q[x^{1+θ}], with x the likelihood ratio, is an
        integral of H(α) with the positive weight (1+θ) θ α^{θ-1}, and grows with H.
        """
        exponent = np.log(np.maximum(law.mass, 1e-320)) + theta * law.losses
        peak = float(exponent.max())
        log = peak + math.log(float(np.sum(np.exp(exponent - peak))))
        # Exponents have a rounding error in proportion to their size, and there are at most a million of them.
        rounding = 1e-9 + 1e-15 * (abs(peak) + theta * float(np.abs(law.losses).max()))
        beyond = law.infinity * math.exp(law.scale) * _UP  # its masses are known up to a factor e^scale
        return cls(theta, max(0.0, log + law.scale + theta * law.shift + rounding), beyond)

    def delta(self, epsilon: float) -> float:
        """2 max(s e^{K - θε}, I): the two limits at once."""
        log = self.log_moment - self.theta * epsilon + _log_peak(self.theta)
        return min(1.0, 2.0 * max(math.exp(min(log, 0.0)), self.infinity) * _UP)


@dataclass(frozen=True)
class ComposedCost:
    """An upper bound for the privacy cost of one or many releases, in each direction; `basic` is (Σ ε_i, Σ δ_i)."""

    losses: tuple[Law | LossMoment, ...]
    basic: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def nothing(cls, relation: str, theta: float | None) -> ComposedCost:
        """The cost before the first release."""
        directions = 2 if _between(relation) == "add_remove" else 1
        return cls((ATOM,) * directions if theta is None else (LossMoment(theta),) * directions)

    @classmethod
    def of(cls, charge: Charge, relation: str, theta: float | None) -> ComposedCost:
        """The cost of one release; composed by its moment at θ, or by its distribution if θ is None."""
        basic, laws = charge.basic(_between(relation)), charge.laws(_between(relation))
        return cls(laws if theta is None else tuple(LossMoment.of_law(theta, law) for law in laws), basic)

    def __add__(self, other: ComposedCost) -> ComposedCost:
        """The cost of both."""
        (e1, d1), (e2, d2) = self.basic, other.basic
        both = tuple(_compose(one, two) for one, two in zip(self.losses, other.losses, strict=True))
        return ComposedCost(both, (_sum_up(e1, e2), _sum_up(d1, d2)))

    def __or__(self, other: ComposedCost) -> ComposedCost:
        """The cost of one of them, whichever is worse: for releases that cannot concern the same person."""
        (e1, d1), (e2, d2) = self.basic, other.basic
        worse = tuple(_either(one, two) for one, two in zip(self.losses, other.losses, strict=True))
        return ComposedCost(worse, (max(e1, e2), max(d1, d2)))

    def times(self, count: int) -> ComposedCost:
        """`count` releases of this kind."""
        many = tuple(_power(loss, count) for loss in self.losses)
        epsilon, delta = self.basic
        return ComposedCost(many, (_times_up(epsilon, count), _times_up(delta, count)))

    def delta(self, epsilon: float) -> float:
        """A δ for which everything together is (epsilon, δ)-private: the worse direction."""
        composed = max(loss.delta(epsilon) for loss in self.losses)
        if isinstance(self.losses[0], Law) and epsilon >= self.basic[0]:
            return min(composed, self.basic[1])
        return composed

    def epsilon(self, delta: float) -> float:
        """An ε for which everything together is (ε, delta)-private; infinite if there is none."""
        if self.delta(0.0) <= delta:
            return 0.0
        basic = self.basic[0]
        counts = isinstance(self.losses[0], Law) and basic < math.inf and self.basic[1] <= delta
        if counts and self.delta(basic * (1.0 - 1e-9)) > delta:
            return basic  # exact to the last digit, where δ(ε) has a step and the distributions are less precise
        found = least_above(lambda epsilon: self.delta(epsilon) <= delta, 1e-6, _PRECISION, most=1e6)
        return math.inf if found is None else found

    def to_bytes(self) -> bytes:
        """The bytes that the cache of a ledger stores."""
        law = isinstance(self.losses[0], Law)
        parts = [
            loss.to_bytes() if isinstance(loss, Law) else _MOMENT.pack(loss.theta, loss.log_moment, loss.infinity)
            for loss in self.losses
        ]
        head = _COST.pack(b"L" if law else b"M", *self.basic, len(parts))
        return head + b"".join(struct.pack("<I", len(part)) + part for part in parts)

    @classmethod
    def from_bytes(cls, blob: bytes) -> Self:
        """Reads the result of `to_bytes`, after the caller has verified its checksum. Anything else is a BlobError."""
        try:
            kind, epsilon, delta, count = _COST.unpack_from(blob)
            at = _COST.size
            losses: list[Law | LossMoment] = []
            if kind not in (b"L", b"M") or count not in (1, 2) or not (epsilon >= 0.0 and delta >= 0.0):
                raise BlobError("invalid cost: corrupt data.")
            for _ in range(count):
                (length,) = struct.unpack_from("<I", blob, at)
                part = blob[at + 4 : at + 4 + length]
                losses.append(Law.from_bytes(part) if kind == b"L" else LossMoment.read(part))
                at += 4 + length
        except struct.error:
            raise BlobError("truncated cost: corrupt data.") from None
        if at != len(blob):
            raise BlobError("invalid cost (not in canonical form): corrupt data.")
        return cls(tuple(losses), (epsilon, delta))


def _between(relation: str) -> str:
    """The relation as a mechanism sees it: adding or removing a person or an individual adds or removes pairs."""
    return relation.removesuffix(" of people").removesuffix(" of individuals")


def _compose(one: Law | LossMoment, other: Law | LossMoment) -> Law | LossMoment:
    if isinstance(one, Law) and isinstance(other, Law):
        return other if one is ATOM else one if other is ATOM else compose(one, other)
    assert isinstance(one, LossMoment)
    assert isinstance(other, LossMoment)
    beyond = one.infinity + other.infinity + one.infinity * other.infinity
    return LossMoment(one.theta, (one.log_moment + other.log_moment) * _UP, beyond * _UP)


def _either(one: Law | LossMoment, other: Law | LossMoment) -> Law | LossMoment:
    if isinstance(one, Law) and isinstance(other, Law):
        return worse_than_both(one, other)
    assert isinstance(one, LossMoment)
    assert isinstance(other, LossMoment)
    return LossMoment(one.theta, max(one.log_moment, other.log_moment), max(one.infinity, other.infinity))


def _power(loss: Law | LossMoment, count: int) -> Law | LossMoment:
    if isinstance(loss, Law):
        return power(loss, count)
    beyond = math.expm1(min(700.0, count * math.log1p(loss.infinity) * _UP))
    return LossMoment(loss.theta, loss.log_moment * count * _UP, beyond * _UP)


def _sum_up(one: float, other: float) -> float:
    """The sum, rounded up if it must be rounded: 1 + 0.5 is exactly 1.5."""
    return _not_below(one + other, lambda: Fraction(one) + Fraction(other))


def _times_up(one: float, count: int) -> float:
    return _not_below(one * count, lambda: Fraction(one) * count)


def _not_below(nearest: float, exact: Callable[[], Fraction]) -> float:
    """The float nearest to an exact number, or the next larger float if the nearest is smaller."""
    return nearest if nearest == math.inf or nearest >= exact() else math.nextafter(nearest, math.inf)


def _log_peak(theta: float) -> float:
    """ln s, s = θ^θ/(1+θ)^{1+θ} = sup over x > 0 of e^{-θx}(1 - e^{-x})."""
    return theta * math.log(theta) - (1.0 + theta) * math.log1p(theta)


def best_theta(epsilon: float, delta: float) -> float:
    """The θ that lets the most Gaussian releases into a budget. Any θ is sound; a good one wastes less.

    Gaussian releases of total μ² have K = θ(1+θ)μ²/2, and the budget allows K = θε + ln(δ/2) - ln s. Golden section
    in ln θ; the ratio has one peak.
    """

    def allowed(log_theta: float) -> float:
        theta = math.exp(log_theta)
        return (theta * epsilon + math.log(0.5 * delta) - _log_peak(theta)) / (theta * (1.0 + theta))

    return math.exp(valley(lambda log_theta: -allowed(log_theta), math.log(1e-3), math.log(1e9), 200))
