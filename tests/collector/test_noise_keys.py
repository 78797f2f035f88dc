"""No two numbers of a release have their noise from one key: their losses are composed as independent ones."""

from __future__ import annotations

import itertools

import pytest

import stablesketch as ss
from stablesketch.privacy.discrete_laplace import KeyedIntegers

STATISTICS = [
    ss.Profile([0, 0.5, 0.75, 1, 2]), ss.Hill(0.5), ss.Hill(1), ss.Simpson(), ss.Shannon(), ss.Distinct(),
    ss.Moment(0.5), ss.Moment(2), ss.Moment(1), ss.Total(), ss.Profile([0.5, 0.5000004]),
]  # fmt: skip
ASKED = [ss.Privacy(1.0, 1e-6), ss.Privacy(1.0, 1e-6, max_value=3, relation="replace"), ss.Privacy(2.0, 1e-6, groups=2)]


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_every_number_has_a_key_of_its_own(
    statistic: ss.Statistic, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[bytes] = []
    made = KeyedIntegers.__init__

    def watched(self: KeyedIntegers, key: bytes) -> None:
        keys.append(key)
        made(self, key)

    monkeypatch.setattr(KeyedIntegers, "__init__", watched)
    plans = [ss.plan(statistic, privacy, mechanism=mechanism) for privacy in ASKED]  # type: ignore[arg-type]
    for secret, plan in itertools.product((1, 2), plans):
        keys.clear()
        for group in ("a", "b"):
            collector = plan.open(ss.Secret.from_bytes(bytes([secret]) * 32).child(group))
            collector.update(range(30))
            collector.release()
        assert keys
        assert len(set(keys)) == len(keys)
