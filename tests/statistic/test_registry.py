"""Every registered statistic has all that only it knows; one that is added from outside is found wherever they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.cli.in_options import in_options
from stablesketch.cli.option_groups import Chosen, statistic_options
from stablesketch.engines.local.exact import exact_values
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.statistic import (
    STATISTICS,
    Argument,
    Array,
    Derived,
    Known,
    Measured,
    Option,
    Statistic,
    Subject,
    from_dict,
    register,
    registry,
)
from stablesketch.statistic.statistic import ANY
from stablesketch.text.wording import in_python, subject

TOTALS = np.array([1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 80.0])
SHARES = TOTALS / TOTALS.sum()
PEOPLE = TOTALS / TOTALS.mean()
BRUTE: dict[Statistic, tuple[float, ...]] = {
    ss.Moment(0.5): (np.sum(TOTALS**0.5),),
    ss.Moment(2): (np.sum(TOTALS**2),),
    ss.Hill(0.5): (np.sum(SHARES**0.5) ** 2,),
    ss.Hill(0): (7.0,),
    ss.Renyi(2): (-math.log(np.sum(SHARES**2)),),
    ss.Tsallis(0.5): ((np.sum(SHARES**0.5) - 1.0) / 0.5,),
    ss.Tsallis(1): (-np.sum(SHARES * np.log(SHARES)),),
    ss.Shannon(): (-np.sum(SHARES * np.log(SHARES)),),
    ss.Distinct(): (7.0,),
    ss.Profile([0, 1, 2]): (7.0, math.exp(-np.sum(SHARES * np.log(SHARES))), 1.0 / np.sum(SHARES**2)),
    ss.Simpson("gini"): (1.0 - np.sum(SHARES**2),),
    ss.HHI(10_000): (10_000.0 * np.sum(SHARES**2),),
    ss.Atkinson(0.5): (1.0 - np.mean(PEOPLE**0.5) ** 2,),
    ss.GeneralisedEntropy(0.5): ((1.0 - np.mean(PEOPLE**0.5)) / 0.25,),
    ss.Total(): (100.0,),
}
"""One of every kind at least, and its value by its definition."""


def released(statistic: Statistic, value: float) -> ss.Release:
    points = tuple(ss.Point(each.p, value, value, value) for each in statistic.points) if statistic.several else ()
    return ss.Release(
        value, 0.5 * value, 2.0 * value, 0.95, str(statistic), statistic.p, 1.0, 1e-6, "add_remove", None, 1, 1,
        "sketch", 100, 0.0, points,
    )  # fmt: skip


def test_the_table_above_has_all() -> None:
    assert {type(each) for each in BRUTE} == set(STATISTICS.values())


@pytest.mark.parametrize("statistic", BRUTE, ids=str)
def test_exact_values_are_those_of_the_definition_in_numpy_and_in_sql(statistic: Statistic) -> None:
    assert statistic.exact(TOTALS) == pytest.approx(BRUTE[statistic], rel=1e-12)
    table = {"key": np.arange(len(TOTALS)), "value": TOTALS.astype(int)}
    (found,) = exact_values(pa.table(table), statistic, Reading(Columns(("key",), "value")))
    assert found.values == pytest.approx(statistic.exact(TOTALS), rel=1e-14)
    assert len(statistic.points) == len(statistic.point_names) == len(found.values)


@pytest.mark.parametrize("statistic", BRUTE, ids=str)
def test_it_says_what_it_is_what_it_answers_and_what_was_found(statistic: Statistic) -> None:
    for each in (Subject(), Subject("app", "spend")):
        assert statistic.topic.asked(each, None).endswith("?")
        assert statistic.topic.asked(each, "{day}").endswith(", by {day}?")
        assert statistic.topic.leading(each)
        said = statistic.headline(released(statistic, 0.5), each)
        assert said.endswith(".")
        assert "95% confidence" in said
    assert statistic.definition()
    assert statistic.error_in_words(0.04)
    assert ("%" in statistic.error_in_words(0.04)) is (statistic.relative and statistic != ss.Tsallis(1))


@pytest.mark.parametrize("statistic", BRUTE, ids=str)
def test_json_python_and_the_command_line_have_a_way_back(statistic: Statistic) -> None:
    assert from_dict(statistic.to_dict()) == statistic
    assert eval(in_python(statistic.named), {"ss": ss}) == statistic  # a call of ours
    words = statistic.as_options().split()
    typed = dict(zip(words[::2], words[1::2], strict=True))
    name = typed.pop("--statistic", "moment")
    given = {option: typed.pop(f"--{option.name}", None) for option in statistic_options()}
    assert not typed
    assert Chosen(name, given).made() == statistic
    if statistic.on_command_line:
        assert in_options(f"Pass {statistic.named}").split()[1::2] == words[::2]


@pytest.mark.parametrize("statistic", BRUTE, ids=str)
def test_errors_of_what_it_needs_make_its_own(statistic: Statistic) -> None:
    privacy = ss.Privacy(1.0, 1e-9, 100, max_value=5, relation="replace", unit="key" if statistic.of_people else "pair")
    errors: dict[Statistic, float] = dict.fromkeys(statistic.needs(privacy), 0.01)
    assert set(statistic.needs(privacy)) == set(statistic.inputs)
    factors = [statistic.factor(each) for each in statistic.inputs]
    assert max(factors) - 1e-9 <= 100 * statistic.combined(errors, privacy) <= math.hypot(*factors) + 1e-9


def test_a_name_is_taken_once() -> None:
    class Other(ss.Shannon):
        pass

    with pytest.raises(ss.ArgumentError, match="shannon"):
        register(Other)
    with pytest.raises(ss.ArgumentError, match="kind"):
        register(int)  # type: ignore[type-var]
    assert STATISTICS["shannon"] is ss.Shannon


@dataclass(frozen=True)
class Dominance(Derived):
    """F_2/N^weight, which nobody needs."""

    weight: float

    name: ClassVar[str] = "dominance"
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument("weight", Option("weight", "Of dominance.", float), float, repr),
    )

    @property
    def p(self) -> float:
        return 2.0

    @property
    def inputs(self) -> tuple[Measured, ...]:
        return ss.Moment(2.0), ss.Total()

    def factor(self, measured: Statistic) -> float:
        return self.weight if measured == ss.Total() else 1.0

    def of(self, found: Mapping[Statistic, Array], pairs: int) -> Array:
        total = np.maximum(found.get(ss.Total(), np.float64(pairs)), 1.0)
        return np.asarray(np.maximum(found[ss.Moment(2.0)], 0.0) / total**self.weight)

    def range(self, known: Known = ANY) -> tuple[float, float]:
        return 0.0, math.inf

    def definition(self) -> str:
        return f"the sum over all keys of (total of the key)^2, over (total)^{self.weight:g}"

    def __str__(self) -> str:
        return f"dominance of weight {self.weight:g}"


@pytest.fixture
def dominance() -> Iterator[None]:
    register(Dominance)
    yield
    del registry._KINDS["dominance"]


@pytest.mark.usefixtures("dominance")
def test_one_that_is_registered_late_has_its_options_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All the rest of it: tests/house/test_toy_statistic.py."""
    events = tmp_path / "events.csv"
    events.write_text("app\n" + "mail\n" * 700 + "chat\n" * 300)
    assert run(["exact", str(events), "--key", "app", "--statistic", "dominance", "--weight", "1.5"]) == 0
    assert f"{580_000 / 1000**1.5:,.6f}" in capsys.readouterr().out
    assert run(["plan", "--statistic", "dominance", "--epsilon", "1", "--delta", "1e-6"]) == 2
    assert "--weight must be given for dominance." in capsys.readouterr().err
    assert run(["plan", "--statistic", "shannon", "--weight", "1"]) == 2
    assert "shannon has no weight: leave out --weight." in capsys.readouterr().err
    assert in_options(f"{subject('weight')} is too large. Pass {Dominance(2).named}") == (
        "--weight is too large. Pass --statistic dominance --weight 2"
    )


def test_what_is_not_registered_is_not_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--statistic", "dominance"]) == 2
    assert "'dominance' is not one of" in capsys.readouterr().err
