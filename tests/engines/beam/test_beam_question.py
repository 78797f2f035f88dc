"""Beam asks the question that all engines ask: tests/release/test_question.py, for elements."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest
from beam_pipelines import beam, result

import stablesketch as ss
from stablesketch.beam import Release, SecretFrom, Sketch
from stablesketch.plan import Asked
from stablesketch.reading.columns import Columns
from stablesketch.reading.found import Input
from stablesketch.release.arguments import DEFAULTS, What

OF_BEAM = {
    "by": "elements have a group, or none; they have no columns",
    "person": "elements say whose they are, or do not",
    "public_windows": "there are windows",
    "secret": "workers have to find it",
}
PAID = {"ledger", "label"}
PRIVACY = ss.Privacy(1.0, 1e-9, max_value=7, pairs_per_person=3)
ASKED = ss.Question(
    Asked(ss.Moment(0.5), PRIVACY), Columns(("key",), "value", ("group 0",), "person"), groups=[("FR",), ("DE",)],
    groups_per_person=2, confidence=0.9, on_bad="skip",
)  # fmt: skip


def test_it_takes_what_elements_can_have_with_the_same_defaults() -> None:
    found = dict(inspect.signature(Release).parameters)
    assert [found.pop(name).default for name in ("statistic", "privacy")] == [None, None]
    common = set(inspect.get_annotations(What))
    assert found.keys() == common | OF_BEAM.keys() | PAID
    assert {name: found[name].default for name in common} == {name: DEFAULTS[name] for name in common}


def test_a_stored_sketch_is_read_by_the_same_defaults() -> None:
    found = inspect.signature(Sketch).parameters
    assert {name: found[name].default for name in ("clip", "on_bad")} == {
        name: DEFAULTS[name] for name in ("clip", "on_bad")
    }


def test_it_asks_the_same() -> None:
    typed: dict[str, Any] = {"groups": ["FR", "DE"], "groups_per_person": 2, "confidence": 0.9, "on_bad": "skip"}
    assert Release(ss.Moment(0.5), PRIVACY, person=True, **typed)._question == ASKED
    assert Release(ASKED)._question is ASKED


@pytest.mark.parametrize(
    "question",
    [
        replace(ASKED, auto_max_value=ss.AutoMaxValue()),
        replace(ASKED, input=Input(sql="select 1")),
        replace(ASKED, columns=Columns(("key",), "value"), groups=None, groups_per_person=1, count_pairs=True,
                asked=Asked(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, max_value=7, relation="replace"))),
    ],
)  # fmt: skip
def test_what_a_pipeline_cannot_do_is_refused(question: ss.Question) -> None:
    with pytest.raises(ss.ArgumentError, match="the pipeline is planned before its input is opened"):
        Release(question)
    with pytest.raises(ss.ArgumentError, match="a Question is complete, and person= is given too"):
        Release(ASKED, person=True)


def test_a_ready_question_is_answered_as_the_typed_one(
    tmp_path: Any, secret_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the same secret, to the last digit."""
    monkeypatch.setattr("stablesketch.engines.beam.transform.secrets.token_hex", lambda count: "0" * 32)
    elements = [(i % 50, ("FR", (f"app {i % 9}", 1 + i % 7))) for i in range(300)]
    typed = Release(
        ss.Moment(0.5), PRIVACY, person=True, groups=["FR", "DE"], groups_per_person=2, confidence=0.9, on_bad="skip",
        secret=SecretFrom.file(secret_file),
    )  # fmt: skip
    first = result(beam.Create(elements), typed, tmp_path)
    assert first == result(beam.Create(elements), Release(ASKED, secret=SecretFrom.file(secret_file)), tmp_path)
    assert [one["group"] for one in first] == ["DE", "FR"]


def test_whole_keys_whose_rows_have_no_values_are_added_up(tmp_path: Any) -> None:
    """Each row counts 1, and a key all of its rows; the scale of the noise is 99/400."""
    whole = ss.Privacy(400.0, 1e-9, 2, max_value=100, unit="key", relation="replace")
    question = ss.question(ss.Total(), whole, key="key")
    (found,) = result(beam.Create(["a"] * 40 + ["b"] * 60), Release(question), tmp_path)
    assert found["value"] == pytest.approx(100, abs=10)
