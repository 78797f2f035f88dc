"""Every statistic in every situation at the default size and error: a sane number, or advice that leads to one.

How often intervals hold the truth is counted over all cells together in test_whole_matrix.py, and here for each
statistic.
"""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow.csv
import pytest
from matrix_cells import (
    DELTA,
    EPSILON,
    SITUATIONS,
    Found,
    Options,
    Outcome,
    Refused,
    calls,
    cells,
    check_sane,
    fixed_randomness,
    followed,
    python_door,
    shell_door,
    table,
    truth,
    typed,
)

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.statistic import Statistic

ROWS = 60_000
FEW = 15_000


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


def check_near(outcome: Outcome) -> None:
    """The truth, and as many groups as there are, all within twice the interval: 1e-4 each under another seed."""
    check_sane(outcome)
    assert len(outcome.found) == (3 if "by" in outcome.options else 1)
    for one in outcome.found:
        shown = one.release.points or (one.release,)
        for each, true in zip(shown, truth(outcome.statistic, outcome.options, table(FEW), one.group), strict=True):
            width = each.high - each.low
            assert each.low - width <= true <= each.high + width


@pytest.mark.parametrize(("statistic", "situation"), calls())
def test_every_call_gives_a_number_at_the_defaults(
    statistic: Statistic, situation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed_randomness(monkeypatch, "call", statistic, situation)
    options = SITUATIONS[situation]
    check_near(Outcome(statistic, options, python_door(table(FEW))(statistic, options)))


@pytest.mark.parametrize(("statistic", "situation"), calls())
def test_every_command_gives_a_number_at_the_defaults(
    statistic: Statistic,
    situation: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From a file of text, as people have them."""
    file = tmp_path / "events.csv"
    pyarrow.csv.write_csv(table(FEW), file)
    fixed_randomness(monkeypatch, "command", statistic, situation)
    options = SITUATIONS[situation]
    check_near(Outcome(statistic, options, shell_door(file, capsys)(statistic, options)))
