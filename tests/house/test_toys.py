"""A statistic and a way to measure it that come from outside, by the two registries alone: released by Python and by
the command line, paid from a ledger, reported and drawn. It is the recipe of CONTRIBUTING.md, followed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import stablesketch as ss
from stablesketch import statistic
from stablesketch.cli.app import run
from stablesketch.mechanism.exact import noise_plan
from stablesketch.mechanism.laplace import OfHistogram
from stablesketch.plan import mechanism
from stablesketch.plan.asked import Asked
from stablesketch.plan.mechanism import mechanism_of
from stablesketch.statistic import Array, Known, Measured, Statistic

TOTALS = [1] * 60 + [3] * 40
ANY = Known()
PRIVACY = ss.Privacy(2.0, 1e-9, pairs_per_person=2)


@dataclass(frozen=True)
class Returning(Measured):
    """The number of keys that came more than once."""

    name: ClassVar[str] = "returning"

    @property
    def p(self) -> float:
        """As a count of keys has it."""
        return 0.0

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return 0.0, known.most_keys

    def terms(self, totals: Array) -> Array:
        return np.where(totals > 1, 1.0, 0.0)

    @property
    def sql_term(self) -> str:
        return "CASE WHEN total > 1 THEN 1 ELSE 0 END"

    def definition(self) -> str:
        return "the number of keys whose total is above 1"

    def __str__(self) -> str:
        return "number of returning keys"


class CountReturning(OfHistogram):
    """c pairs come and go with at most c keys, so they make no more than c of them return, or stay away."""

    def serves(self, statistic: Statistic, name: str) -> bool:
        return isinstance(statistic, Returning) and name != "bare"

    def plan(self, asked: Asked) -> ss.Plan:
        deviation = math.sqrt(2.0) * asked.privacy.pairs_per_person / asked.privacy.epsilon
        return noise_plan(asked, deviation, asked.expected or 0.0)

    def distance(self, plan: ss.Plan) -> int:
        return plan.privacy.pairs_per_person

    def units(self, plan: ss.Plan, totals: Collection[int]) -> int:
        return sum(total > 1 for total in totals)

    def noise_scale(self, plan: ss.Plan) -> float:
        return plan.privacy.pairs_per_person / plan.privacy.epsilon


@pytest.fixture(autouse=True)
def toys() -> Iterator[None]:
    statistic.register(Returning)
    mechanism.register(CountReturning())
    yield
    mechanism._MECHANISMS.pop(0)
    del statistic.registry._KINDS["returning"]


def collected(plan: ss.Plan) -> ss.Collector:
    collector = plan.open(ss.Secret.from_bytes(bytes(range(32))))
    for key, total in enumerate(TOTALS):
        collector.update([key] * total)
    return collector


def test_it_is_planned_stored_merged_and_released(tmp_path: Path) -> None:
    plan = ss.plan(Returning(), PRIVACY, expected=40.0)
    assert ss.Plan.from_json(plan.to_json()) == plan
    table = str(plan)
    assert "number of returning keys" in table
    assert "b = 1" in table
    stored = collected(plan)
    again = ss.Collector.from_bytes(stored.to_bytes(), stored.secret)
    ledger = ss.Ledger(tmp_path / "budget", epsilon=3.0, delta=1e-8)
    release = again.release(ledger=ledger, label="toys")
    assert abs(release.value - 40.0) < 20.0
    assert release.low <= release.value <= release.high
    assert release.statistic == "number of returning keys"
    assert ledger.spent() == pytest.approx(2.0, rel=1e-3)


def test_its_noise_is_what_its_mechanism_says() -> None:
    """40 releases: the mean of |noise| is about b, within a factor of 2 but for a probability below 1e-6."""
    plan = ss.plan(Returning(), PRIVACY)
    assert mechanism_of(plan).noise_scale(plan) == 1.0
    off = []
    for i in range(40):
        collector = plan.open(ss.Secret.from_bytes(bytes([i, *range(31)])))
        collector.update(np.repeat(np.arange(40), 2))
        off.append(abs(collector.release().value - 40.0))
    assert 0.5 < float(np.mean(off)) < 2.0


def test_the_command_line_offers_releases_reports_and_draws_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events, page, picture = tmp_path / "events.csv", tmp_path / "page.html", tmp_path / "picture.svg"
    rows = [f"app{key}" for key, total in enumerate(TOTALS) for _ in range(total)]
    events.write_text("\n".join(["app", *rows]) + "\n")
    ask = ["--key", "app", "--statistic", "returning"]
    assert run(["exact", str(events), *ask]) == 0
    assert "40" in capsys.readouterr().out
    ledger = ["--ledger", str(tmp_path / "budget")]
    assert run(["ledger", "new", ledger[1], "--epsilon", "3", "--delta", "1e-8"]) == 0
    price = ["--epsilon", "2", "--delta", "1e-9", "--relation", "add_remove"]
    made = ["--report", str(page), "--plot", str(picture)]
    assert run(["release", str(events), *ask, *price, *ledger, *made]) == 0
    text = page.read_text()
    assert "the number of keys whose total is above 1" in text
    assert "discrete Laplace law of scale 0.5" in text
    assert "eturning keys" in picture.read_text()
