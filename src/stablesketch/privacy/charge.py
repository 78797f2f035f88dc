"""`Charge`: the few public numbers that the privacy of a release depends on, and its cost.

There are six kinds, each with a privacy loss distribution that follows from what the release did, not from the ε it
reports. A kind says what noise there is, not which mechanism was asked for. Ledgers store these names, so they cannot
change:

- **sketch**: bare entries, without noise (mechanism/bare/moment.py). They are `size` entries of the pair (D_{p,1},
  D_{p,ρ}), where ln ρ is the sensitivity (entries/curve.py). `gap` is the probability that finite precision changes the
  outcome (privacy/precision.py).
- **exact**: noise on a whole number of known sensitivity, used for exact mechanisms, counters, distinct keys and
  entropy. The number has sensitivity D, and the noise is discrete Laplace of scale b = D/ε. For neighbours that are D
  apart, the loss at the outcome z is (|z - D| - |z|)/b. Neighbours that are less apart are dominated: the noise is
  log-concave, so half lines distinguish best, and P(X <= y) - αP(X <= y - d) grows with d (Lemma 3 of
  docs/math-sensitivity-and-curve.md, which uses no more than that).
- **shift**: bare entries of entropy, without noise (mechanism/bare/entropy.py). They are `size` entries of the law R
  moved by at most `log_rho` (entries/shift_curve.py), and `gap`. Entropy may rise or fall when a pair is added, so each
  direction is charged the worse of the two.
- **estimate**: noise on the estimate of a sketch, used for moments by default (mechanism/noisy/moment.py,
  privacy/estimate_loss.py). `estimate`, p and `size` determine the law of its relative error ξ; the largest of `copies`
  of them counts. `noise` is the scale in units of what neighbours change, `added` is what finite precision adds to the
  shift in units of the noise, and `gap` is the probability that the computation fails. Twice that is charged at
  infinity, and nothing else: the paragraph on finite precision below is for the entries of the other kinds. The pair is
  symmetric, so both directions have the same law.
- **all**: several releases of one stream that are planned together, `charges`. They are independent given the stream,
  so their losses add up.
- **other**: something that was proved (ε, δ)-private elsewhere, such as plans that sample their pairs
  (privacy/sampling.py). Randomised response with δ at infinity dominates it.

This list is closed: every process that opens a ledger must know what its records cost, so no kind can be added from
outside. A new mechanism is charged as one of them if its proof says so, otherwise as "other".

**Directions.** Under add_remove one neighbour has what the other lacks, so F_p of a stream, or of any part of it, is
larger for the same one of the two in every release. "Removed" (narrow against wide) and "added" (wide against narrow)
are therefore composed separately, and the worse counts. Under replace a pair may raise F_p in one release and lower it
in another, and an observer who knows the two neighbours knows which. So every release is charged the worse of its two
directions at every α at once (`worse_than_both` in loss_law.py), and there is only one law. It dominates every way of
mixing the directions.

**Finite precision.** On either neighbour the outcome of a release differs from the ideal one with probability at most
g, its `gap`. Charging d = (1 + e^c) g + H(e^c) at infinity covers this for any c >= 0, where H is the ideal curve in
that direction. *Proof.* The true curve is at most H(α) + (1 + α) g (privacy/precision.py). For α <= e^c that is at most
H(α) + (1 + e^c) g; for α > e^c, curves fall, so it is at most H(e^c) + (1 + e^c) g. Both are at most H(α) + d, the
curve of the ideal pair with a mass d more at infinity. ∎ The least d over some values of c is taken; for releases of a
small ε it is little more than 2g. (Adding (1 + e^ε) g_i for the *total* ε instead would be e^ε/2 times as much.)

**Besides the distribution**, every charge has its own (ε, δ), for which it was planned. It is certified here from what
the release does: what a plan claims is not trusted, except where its distribution is unknown.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, reduce
from hashlib import sha256
from typing import Any, Literal, cast, get_args

import numpy as np

from ..errors import ArgumentError, LedgerError
from ..format.checked_json import Fields, JsonError
from .entries.curve import PrivacyCurve
from .entries.lattice import upper_law
from .entries.loss import loss_cells
from .entries.shift_curve import ShiftCurve
from .estimate_loss import ESTIMATES, law_of_estimate
from .loss_law import ATOM, Law, bounded, compose, law_of_masses, power, worse_than_both
from .noisy_estimate import NoisyXi, Precision

ChargeKind = Literal["sketch", "exact", "shift", "estimate", "all", "other"]
"""The kinds are described at the top of this file."""

# Written for estimates only, so that the stored form of the other kinds does not change.
_OF_ESTIMATES = ("estimate", "noise", "added", "copies")

_UNIT = 2.0**-53
# Cells per deviation of the loss of one entry.
_FINENESS = 96.0
_MOST_CELLS = 1 << 14
# Below this the loss of an entry is charged as if it were always the greatest one.
_LEAST_SHIFT = 1e-90
# More atoms than this of discrete noise are charged as randomised response.
_MOST_ATOMS = 1 << 20
_CUTS = 64
MOST_CHARGES = 32
MOST_EPSILON = 1e6


@dataclass(frozen=True)
class Charge:
    """One way of releasing; equal charges cost the same. Fields that a kind does not use are 0."""

    kind: ChargeKind
    p: float = 0.0
    size: int = 0
    log_rho: float = 0.0
    gap: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    distance: int = 0
    charges: tuple[Charge, ...] = ()
    estimate: str = ""
    noise: float = 0.0
    added: float = 0.0
    copies: int = 0

    def to_json(self) -> str:
        """The canonical JSON, with numbers as Python writes them, which is exact."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; includes `charges` only if there are any, as "parts"."""
        fields = asdict(self)
        del fields["charges"]
        if self.kind != "estimate":
            for name in _OF_ESTIMATES:
                del fields[name]
        return {**fields, "parts": [one.to_dict() for one in self.charges]} if self.charges else fields

    @classmethod
    def from_dict(cls, content: object, *, inner: bool = False) -> Charge:
        """Reads the result of `to_dict`; anything else is a JsonError. An `inner` charge, one of those that another is
        composed of, is composed of none itself."""
        with Fields(content, "the charge") as fields:
            charges = [] if inner else fields.any("parts", [])
            if not isinstance(charges, list) or len(charges) > MOST_CHARGES:
                raise JsonError(f"parts of the charge must be a list of up to {MOST_CHARGES}")
            kind = cast("ChargeKind", fields.choice("kind", *get_args(ChargeKind)))
            own: dict[str, Any] = {}
            if kind == "estimate":
                own = {
                    "estimate": fields.choice("estimate", *ESTIMATES),
                    "noise": fields.number("noise", sys.float_info.min, sys.float_info.max),
                    "added": fields.number("added", 0.0, sys.float_info.max),
                    "copies": fields.whole("copies", 1, 2**31),
                }
            return cls(
                kind=kind,
                p=fields.number("p", 0.0, 2.0 if kind == "estimate" else 1.0),
                size=fields.whole("size", 0, 2**31),
                log_rho=fields.number("log_rho", 0.0, sys.float_info.max),
                gap=fields.number("gap", 0.0, 2.0),
                epsilon=fields.number("epsilon", 0.0),
                delta=fields.number("delta", 0.0, 1.0),
                distance=fields.whole("distance", 0, 2**1000),
                charges=tuple(cls.from_dict(one, inner=True) for one in charges),
                **own,
            )

    def scaled(self, factor: float) -> Charge:
        """The same charge for neighbours that change this many times as much. It claims no ε of its own, except for
        that of noise.
        """
        if self.kind in ("exact", "other"):
            return replace(self, epsilon=self.epsilon * factor)
        if self.kind == "estimate":
            return replace(self, noise=self.noise / factor, added=self.added * factor, epsilon=math.inf)
        charges = tuple(one.scaled(factor) for one in self.charges)
        return replace(self, log_rho=self.log_rho * factor, epsilon=math.inf, charges=charges)

    @property
    def digest(self) -> bytes:
        """Its name in the cache of compositions."""
        return sha256(b"stablesketch/ledger/mechanism/" + self.to_json().encode()).digest()[:16]

    def basic(self, relation: str = "replace") -> tuple[float, float]:
        """Its own (ε, δ), certain for neighbours of this relation; ε is infinite if none is certain.

        What is certain under replace, which charges each the worse of its directions, is certain under
        add_remove too.
        """
        certain = self.kind in ("exact", "other") or math.isinf(self.epsilon)
        together = "add_remove" if relation.startswith("add_remove") else "replace"  # for pairs and for keys alike
        return self.epsilon if certain else _certified(self, together), self.delta

    def laws(self, relation: str) -> tuple[Law, ...]:
        """(removed, added) under add_remove, one law for both under replace."""
        return _laws(self, relation)


@lru_cache(maxsize=256)
def _laws(charge: Charge, relation: str) -> tuple[Law, ...]:
    if charge.kind == "all":
        each = [one.laws(relation) for one in charge.charges]
        return tuple(reduce(compose, laws) for laws in zip(*each, strict=True))
    if charge.kind == "estimate":
        _known(charge)  # or an error
        at = charge.noise, charge.added, charge.gap
        law = law_of_estimate(charge.estimate, charge.p, charge.size, charge.copies, *at)
        return (law, law) if relation == "add_remove" else (law,)
    if charge.kind == "sketch":
        removed, added = _entries(charge)
    elif charge.kind == "shift":
        removed = added = ShiftCurve(charge.size, charge.log_rho).law()
    else:
        # Both kinds are symmetric: the two directions are the same.
        removed = added = _noise(charge) if charge.kind == "exact" else bounded(charge.epsilon, charge.delta)
    laws = (removed, added) if relation == "add_remove" else (worse_than_both(removed, added),)
    return tuple(replace(law, infinity=law.infinity + _precision(charge.gap, law)) for law in laws)


@lru_cache(maxsize=256)
def _certified(charge: Charge, relation: str) -> float:
    """An ε that is certain at the δ of this sketch: its own, if the curve confirms it.

    Several together are planned by their composed laws under the relation of the plan (mechanism/derived/plan.py), and
    are confirmed in the same way. The curve of one sketch is that of its worse direction, under either relation.
    """
    epsilon, delta = charge.epsilon, charge.delta
    if charge.kind == "all":
        for one in charge.charges:
            one.basic(relation)
        laws = charge.laws(relation)
        if all(law.delta(epsilon) <= delta for law in laws) or _sums_up(charge.charges, epsilon, delta):
            return epsilon
        raise _not_given(charge)
    if charge.kind == "estimate":
        return _certified_estimate(charge)
    curve: PrivacyCurve | ShiftCurve
    if charge.kind == "sketch":
        curve = PrivacyCurve.from_log(charge.p, charge.size, charge.log_rho)
    else:
        curve = ShiftCurve(charge.size, charge.log_rho)
    left = delta - (1.0 + math.exp(min(epsilon, 700.0))) * charge.gap * (1.0 + 1e-12)
    if left >= 0.0 and curve.delta(epsilon) <= left:
        return epsilon
    # A plan may have rounded the other way at the seventh digit; a larger difference is not rounding.
    if left > 0.0 and curve.epsilon(left) <= epsilon * 1.001:
        return math.inf
    raise _not_given(charge)


def _known(charge: Charge) -> NoisyXi:
    """The ξ of an estimate, whose law is known."""
    if not charge.noise > 0.0:
        raise LedgerError("the plan is for an estimate without noise. Make the plan again with ss.plan.")
    try:
        return ESTIMATES[charge.estimate](charge.p, charge.size, charge.copies)
    except (KeyError, ArgumentError) as error:
        raise LedgerError(f"the plan is for an invalid estimate: {error}") from None


def _certified_estimate(charge: Charge) -> float:
    """Like `_certified`, for an estimate: by the bound that plans use, or by the law."""
    known, delta = _known(charge), charge.delta
    (law,) = charge.laws("replace")
    # Only the shift at this noise and the failure of a `Precision` matter; a grid gives that shift exactly.
    precision = Precision(grid=0.5 * charge.added, failure=charge.gap)

    def holds(epsilon: float) -> bool:
        return law.delta(epsilon) <= delta or known.delta(epsilon, charge.noise, precision) <= delta

    if holds(charge.epsilon):
        return charge.epsilon
    if holds(charge.epsilon * 1.001):
        return math.inf
    raise _not_given(charge)


def _sums_up(charges: Sequence[Charge], epsilon: float, delta: float) -> bool:
    """Whether their own (ε, δ) add up to no more. Basic composition is the better bound for two pure ones."""
    each = [one.basic() for one in charges]
    return math.fsum(e for e, _ in each) <= epsilon and math.fsum(d for _, d in each) <= delta


def _not_given(charge: Charge) -> LedgerError:
    return LedgerError(
        f"the plan claims ε = {charge.epsilon:.6g} at δ = {charge.delta:.3g}, which its size, floor and privacy do not "
        "support. Make the plan again with ss.plan."
    )


def _entries(charge: Charge) -> tuple[Law, Law]:
    """The certified laws of one entry, removed and added, `size` times. They live on a lattice of their own, and are
    split onto ours.
    """
    p, size = charge.p, charge.size
    shift = charge.log_rho / p
    if shift == 0.0:
        return ATOM, ATOM
    if shift < _LEAST_SHIFT:
        worst = bounded(size * shift * (1.0 + 1e-12), 0.0)
        return worst, worst
    cells = min(_MOST_CELLS, math.ceil(_FINENESS * (1.0 + p) / p))
    one_entry = loss_cells(p, shift, cells)
    # `lowest` and `step` are rounded numbers; so is the index times the step.
    rounding = 8.0 * _UNIT * (1.0 + p) * shift
    laws = []
    for wide_first in (False, True):
        entry = upper_law(one_entry, wide_first=wide_first)
        losses = entry.lowest + entry.step * np.arange(len(entry.weight), dtype=np.float64)
        kept = entry.weight > 0.0
        shift = entry.shift_error + rounding
        one = law_of_masses(losses[kept], entry.weight[kept], scale=entry.scale_error, shift=shift)
        laws.append(power(one, size))
    return laws[0], laws[1]


def _noise(charge: Charge) -> Law:
    """z <= 0 has the loss ε and probability 1/(1 + q), z >= D the loss -ε and q^D/(1 + q); between them one by one.

    q = e^{-1/b} = e^{-ε/D}. The probabilities of 1..D-1 are (1 - q)/(1 + q) q^z, each rounded a few times; the exponent
    z ε/D is at most ε, so that its rounding is a few units of ε.
    """
    epsilon, distance = charge.epsilon, charge.distance
    if epsilon > MOST_EPSILON:
        return replace(ATOM, infinity=1.0)  # it protects nobody, and does not fit on a lattice
    if distance > _MOST_ATOMS:
        return bounded(epsilon, 0.0)
    at = np.arange(distance + 1, dtype=np.float64)
    rate = epsilon / distance
    mass = np.exp(-at * rate) / (1.0 + math.exp(-rate))
    mass[1:-1] *= -math.expm1(-rate)
    losses = epsilon * (1.0 - 2.0 * at / distance)
    rounding = 16.0 * _UNIT * (1.0 + epsilon)
    return law_of_masses(losses, mass, scale=rounding, shift=rounding)


def _precision(gap: float, law: Law) -> float:
    """d from the top of this file: the least (1 + e^c) g + H(e^c) over values c from 0 to the greatest loss."""
    if gap == 0.0:
        return 0.0
    top = float(law.losses[-1]) + law.shift
    cuts = np.linspace(0.0, max(top, 0.0), _CUTS).tolist()
    return min((1.0 + math.exp(min(cut, 700.0))) * gap + law.delta(cut) for cut in cuts) * (1.0 + 1e-12)
