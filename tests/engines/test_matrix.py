"""Every statistic in every situation at the default size and error: a sane number, or advice that leads to one.

What is counted over all cells together is how often intervals hold the truth: `test_intervals_cover` in
test_whole_matrix.py, and here for each statistic.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from matrix_cells import (
    DELTA,
    EPSILON,
    SITUATIONS,
    Found,
    Options,
    Refused,
    cells,
    check_sane,
    fixed_randomness,
    followed,
    python_door,
    table,
    typed,
)

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.statistic import Statistic

ROWS = 60_000


@pytest.mark.parametrize(("statistic", "situation"), cells())
def test_a_number_or_advice_that_leads_to_one(
    statistic: Statistic, situation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing here is left to chance: what is checked holds for every secret."""
    fixed_randomness(monkeypatch, statistic, situation)
    outcome = followed(python_door(table(ROWS)), statistic, SITUATIONS[situation], shell=False)
    check_sane(outcome)


@pytest.mark.parametrize(("statistic", "situation"), cells(shell=True))
def test_a_plan_or_advice_that_leads_to_one(
    statistic: Statistic, situation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--dry-run` reads nothing, so that there is no file."""

    def door(statistic: Statistic, options: Options) -> list[Found]:
        capsys.readouterr()
        code = run([*typed(statistic, options, tmp_path / "events.parquet"), "--json", "--dry-run"])
        out, err = capsys.readouterr()
        if code:
            assert code in (2, 4), err
            raise Refused(err)
        plans.append(ss.Plan.from_json(out))
        return []

    plans: list[ss.Plan] = []
    followed(door, statistic, SITUATIONS[situation], shell=True)
    (plan,) = plans
    assert 0.0 < plan.epsilon <= EPSILON
    assert 0.0 <= plan.delta <= DELTA
    assert 0.0 < plan.error < math.inf
    assert str(plan)
