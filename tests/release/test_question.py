"""One list of arguments: typed in Python, for Spark, for Beam or on the command line, the same question is asked.

What Beam takes is tested in tests/engines/beam/test_beam_question.py, where Beam is.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stablesketch as ss
from stablesketch.cli.app import run as run_command
from stablesketch.cli.option_groups import statistic_options, with_groups
from stablesketch.cli.release import release as command
from stablesketch.engines.spark import release as on_spark
from stablesketch.engines.spark.release import release as spark_release
from stablesketch.plan import Asked
from stablesketch.reading.columns import Columns
from stablesketch.reading.found import Input
from stablesketch.release.arguments import DEFAULTS, What, WhatOfColumns, WhatOfFiles

EVERY = set(inspect.get_annotations(WhatOfFiles))
OPENED = {"sql", "format", "header", "delimiter", "wide"}
PAID = {"ledger", "label"}
# What is not typed everywhere, and why.
OF_SPARK = {
    "secret": "workers have to find it",
    "open_groups": "how much memory a worker has",
}
NOT_TYPED = {
    "count_pairs": "the command line counts where the number is public and --pairs does not say it",
    "auto_max_value": "is --max-value auto",
    "selection_share": "is a tenth there",
}
OF_THE_SHELL = {
    **dict.fromkeys(
        ("epsilon", "delta", "pairs", "max_value", "relation", "pairs_per_person", "unit", "total"), "the Privacy"
    ),
    **dict.fromkeys(("files",), "the data"),
    **dict.fromkeys(("engine", "master"), "where the data are read"),
    **dict.fromkeys(("json", "output", "plot", "report", "registry", "dry_run"), "what becomes of the release"),
    **dict.fromkeys(("dataset", "period", "noun"), "what a report calls the data"),
    "secret": "stored sketches are released by the same command",
}


def typed(function: Any, *objects: str) -> dict[str, inspect.Parameter]:
    """The parameters by which something is asked."""
    found = inspect.signature(function).parameters
    assert not any(one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) for one in found.values())
    return {name: one for name, one in found.items() if name not in (*objects, "statistic", "privacy", *PAID)}


def test_python_takes_the_whole_list_with_its_defaults() -> None:
    found = typed(ss.release, "data")
    assert found.keys() == EVERY
    assert {name: one.default for name, one in found.items()} == {"key": inspect.Parameter.empty, **DEFAULTS}


def test_spark_takes_all_but_how_to_open_files() -> None:
    found = typed(spark_release, "df")
    assert found.keys() == EVERY - OPENED | OF_SPARK.keys()
    assert all(found[name].default == DEFAULTS[name] for name in found.keys() - OF_SPARK.keys() - {"key"})


def test_the_command_line_takes_the_same_with_the_same_defaults() -> None:
    found = typed(with_groups(command), "context", *(option.name for option in statistic_options()))
    assert found.keys() == EVERY - NOT_TYPED.keys() | OF_THE_SHELL.keys()
    both = found.keys() & DEFAULTS.keys()
    assert {name: found[name].default for name in both} == {name: DEFAULTS[name] for name in both}


def test_the_lists_grow_from_each_other() -> None:
    elements, columns = (set(inspect.get_annotations(kind)) for kind in (What, WhatOfColumns))
    assert elements < columns < EVERY
    assert columns - elements == {"key", "value", "by", "person", "count_pairs", "auto_max_value"}
    assert EVERY - columns == OPENED


PRIVACY = ss.Privacy(1.0, 1e-9, max_value=7, pairs_per_person=3)
TYPED: dict[str, Any] = {
    "key": ["app", "page"],
    "value": "n",
    "by": "country",
    "groups": ["FR", "DE"],
    "person": "user",
    "groups_per_person": 2,
    "size": 40,
    "entries_per_key": 8,
    "expected": 100.0,
    "clip": True,
    "on_bad": "skip",
    "confidence": 0.9,
    "format": "csv",
    "header": False,
    "delimiter": ";",
}
ASKED = ss.Question(
    Asked(ss.Moment(0.5), PRIVACY, size=40, entries_per_key=8, expected=100.0),
    Columns(("app", "page"), "n", ("country",), "user"),
    groups=[("FR",), ("DE",)],
    groups_per_person=2,
    clip=True,
    on_bad="skip",
    confidence=0.9,
    input=Input("csv", False, ";"),
)


class Seen(Exception):
    """The question that would be answered."""


def shown(question: ss.Question, *_: Any, **__: Any) -> None:
    raise Seen(question)


def asked_by(call: Any) -> ss.Question:
    with pytest.raises(Seen) as seen:
        call()
    found = seen.value.args[0]
    assert isinstance(found, ss.Question)
    return found


def test_the_helper_builds_it() -> None:
    assert ss.question(ss.Moment(0.5), PRIVACY, **TYPED) == ASKED
    assert ss.question(ss.Moment(0.5), PRIVACY, key="app", value="n") == ss.Question(
        Asked(ss.Moment(0.5), PRIVACY), Columns(("app",), "n")
    )


def test_python_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["stablesketch.engines.local.release"], "run", shown)
    assert asked_by(lambda: ss.release("e.csv", ss.Moment(0.5), PRIVACY, **TYPED)) == ASKED
    assert asked_by(lambda: ss.release("e.csv", ASKED)) is ASKED


def test_spark_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_spark, "run_frame", shown)
    of_frame = {name: value for name, value in TYPED.items() if name not in OPENED}
    ready = replace(ASKED, input=Input())
    assert asked_by(lambda: spark_release(None, ss.Moment(0.5), PRIVACY, **of_frame)) == ready
    assert asked_by(lambda: spark_release(None, ready)) is ready
    with pytest.raises(ss.ArgumentError, match="must not say how to open files"):
        spark_release(None, ASKED)


def test_the_command_line_asks_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys.modules["stablesketch.cli.release"], "run", shown)
    names = tmp_path / "countries.txt"
    names.write_text("FR\nDE\n")
    typed_data = {"files": ["e.csv"], **{name: TYPED.get(name) for name in sorted(OPENED - {"wide"})}}
    more = {name: value for name, value in TYPED.items() if name not in OPENED}
    more |= {"key": "app,page", "groups": names, "size": "40", "entries_per_key": "8"}
    typed_privacy = {"epsilon": 1.0, "delta": 1e-9, "max_value": 7, "pairs_per_person": 3}
    chosen = {option.name: 0.5 if option.name == "p" else None for option in statistic_options()}
    more = {name: DEFAULTS[name] for name in ("error", "memory", "expected", "mechanism")} | more
    grouped = with_groups(command)
    found = asked_by(lambda: grouped(context=None, statistic="moment", **chosen, **typed_data, **typed_privacy, **more))
    assert found == ASKED


OPEN = ss.Privacy(1.0, 1e-9)


@pytest.mark.parametrize(
    ("statistic", "privacy", "what", "typed", "decided"),
    [
        (ss.Hill(0.5), OPEN, {"wide": True, "by": "site"}, "--wide --by site", ("individual", "add_remove", 1, False)),
        (
            ss.Hill(0.5), ss.Privacy(1.0, 1e-9, max_value=9), {"wide": True}, "--wide --max-value 9",
            ("pair", "add_remove", 9, False),
        ),
        (
            ss.Hill(0.5), ss.Privacy(1.0, 1e-9, max_value=1), {"wide": True, "person": "who"},
            "--wide --person who --max-value 1", ("pair", "add_remove", 1, False),
        ),
        (
            ss.Atkinson(0.5), ss.Privacy(1.0, 1e-9, max_value=300), {"key": "who", "value": "pay"},
            "--statistic atkinson --order 0.5 --key who --value pay --max-value 300", ("key", "replace", 300, False),
        ),
        (
            ss.Moment(0.5), ss.Privacy(1.0, 1e-9, relation="replace"), {"key": "app", "mechanism": "bare"},
            "--p 0.5 --key app --relation replace --mechanism bare", ("pair", "replace", 1, True),
        ),
        (
            ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0, relation="replace"), {"key": "app", "mechanism": "bare"},
            "--p 0.5 --key app --relation replace --mechanism bare --pairs 0", ("pair", "replace", 1, False),
        ),
        (
            ss.Moment(0.5), OPEN, {"key": "app", "mechanism": "bare"}, "--p 0.5 --key app --mechanism bare",
            ("pair", "add_remove", 1, False),
        ),
    ],
    ids=["individuals", "cells", "people's cells", "inequality", "counted", "not counted", "private length"],
)  # fmt: skip
def test_what_is_left_out_is_decided_alike_in_python_and_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, statistic: ss.Statistic, privacy: ss.Privacy, what: dict[str, Any], typed: str,
    decided: tuple[str, str, int, bool],
) -> None:  # fmt: skip
    monkeypatch.setattr(sys.modules["stablesketch.engines.local.release"], "run", shown)
    monkeypatch.setattr(sys.modules["stablesketch.cli.release"], "run", shown)
    python = asked_by(lambda: ss.release("e.csv", statistic, privacy, **what))
    options = ["release", "e.csv", *typed.split(), "--epsilon", "1", "--delta", "1e-9"]
    shell = asked_by(lambda: run_command(options))
    assert python == shell
    for one in (python, shell):
        assert (one.privacy.unit, one.privacy.relation, one.privacy.max_value, one.counts_pairs) == decided


@pytest.mark.parametrize("says", [True, False])
def test_who_says_whether_pairs_are_counted_is_heard(says: bool) -> None:
    asked = ss.question(
        ss.Moment(0.5), ss.Privacy(1.0, 1e-9, relation="replace"), key="app", mechanism="bare", count_pairs=says
    )
    assert asked.counts_pairs is says


def test_a_statistic_about_people_is_planned_for_people() -> None:
    assert ss.plan(ss.Atkinson(0.5), OPEN).privacy == ss.Privacy(1.0, 1e-9, unit="key", relation="replace")
    with pytest.raises(ss.ArgumentError, match="unit must be 'key'"):
        ss.plan(ss.Atkinson(0.5), ss.Privacy(1.0, 1e-9, unit="pair"))


def test_how_to_find_the_largest_value_is_an_object() -> None:
    with pytest.raises(ss.ArgumentTypeError, match="auto_max_value must be an AutoMaxValue"):
        ss.question(ss.Moment(0.5), OPEN, key="app", value="n", auto_max_value=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(("what", "named"), [({"key": "app"}, "key="), ({"clip": True, "by": "g"}, "clip=, by=")])
def test_a_ready_question_is_whole(what: dict[str, Any], named: str) -> None:
    with pytest.raises(ss.ArgumentError, match=f"a Question is complete, and {named} is given too"):
        ss.release("e.csv", ASKED, **what)
    with pytest.raises(ss.ArgumentError, match="privacy= is given too"):
        ss.release("e.csv", ASKED, PRIVACY)


def test_what_is_not_asked_is_refused() -> None:
    with pytest.raises(TypeError, match=r"colour cannot be passed to a release\. Pass some of: auto_max_value, by"):
        ss.release("e.csv", ss.Moment(0.5), PRIVACY, key="app", value="n", colour="blue")  # type: ignore[call-arg]
    with pytest.raises(ss.ArgumentTypeError, match=r"persn cannot be passed to a release\. Did you mean person\?"):
        ss.release("e.csv", ss.Moment(0.5), PRIVACY, key="app", persn="user")  # type: ignore[call-arg]
    with pytest.raises(ss.ArgumentTypeError, match=r"groupby cannot be passed to a release\. Did you mean by\?"):
        ss.release("e.csv", ss.Moment(0.5), PRIVACY, key="app", groupby="country")  # type: ignore[call-arg]
    with pytest.raises(ss.ArgumentTypeError, match=r"in the privacy: ss.Privacy\(epsilon, delta, max_value=..."):
        ss.release("e.csv", ss.Moment(0.5), PRIVACY, key="app", max_value=5)  # type: ignore[call-arg]
    with pytest.raises(ss.ArgumentTypeError, match="must be the name of a column"):
        ss.release("e.csv", ss.Moment(0.5), PRIVACY, value="n")
    with pytest.raises(ss.ArgumentTypeError, match="must be a Privacy"):
        ss.release("e.csv", ss.Moment(0.5), key="app")


def test_data_are_not_sampled() -> None:
    made = ss.question(ss.Moment(0.5), ss.Privacy(1.0, 1e-9), key="app")
    with pytest.raises(ss.ArgumentError, match="cannot be used when releasing from data"):
        replace(made, asked=replace(made.asked, sampling=ss.Sampling(0.1)))
