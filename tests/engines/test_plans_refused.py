"""Every refusal of `ss.plan` that a sweep finds, and every way out that it names: each leads to a plan.

Calls here may be wrong in three ways at once (what is protected, what is asked, the statistic), so three steps are
allowed.

Slow: hundreds of plans. What refusals say of releases is followed in test_matrix.py.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from matrix_cells import Found, Options, Refused, advised, followed, privacy_of, usual

import stablesketch as ss
from stablesketch.errors import StablesketchError
from stablesketch.statistic import STATISTICS, Statistic

pytestmark = pytest.mark.slow

PROTECTED: dict[str, Options] = {
    "many pairs": {"pairs": 10**6},
    "few pairs": {"pairs": 30},
    "any number of pairs": {"pairs": 0, "relation": "add_remove"},
    "large values": {"pairs": 1_000, "max_value": 10**6},
    "people": {"pairs": 0, "relation": "add_remove", "pairs_per_person": 10_000, "epsilon": 0.01},
    "whole keys": {"pairs": 5_000, "max_value": 80, "unit": "key"},
    "a tiny delta": {"pairs": 10**6, "delta": 1e-40},
    "a large epsilon": {"pairs": 10**6, "epsilon": 60.0},
}
ASKED: dict[str, Options] = {
    "nothing": {},
    "a small error": {"error": 0.0002},
    "an exact error": {"error": 0.0002, "mechanism": "exact"},
    "a large size": {"size": 10_000},
    "a small size": {"size": 5},
    "little memory": {"memory": 1_100},
    "exact with a size": {"size": 50, "mechanism": "exact"},
    "deletes": {"size": 70, "deletes": True},
}
_OF_PLAN = ("error", "size", "memory", "expected", "mechanism", "deletes")


def planned(statistic: Statistic, options: Options) -> list[Found]:
    try:
        ss.plan(statistic, privacy_of(options), **{name: options[name] for name in _OF_PLAN if name in options})
    except StablesketchError as error:
        raise Refused(str(error)) from None
    return []


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("mechanism", ["sketch", "bare"])
def test_every_way_out_leads_to_a_plan(name: str, mechanism: str) -> None:
    statistic = usual(name)
    dead: list[Any] = []
    for protected, asked in itertools.product(PROTECTED, ASKED):
        options = {"relation": "replace", "mechanism": mechanism, **PROTECTED[protected], **ASKED[asked]}
        try:
            planned(statistic, options)
            continue
        except Refused as refusal:
            message = str(refusal)
        ways = list(advised(message, statistic, options, shell=False))
        if not ways:
            dead.append((protected, asked, message))
        for new_statistic, new in ways:
            try:
                followed(planned, new_statistic, new, shell=False, steps=2)
            except AssertionError as error:
                dead.append((protected, asked, message, new_statistic, new, str(error)))
    assert not dead, "\n".join(map(str, dead))
