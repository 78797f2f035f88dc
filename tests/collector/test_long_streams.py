"""Streams so long that the 62 random bits of X show: the release says what that costs, or is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.privacy.precision import COVERED_PAIRS, NUMERICAL_ERROR, granularity_delta

LONG = np.zeros(COVERED_PAIRS + 1000, dtype=np.int64)


def test_up_to_the_limit_it_is_within_the_declared_error() -> None:
    assert granularity_delta(1.0, 0.03, COVERED_PAIRS) == 0.0
    assert 0.2 * COVERED_PAIRS * 2.0**-62 < 0.9 * NUMERICAL_ERROR


def test_under_replace_the_release_states_a_larger_delta() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(epsilon=1.0, delta=1e-6, pairs=1000), size=10)
    collector = plan.open()
    collector.update(LONG)
    extra = (1.0 + math.e) * 0.2 * 1000 * 2.0**-62 / plan.step
    assert collector.release().delta == pytest.approx(plan.delta + extra, rel=1e-15)
    assert extra < granularity_delta(1.0, plan.step, len(LONG)) < extra * (1.0 + 1e-9)


def test_a_billion_pairs_cost_what_the_limits_say() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(epsilon=1.0, delta=1e-6, pairs=1000), size=50)
    assert granularity_delta(1.0, plan.step, 10**9) == pytest.approx(2 * 2.6e-9, rel=0.03)


def test_where_the_number_is_private_it_is_refused_and_nothing_is_lost() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(epsilon=1.0, delta=1e-6, pairs=0, relation="add_remove"), size=10)
    collector = plan.open()
    collector.update(LONG)
    before = collector.to_bytes()
    with pytest.raises(ss.StreamTooLong, match=r"more than 2,097,152 pairs.*relation='replace'"):
        collector.release()
    assert collector.to_bytes() == before
