"""Statistics computed from others: the states of all measurements are kept together and released together."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...errors import BlobError
from ...format.framing import Reader
from ...plan.mechanism import mechanism_of
from ...plan.plan import Plan
from ...secret import Secret
from ...statistic import Known, Statistic
from ...statistic.published import Release, Terms
from ..shared.belief import Belief, belief, in_order
from ..shared.state import MeasuringState, State, make_release
from .profile_points import each_confidence, profile_points

_LENGTH = struct.Struct("<Q")


class DerivedState(State):
    """One state for every measurement of the plan, all under one secret.

    Measurements use the secret for different purposes (order of the moment, entropy, registers), so their random draws
    are independent. They see the same pairs, and the first refuses invalid pairs before any has counted them.
    """

    def __init__(self, plan: Plan, secret: Secret | None, states: Sequence[MeasuringState] | None = None) -> None:
        held = Secret.generate() if secret is None else secret
        self._plan = plan
        self._states = [_state_of(one)(one, held) for one in plan.inputs] if states is None else states

    @property
    def pairs(self) -> int:
        return self._states[0].pairs

    @property
    def secret(self) -> Secret:
        return self._states[0].secret

    def add(self, keys: object, values: object, threads: int | None, negative: bool) -> None:
        self._each(lambda state: state.add(keys, values, threads, negative))

    def _each(self, change: Callable[[MeasuringState], None]) -> None:
        """Makes the same change to all states. If the first refuses it, nothing has changed."""
        first, *others = self._states
        change(first)
        self.whole = False
        for state in others:
            change(state)
        self.whole = True

    def fingerprint(self, keys: object) -> NDArray[np.uint64]:
        return self._states[0].fingerprint(keys)

    def add_folded(self, fingerprints: NDArray[np.uint64], totals: NDArray[np.int64], pairs: int) -> None:
        self._each(lambda state: state.add_folded(fingerprints, totals, pairs))

    def replan(self, plan: Plan) -> None:
        self._plan = plan
        for state, one in zip(self._states, plan.inputs, strict=True):
            state.replan(one)

    def merge(self, other: State) -> None:
        assert isinstance(other, DerivedState)  # the collectors have the same plan
        theirs = iter(other._states)
        self._each(lambda mine: mine.merge(next(theirs)))

    def to_bytes(self) -> bytes:
        return _encode([state.to_bytes() for state in self._states])

    @classmethod
    def from_bytes(cls, plan: Plan, blob: bytes, secret: Secret | None) -> Self:
        blobs = _decode(blob, len(plan.inputs))
        held = Secret.generate() if secret is None else secret
        states = [_state_of(one).from_bytes(one, own, held) for one, own in zip(plan.inputs, blobs, strict=True)]
        if len({state.pairs for state in states}) > 1:
            raise BlobError("the measurements of a collector have counted different streams: corrupt data.")
        return cls(plan, held, states)

    @classmethod
    def merged(cls, plan: Plan, states: Sequence[bytes]) -> bytes:
        columns = zip(*(_decode(state, len(plan.inputs)) for state in states), strict=True)
        return _encode([_state_of(one).merged(one, own) for one, own in zip(plan.inputs, columns, strict=True)])

    def check(self, confidence: float) -> None:
        for state in self._states:
            state.check(confidence)

    def release(self, terms: Terms) -> Release:
        """Measures everything and computes the statistic from them; a profile has a point for each order."""
        plan, statistic, pairs, confidence = self._plan, self._plan.statistic, self.pairs, terms.confidence
        known = plan.known(pairs)
        public = pairs if plan.privacy.relation == "replace" else 0  # never computes from a private number
        measured = (state.measure(confidence) for state in self._states)
        found = dict(zip((one.statistic for one in plan.inputs), measured, strict=True))

        total = next((each.total for each in found.values() if each.total is not None), None)

        def shown(each: Statistic, found: Mapping[Statistic, Belief], confidence: float) -> tuple[float, float, float]:
            return _computed(each, {one: found[one] for one in each.needs(plan.privacy)}, known, public, confidence)

        if not statistic.several:
            return make_release(plan, *shown(statistic, found, confidence), terms, pairs, total=total)
        each_of = each_confidence(confidence, len(statistic.points))
        wider = {one: measured.at(each_of) for one, measured in found.items()}
        points = profile_points(
            [each.p for each in statistic.points],
            [shown(each, found, confidence) for each in statistic.points],
            [shown(each, wider, each_of) for each in statistic.points],
        )
        first = points[0]
        return make_release(plan, first.value, first.low, first.high, terms, pairs, points, total=total)


def _state_of(plan: Plan) -> type[MeasuringState]:
    state = mechanism_of(plan).state
    assert issubclass(state, MeasuringState)
    return state


def _computed(
    statistic: Statistic, found: Mapping[Statistic, Belief], known: Known, pairs: int, confidence: float
) -> tuple[float, float, float]:
    """(value, low, high) of a statistic from its measurements, within its range given what is known.

    With one measurement, the monotone function maps its limits. Several measurements are independent: see `belief`.
    """
    if len(found) == 1:
        ((one, measured),) = found.items()
        at = np.array([measured.value, measured.low, measured.high])
        value, *ends = statistic.of({one: at}, pairs).tolist()
        low, high = min(ends), max(ends)
    else:
        whole = belief(
            lambda at: statistic.of(dict(zip(found, at, strict=True)), pairs), tuple(found.values()), confidence
        )
        value, low, high = whole.value, whole.low, whole.high
    value = statistic.likely(value, {one: measured.value for one, measured in found.items()})
    return in_order(value, low, high, *statistic.range(known))


def _encode(states: Sequence[bytes]) -> bytes:
    return b"".join(_LENGTH.pack(len(state)) + state for state in states)


def _decode(blob: bytes, count: int) -> list[bytes]:
    reader = Reader("a collector of several measurements", blob)
    states = [reader.sized(_LENGTH) for _ in range(count)]
    reader.end()
    return states
