"""A warning about δ, from public numbers alone."""

from __future__ import annotations

import pytest

import stablesketch as ss
from stablesketch.privacy import delta_advice


@pytest.mark.parametrize(
    ("delta", "pairs", "warned"),
    [(0.01, 20_000, True), (1e-4, 20_000, True), (5e-5, 20_000, False), (1e-9, 10**6, False), (1e-4, 0, False),
     (1.1e-4, 0, True), (0.5, 0, True)],
)  # fmt: skip
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_delta_above_one_over_n(delta: float, pairs: int, warned: bool, relation: str) -> None:
    advice = delta_advice(ss.Privacy(1.0, delta, pairs, relation=relation))  # type: ignore[arg-type]
    assert (advice is not None) is warned
    if advice is not None:
        assert f"δ = {delta:g}" in advice


def test_a_plan_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    privacy = ss.Privacy(1.0, 0.01, 20_000, relation="replace")
    assert "above 1/20,000" in str(ss.plan(ss.Moment(0.5), privacy, size=50, mechanism="bare"))
    assert "above" not in str(ss.plan(ss.Moment(0.5), privacy, mechanism="exact"))  # which has δ = 0


def test_an_epsilon_beyond_all_measure_is_called_that() -> None:
    with pytest.raises(ss.PlanInfeasible, match="ε = 100 is too large") as refused:
        ss.plan(ss.Moment(0.5), ss.Privacy(100.0, 0.5, 20_000, relation="replace"), mechanism="bare")
    assert "e+30" not in str(refused.value)
