"""What the table of a plan says of its error: no statistic is promised more than is known of its stream."""

from __future__ import annotations

import pytest

import stablesketch as ss
from stablesketch.statistic import Statistic

ROWS = ss.Privacy(1.0, 1e-6, pairs=100_000, relation="replace")
ANY = ss.Privacy(1.0, 1e-6, pairs=0, relation="add_remove")
PEOPLE = ss.Privacy(1.0, 1e-6, pairs=100_000, max_value=20, unit="key", relation="replace")

NOTHING = "where every moment is equal to its floor: nothing is guaranteed about the stream"
CASES: list[tuple[Statistic, ss.Privacy, str, str]] = [
    (ss.Renyi(0.5), ANY, NOTHING, "times as accurate, if all keys may be held in memory"),
    (ss.Hill(0.5), ANY, f"% {NOTHING}", "if all keys"),
    (ss.Hill(0.5), ROWS, "% at Hill number of order 0.5 = 1", "if all keys"),
    (ss.Hill(0), ROWS, "4.12% of many keys", "within some 1.41 of any number of keys, if all may be held in memory"),
    (ss.Hill(1), ROWS, "20.6% of any stream", "times as accurate, if all keys"),
    (ss.Profile([0.5, 1]), ROWS, "% at most, where every moment is the least there can be", "times as accurate"),
    (ss.Distinct(), ANY, "4.12% of many keys", "within some 1.41 of any number of keys"),
    (ss.Shannon(), ROWS, "0.206 absolute", "times as accurate, if all keys"),
    (ss.Atkinson(0.5), PEOPLE, " absolute, where everybody has the least", "if all keys"),
]


@pytest.mark.parametrize(("statistic", "privacy", "error", "exact"), CASES, ids=lambda one: str(one)[:24])
def test_the_error_and_the_comparison(statistic: Statistic, privacy: ss.Privacy, error: str, exact: str) -> None:
    *_, error_line, exact_line = str(ss.plan(statistic, privacy, size=70, mechanism="bare")).splitlines()
    assert error_line.startswith("error ")
    assert error_line.endswith(error)
    assert exact_line.startswith("exact + Laplace ")
    assert exact in exact_line
