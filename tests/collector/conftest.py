"""A plan of each mechanism; a test that takes `plan` runs with all of them."""

from __future__ import annotations

import pytest
from collector_helpers import MECHANISMS, plan_for

import stablesketch as ss


@pytest.fixture(scope="module")
def plans() -> dict[str, ss.Plan]:
    return {mechanism: plan_for(mechanism) for mechanism in MECHANISMS}


@pytest.fixture(params=MECHANISMS)
def plan(request: pytest.FixtureRequest, plans: dict[str, ss.Plan]) -> ss.Plan:
    return plans[request.param]


@pytest.fixture
def sketch_plan(plans: dict[str, ss.Plan]) -> ss.Plan:
    return plans["sketch"]


@pytest.fixture
def bare_plan(plans: dict[str, ss.Plan]) -> ss.Plan:
    return plans["bare"]
