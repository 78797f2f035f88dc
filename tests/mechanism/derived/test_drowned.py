"""Where the noise would drown any realistic answer, the plan says so instead of stating a percentage."""

from __future__ import annotations

import re

import pytest

import stablesketch as ss
from stablesketch.plan.mechanism import mechanism_of

DROWNED = "no useful answer can be expected"


def said(statistic: ss.Statistic, mechanism: ss.MechanismName = "sketch", **privacy: object) -> str:
    plan = ss.plan(statistic, ss.Privacy(delta=1e-9, **privacy), mechanism=mechanism)  # type: ignore[arg-type]
    words = mechanism_of(plan).error_in_words(plan)
    assert words in " ".join(str(plan).split()) or DROWNED not in words
    return words


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize(
    ("statistic", "privacy"),
    [
        (ss.Hill(2), {"epsilon": 0.01, "max_value": 1_000_000}),
        (ss.Hill(0.5), {"epsilon": 0.01, "pairs_per_person": 20}),
        (ss.Profile(), {"epsilon": 0.01, "pairs_per_person": 20}),
        (ss.Simpson(), {"epsilon": 0.01, "max_value": 1_000_000}),
    ],
    ids=str,
)
def test_it_is_said_without_a_percentage(
    mechanism: ss.MechanismName, statistic: ss.Statistic, privacy: dict[str, object]
) -> None:
    words = said(statistic, mechanism, **privacy)
    assert words.startswith(DROWNED)
    assert "%" not in words
    assert "than can be counted" not in words


@pytest.mark.parametrize(
    ("statistic", "privacy"),
    [
        (ss.Hill(0.5), {"epsilon": 1.0, "pairs_per_person": 20}),
        (ss.Hill(2), {"epsilon": 1.0, "max_value": 1500}),
        (ss.Profile(), {"epsilon": 1.0}),
        (ss.Hill(0), {"epsilon": 0.001}),  # whose noise is told in keys
        (ss.Hill(0.5), {"epsilon": 0.01, "pairs_per_person": 20, "relation": "replace", "pairs": 10**7}),
    ],
    ids=str,
)
def test_it_is_not_said_where_an_answer_can_be_had(statistic: ss.Statistic, privacy: dict[str, object]) -> None:
    assert DROWNED not in said(statistic, **privacy)


def test_the_example_is_that_of_the_noise() -> None:
    """By hand: Laplace noise of scale b has the deviation √2 b. F_2^(1/2) of 1,000 keys of 100,000 each is √1000 · 1e5,
    D_2 = N²/F_2 takes twice the relative errors of both, N being 1e8."""
    plan = ss.plan(ss.Hill(2), ss.Privacy(0.01, 1e-9, max_value=1_000_000))
    norm, total = plan.inputs
    one, other = (2**0.5 * b / value for b, value in ((norm.noise, 1e5 * 1e3**0.5), (2e8, 1e8)))
    assert total.statistic == ss.Total()
    found = re.search(r"about (\S+) times the value", mechanism_of(plan).error_in_words(plan))
    assert found is not None
    assert float(found[1]) == pytest.approx(2.0 * (one**2 + other**2) ** 0.5, rel=0.01)
