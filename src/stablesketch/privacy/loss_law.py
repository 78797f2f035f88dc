"""`Law`: a privacy loss on a lattice, certainly no better for privacy than the truth, and operations on such laws.

A pair of measures (P, Q) is judged by its hockey-stick curve H(α) = sup_S P(S) - αQ(S); δ(ε) = H(e^ε). A law holds P
masses w_k at the losses t_k = k·step and a mass at infinity; its Q mass at t_k is w_k e^{-t_k}. Then

    H(α) = infinity + Σ_k w_k (1 - α e^{-t_k})_+ ,

a polygon in α with its corners at the α_k = e^{t_k}. Every operation returns a law whose curve lies on or above the
curve it stands for, at every α >= 0; curves that lie above stay above when pairs are composed (Lemma 4 of
docs/math-sensitivity-and-curve.md, totals need not be 1). So whatever is computed from a law is an upper bound.

- `law_of_masses`: a loss between two lattice points becomes two, at those points, with the same P and the same Q mass.
  Merging the two would be post-processing, so splitting never lowers H.
- `coarser`: the same from a lattice to one of twice its step.
- `trimmed`: masses below the window move up to its lowest point, those above it to infinity. H grows with every loss.
  Almost nothing is moved; for a law with many points, at most a thousandth of the mass already at infinity. Otherwise
  losses with a heavy tail, such as estimates from few entries, would get more and more points in composition.
- `compose`: losses of independent pairs add up. The sums are taken directly, not by Fourier transform: all terms are
  positive, so that every mass, however small, has a relative error of at most (terms + 2) roundings. That is what lets
  10^5 releases be composed one after another without the rounding of one drowning the δ of another.
- `worse_than_both`: the polygon through the greater of two curves at every corner. The greatest of convex curves is
  convex and its chords lie above it, so the polygon is the curve of a law and lies above both.

Steps are powers of two, so that lattices of different steps nest and all of them have the point 0.

Roundings are collected in `scale`, the logarithm of a factor. `shift` is the amount by which the computed losses may be
too small: the true δ(ε) is at most e^scale · H(e^{ε - shift}).
"""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import dataclass, replace

import numpy as np

from ..errors import BlobError
from ..numbers.arrays import Array

_UNIT = 2.0**-53
# Points per standard deviation: at least this many, and less than twice as many. Splitting on such a lattice adds at
# most (1/40)²/8 of the variance each time, and a release passes through about 20 of them.
_FINENESS = 40.0
# Mass that may be moved away at either end, each time. 10^5 releases move less than 1e-24 in all.
_TAIL = 1e-30
# The same as a share of the mass at infinity, for laws with more points than this.
_MANY, _TAIL_SHARE = 1 << 13, 1e-3
# Products below the smallest float are lost, at most one for each pair of points; this is more than all of them.
_LOST = 1e-290
_COARSEST = 6  # steps of 64: no budget is that large
_FINEST = -1000
_FURTHEST = 2**52  # lattice points from 0
_MOST_SCALE = 100.0  # roundings add up to 1e-9 in 10^5 releases; e^scale is a float
_HEADER = struct.Struct("<iqdddI")


@dataclass(frozen=True, eq=False)
class Law:
    """P mass `mass[i]` at the loss (first + i)·2^exponent, and `infinity` at infinity."""

    exponent: int
    first: int
    mass: Array
    infinity: float = 0.0
    scale: float = 0.0
    shift: float = 0.0

    @property
    def step(self) -> float:
        """The distance of lattice points, a power of two."""
        return math.ldexp(1.0, self.exponent)

    @property
    def losses(self) -> Array:
        """t_k, exactly: integers times a power of two."""
        out: Array = np.arange(self.first, self.first + len(self.mass), dtype=np.float64) * self.step
        return out

    @property
    def deviation(self) -> float:
        """The standard deviation of the finite losses under P; it only decides the step."""
        total = float(np.sum(self.mass))
        at = np.arange(len(self.mass))
        mean = float(np.sum(self.mass * at)) / total
        return self.step * math.sqrt(float(np.sum(self.mass * (at - mean) ** 2)) / total)

    def delta(self, epsilon: float) -> float:
        """An upper bound for δ(ε): e^scale Σ w (1 - e^{ε - shift - t})_+ + infinity.

        The distance t - ε has an absolute error of a few roundings of either, so ε is lowered slightly. The terms are
        positive, so their sum is off by at most one rounding for each.
        """
        at = epsilon - self.shift - 4.0 * _UNIT * (abs(epsilon) + self.shift)
        gap = self.losses - at
        above = gap > 0.0
        total = float(np.sum(self.mass[above] * -np.expm1(-gap[above]))) + self.infinity
        return min(1.0, total * math.exp(self.scale + (len(self.mass) + 20) * _UNIT))

    def coarser(self) -> Law:
        """This law on a lattice of twice the step: odd points are split, the share 1/(1 + e^{-step}) upwards."""
        odd = self.first & 1
        low = (self.first - odd) // 2
        # Row i holds the points 2(low + i) and 2(low + i) + 1; the last row takes what is split upwards.
        rows = (odd + len(self.mass) + 1) // 2
        pairs = np.zeros((rows, 2))
        pairs.ravel()[odd : odd + len(self.mass)] = self.mass
        up = 1.0 / (1.0 + math.exp(-self.step))
        out = np.zeros(rows + 1)
        out[:-1] = pairs[:, 0] + (1.0 - up) * pairs[:, 1]
        out[1:] += up * pairs[:, 1]
        return replace(self, exponent=self.exponent + 1, first=low, mass=out, scale=self.scale + 6.0 * _UNIT)

    def at_step(self, exponent: int) -> Law:
        """This law on a lattice of step 2^exponent, which must not be finer than its own."""
        law = self
        while law.exponent < exponent:
            law = law.coarser()
        return law

    def trimmed(self) -> Law:
        """The law without ends of negligible mass: the lower end is moved up, the upper end to infinity."""
        below, above = np.cumsum(self.mass), np.cumsum(self.mass[::-1])
        tail = _TAIL if len(self.mass) <= _MANY else max(_TAIL, _TAIL_SHARE * self.infinity)
        low = int(np.searchsorted(below, tail, side="right"))
        high = len(self.mass) - int(np.searchsorted(above, tail, side="right"))
        if low >= high or (low == 0 and high == len(self.mass)):
            return self
        mass = self.mass[low:high].copy()
        if low:
            mass[0] += float(below[low - 1])
        beyond = float(above[len(self.mass) - high - 1]) if high < len(self.mass) else 0.0
        rounding = 2.0 * (len(self.mass) + 2) * _UNIT
        return replace(
            self,
            first=self.first + low,
            mass=mass,
            infinity=(self.infinity + beyond) * (1.0 + rounding),
            scale=self.scale + rounding,
        )

    def settled(self) -> Law:
        """The law, trimmed, and as coarse as its spread allows."""
        law = self.trimmed()
        while law.exponent < _COARSEST and 2.0 * law.step * _FINENESS <= law.deviation:
            law = law.coarser().trimmed()
        return law

    def to_bytes(self) -> bytes:
        """The law as bytes, for the cache of a ledger, which adds a checksum."""
        header = _HEADER.pack(self.exponent, self.first, self.infinity, self.scale, self.shift, len(self.mass))
        return header + self.mass.astype("<f8").tobytes()

    @classmethod
    def from_bytes(cls, blob: bytes) -> Law:
        """Reads the result of `to_bytes`, whose checksum the caller has verified. Anything else is a BlobError."""
        if len(blob) < _HEADER.size:
            raise BlobError("truncated law: corrupt data.")
        exponent, first, infinity, scale, shift, count = _HEADER.unpack_from(blob)
        if len(blob) != _HEADER.size + 8 * count or not _FINEST <= exponent <= _COARSEST or abs(first) > _FURTHEST:
            raise BlobError("invalid lattice of a law: corrupt data.")
        mass = np.frombuffer(blob, "<f8", count, _HEADER.size).astype(np.float64)
        # NaN is not at least 0 either.
        sound = count and np.all(mass >= 0.0) and 0.0 < float(np.sum(mass)) < math.inf
        if not sound or not all(0.0 <= part < math.inf for part in (infinity, scale, shift)) or scale > _MOST_SCALE:
            raise BlobError("invalid masses of a law: corrupt data.")
        return cls(exponent, first, mass, infinity, scale, shift)


ATOM = Law(_COARSEST, 0, np.ones(1))
"""No loss at all: the cost of releasing nothing."""


def law_of_masses(losses: Array, mass: Array, *, scale: float = 0.0, shift: float = 0.0) -> Law:
    """Masses at any finite losses, split onto a lattice fine enough for their spread.

    A loss t between k·step and (k+1)·step gives the share (1 - e^{k·step - t})/(1 - e^{-step}) of its P mass to the
    upper point, which keeps both the P and the Q mass. Each loss is off by a rounding, which goes into `shift`.
    """
    mean = float(np.sum(mass * losses) / np.sum(mass))
    deviation = math.sqrt(float(np.sum(mass * (losses - mean) ** 2) / np.sum(mass)))
    largest = float(np.max(np.abs(losses)))
    # Even without any spread, the step must resolve the distance of the mass from 0.
    wanted = max(deviation, 1e-3 * largest, math.ldexp(1.0, _FINEST))
    exponent = max(_FINEST, min(_COARSEST, math.floor(math.log2(wanted / _FINENESS))))
    step = math.ldexp(1.0, exponent)
    low = math.floor(float(np.min(losses)) / step)
    out = on_lattice(losses, mass, low, step)
    rounding = (len(losses) + 20) * _UNIT
    return Law(exponent, low, out, scale=scale + rounding, shift=shift + 4.0 * _UNIT * largest).settled()


def on_lattice(at: Array, mass: Array, first: int, step: float, rate: float = 1.0) -> Array:
    """Masses at the points first·step, (first + 1)·step, ...: each mass is split between the two points around it, with
    the same mean of e^{-rate·t}.
    """
    index = np.floor(at / step).astype(np.int64)
    share = np.clip(np.expm1(rate * (index * step - at)) / math.expm1(-rate * step), 0.0, 1.0)
    count = int(index.max()) - first + 2
    out: Array = np.bincount(index - first, mass * (1.0 - share), count).astype(np.float64)
    out += np.bincount(index - first + 1, mass * share, count)
    return out


def bounded(epsilon: float, delta: float) -> Law:
    """The worst (ε, δ)-private mechanism: randomised response at ε, and δ at infinity.

    Its curve is δ + (1 - δ)(e^ε - α)_+/(1 + e^ε) for α >= 1, and every (ε, δ)-private mechanism lies below it (Kairouz,
    Oh and Viswanath 2015): H is convex, H(0) <= 1, H(e^ε) <= δ and, in the other direction, H(e^{-ε}) <= 1 - e^{-ε} +
    e^{-ε} δ. The polygon through these is that curve.
    """
    likely = 1.0 / (1.0 + math.exp(-epsilon))
    losses, mass = np.array([-epsilon, epsilon]), np.array([1.0 - likely, likely]) * (1.0 - delta)
    law = law_of_masses(losses, mass, scale=8.0 * _UNIT, shift=4.0 * _UNIT * epsilon)
    return replace(law, infinity=law.infinity + delta)


def compose(one: Law, other: Law) -> Law:
    """The law of the sum of two independent losses.

    Totals may exceed 1. The mass at infinity in the product is everything for which either factor is infinite: the
    product of the total masses less the product of the finite ones.
    """
    exponent = max(one.exponent, other.exponent)
    a, b = one.at_step(exponent), other.at_step(exponent)
    terms = min(len(a.mass), len(b.mass))
    finite_a, finite_b = float(np.sum(a.mass)), float(np.sum(b.mass))
    infinity = a.infinity * (finite_b + b.infinity) + finite_a * b.infinity
    rounding = (terms + len(a.mass) + len(b.mass) + 20) * _UNIT
    return Law(
        exponent,
        a.first + b.first,
        np.convolve(a.mass, b.mass),
        infinity * (1.0 + rounding) + _LOST,
        a.scale + b.scale + rounding,
        a.shift + b.shift,
    ).settled()


def power(law: Law, count: int) -> Law:
    """`count` independent copies, by repeated squaring; small powers are joined before large ones."""
    out: Law | None = None
    while True:
        if count & 1:
            out = law if out is None else compose(out, law)
        count >>= 1
        if not count:
            return ATOM if out is None else out
        law = compose(law, law)


def worse_than_both(one: Law, other: Law) -> Law:
    """A law that is worse than both: the polygon through max(H_1, H_2) at the corners of the lattice.

    Say X is the higher of the two at corner k. The slopes of the polygon on either side of k are those of H_X, plus
    what the other is higher by at the next corner, over the distance to it. So the Q mass at k, the change of slope
    there, is that of X plus

        excess_{k+1}/(α_{k+1} - α_k) + excess_{k-1}/(α_k - α_{k-1}),    excess_j = (H_other - H_X)_+ at α_j ,

    with α = 0 as the corner before the first, where H is the total of P. All terms are positive. The result is then
    compared with both curves at all corners and at 0, and raised wherever it is too low; between corners all three are
    straight.
    """
    if one is other:
        return one
    exponent = max(one.exponent, other.exponent)
    a, b = one.at_step(exponent), other.at_step(exponent)
    if a.shift != b.shift or a.scale != b.scale:
        # A curve moved to the right, or up, is worse.
        a, b = (replace(x, shift=max(a.shift, b.shift), scale=max(a.scale, b.scale)) for x in (a, b))
    first = min(a.first, b.first)
    count = max(a.first + len(a.mass), b.first + len(b.mass)) - first
    mass = np.zeros((2, count))
    for row, law in zip(mass, (a, b), strict=True):
        row[law.first - first : law.first - first + len(law.mass)] = law.mass
    step = a.step
    curves = np.array([_corners(row, step) for row in mass])
    totals = mass.sum(axis=1)
    higher = (curves[1] > curves[0]).astype(np.intp)
    at = np.arange(count)
    own, lower = curves[higher, at], 1 - higher
    up = np.zeros(count)  # α_k/(α_{k+1} - α_k) = 1/(e^step - 1)
    up[:-1] = np.maximum(curves[lower[:-1], at[1:]] - curves[higher[:-1], at[1:]], 0.0) / math.expm1(step)
    down = np.zeros(count)  # α_k/(α_k - α_{k-1}) = 1/(1 - e^{-step})
    down[1:] = np.maximum(curves[lower[1:], at[:-1]] - curves[higher[1:], at[:-1]], 0.0) / -math.expm1(-step)
    down[0] = max(totals[lower[0]] - totals[higher[0]], 0.0)
    out = mass[higher, at] + up + down
    reached = _corners(out, step)
    there = own > 0.0
    lacking = max(float(np.max(own[there] / reached[there], initial=1.0)), float(totals.max() / out.sum()))
    return Law(
        exponent,
        first,
        out,
        max(a.infinity, b.infinity),
        a.scale + math.log(lacking) + 8.0 * (count + 20) * _UNIT,
        a.shift,
    ).settled()


def _corners(mass: Array, step: float) -> Array:
    """H at every corner, without the mass at infinity; sums of positive terms, from the top.

    H_k - H_{k+1} = (1 - e^{-step}) V_k with V_k = Σ_{j>k} w_j e^{-(j-k-1) step} = w_{k+1} + e^{-step} V_{k+1}.
    """
    fall = math.exp(-step)
    above = np.array(list(itertools.accumulate(mass[:0:-1].tolist(), lambda total, own: own + fall * total)))
    out = np.zeros(len(mass))
    out[:-1] = np.cumsum(above)[::-1] * -math.expm1(-step)
    return out
