"""Bad elements on Beam: the same typed message as on one machine, by column and value, and nothing is released."""

from __future__ import annotations

import datetime
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from beam_pipelines import ADD_REMOVE, PAIRS, Parts, result
from engine_streams import plan

import stablesketch as ss
from stablesketch.beam import CollectFn, Release, SecretFrom, typed_error
from stablesketch.engines.beam.elements import ElementReader, Pair
from stablesketch.engines.secret_from import TheSecret

ALL = ElementReader(persons=True, by=True, weighted=True, largest=5)
NAMES = ("person", "group", "key", "value")
GOOD = ("me", "FR", "app", 3)
ODD_ZONE = datetime.timezone(datetime.timedelta(seconds=77))  # Arrow has whole minutes only


def element(cells: dict[str, Any]) -> Any:
    person, group, key, value = (cells.get(name, good) for name, good in zip(NAMES, GOOD, strict=True))
    return person, (group, (key, value))


def said_here(cells: dict[str, Any]) -> str:
    """What one machine says of a row, after where it was."""
    kind = pa.float64() if isinstance(cells.get("value"), float) else pa.int64()
    kinds = {**dict.fromkeys(NAMES[:3], pa.string()), "value": kind}
    row = {name: pa.array([cells.get(name, good)], kinds[name]) for name, good in zip(NAMES, GOOD, strict=True)}
    with pytest.raises(ss.DataError) as caught:
        ss.release(pa.table(row), ss.Moment(0.5), ADD_REMOVE, key="key", value="value", by="group", person="person")
    return str(caught.value).partition(", column ")[2]


@pytest.mark.parametrize(
    "cells",
    [{name: None} for name in NAMES] + [{"value": value} for value in (-3, 6, 2**53 + 1)],
)
def test_the_words_are_those_of_one_machine(cells: dict[str, Any]) -> None:
    with pytest.raises(ss.DataError) as caught:
        ALL.read(element(cells))
    assert str(caught.value) == f"the PCollection, column {said_here(cells)}"


def test_a_wrong_type_is_called_what_it_is() -> None:
    """On one machine it is the type of a column, as SQL calls it; here of the one item, which is shown if a number."""
    assert said_here({"value": 1.5}).startswith("value is of type DOUBLE, but values must be whole numbers")
    for cells, wanted in (
        ({"value": 1.5}, "column value is of type float, but values must be whole numbers"),
        ({"value": np.float64(2.0)}, "column value is of type float64, but values must be whole numbers"),
        ({"value": "12 rue X"}, "column value is of type str, but values must be whole numbers"),
        ({"value": True}, "column value is of type bool, but values must be whole numbers"),
        ({"key": 1.5}, "column key is of type float, which cannot be used as a key"),
        ({"key": ("a", ["b"])}, "column key is of type list, which cannot be used as a key"),
        ({"key": ()}, "column key is an empty tuple"),
        ({"key": True}, "column key is of type bool, which cannot be used as a key"),
        ({"person": 1.0}, "column person is of type float, which cannot be used as a key"),
        ({"person": ("a", "b")}, "column person is of type tuple, which cannot be used as a key"),
        ({"group": b"FR"}, "column group is of type bytes: names of groups must be text"),
        ({"group": ("FR", None)}, "column group is null"),
    ):
        with pytest.raises(ss.DataError, match=wanted) as caught:
            ALL.read(element(cells))
        assert "rue X" not in str(caught.value)
    for wrong in ("ab", ("me", "FR"), ("me", ("FR", "app")), 7, ("me", ("FR", ("app", 1, 2)))):
        with pytest.raises(ss.DataError, match=r"not \(person, \(group, \(key, value\)\)\)"):
            ALL.read(wrong)


def test_what_is_a_pair_is_read_as_it_is() -> None:
    day = datetime.date(2026, 11, 15)
    assert ALL.read(element({})) == Pair("me", ("FR",), "app", 3)
    assert ALL.read([7, [("FR", 9, day), (("app", np.int64(4)), np.uint8(5))]]) == Pair(
        7, ("FR", "9", "2026-11-15"), ("app", 4), 5
    )
    for key in (b"x", day, uuid.UUID(int=5), np.str_("é"), 2**63):
        read = ALL.read(element({"key": key, "person": key}))
        assert read is not None
        assert read.key == read.person == key
        assert type(read.key) is not np.str_
    alone = ElementReader(False, False, False, 1).read(np.int64(3))
    assert alone is not None
    assert (alone.key, type(alone.key)) == (3, int)
    clipped = ElementReader(False, False, True, None).read(("app", 10**9))
    assert clipped is not None
    assert clipped.value == 10**9


def test_pairs_are_skipped_where_that_is_asked_but_not_a_broken_promise() -> None:
    skipping = ElementReader(True, True, True, 5, "skip")
    for cells in ({"key": None}, {"person": None}, {"group": None}, {"value": None}, {"value": 0}, {"value": 2**60}):
        assert skipping.read(element(cells)) is None
    for cells, wanted in (({"value": 6}, "above the promised"), ({"value": 1.5}, "whole numbers")):
        with pytest.raises(ss.DataError, match=wanted):
            skipping.read(element(cells))
    with pytest.raises(ss.ArgumentError, match="on_bad must be 'error' or 'skip', got 'drop'"):
        Release(ss.Moment(0.5), ADD_REMOVE, on_bad="drop")  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match="person must be True or False, got 'who': elements have no columns"):
        Release(ss.Moment(0.5), ADD_REMOVE, person="who")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bad", "wanted"),
    [
        ((None, 1), "column key is null"),
        (("a", 70), "column value is above the promised max_value=5"),
        (("a", 1.5), "column value is of type float"),
        ((7, 1), "column key has keys of different types, text and whole number"),
    ],
)
def test_one_element_of_a_thousand_fails_it_all(bad: Any, wanted: str, tmp_path: Path) -> None:
    """A thousand pieces of one element, of which a runner makes bundles; the bad one's group is not the only one."""
    pairs = [*PAIRS[:500], bad, *PAIRS[501:1000]]
    grouped = [("DE" if i % 2 else "FR", pair) for i, pair in enumerate(pairs)]
    with pytest.raises(ss.DataError, match=wanted):
        result(Parts(grouped, 1000), Release(ss.Moment(0.5), ADD_REMOVE, groups=["DE", "FR"], size=50), tmp_path)
    assert not list(tmp_path.glob("out-*-of-*"))


def test_bad_elements_are_skipped_in_a_pipeline_and_bad_pairs_of_dropped_people_are_told(tmp_path: Path) -> None:
    """Of the one person here a pair is kept, and the bad ones are hardly it."""
    privacy = ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove", pairs_per_person=1)
    people = [("me", pair) for pair in PAIRS[:200]]
    with pytest.raises(ss.DataError, match="value is above"):
        result(Parts([*people, ("me", ("a", 70))], 3), Release(ss.Moment(0.5), privacy, person=True, size=50), tmp_path)
    skipping = Release(ss.Moment(0.5), privacy, person=True, size=50, on_bad="skip")
    assert len(result(Parts([*people, ("me", (None, 1)), (None, ("a", 1))], 3), skipping, tmp_path)) == 1


def test_keys_of_two_types_never_meet(secret_file: Path) -> None:
    """Within an accumulator or between two: a number is not the text of it, and Arrow would have turned some."""
    fn = CollectFn(plan(), TheSecret(SecretFrom.file(secret_file)), weighted=True, clip=False)
    coder = fn.get_accumulator_coder()
    now = datetime.datetime(2026, 11, 15)
    day = now.date()
    for one, other in (
        ("7", 7), ("7", b"7"), (day, now), (now, now.astimezone(datetime.UTC)), (("a", 1), ("a", "1")),
        ("a", ("a", "b")),
    ):  # fmt: skip
        both, here, there = (fn.create_accumulator() for _ in range(3))
        for accumulator, key in ((both, one), (both, other), (here, one), (there, other)):
            fn.add_input(accumulator, ((), key, 1))
        with pytest.raises(ss.DataError, match=r"column key(:)? (has keys of different|keys have different numbers)"):
            fn.compact(both)
        travelled = [coder.decode(coder.encode(one)) for one in (here, there)]
        with pytest.raises(ss.DataError, match=r"column key(:)? (has keys of different|keys have different numbers)"):
            fn.merge_accumulators(travelled)
    for key, wanted in (
        (2**64, "beyond 64 bits"),
        ("\ud800", "not valid Unicode"),
        (None, "is null"),
        (0.5, "used as a key"),
        (datetime.datetime(1987, 6, 5, tzinfo=ODD_ZONE), "cannot be converted to an Arrow column"),
    ):
        accumulator = fn.add_input(fn.create_accumulator(), ((), key, 1))
        with pytest.raises(ss.DataError, match=f"column key.*{wanted}") as refused:
            fn.compact(accumulator)
        assert not any(shown in str(refused.value) for shown in (str(2**64), "1987", "0.5"))
    for value, wanted in ((None, "is null"), (-1, "is negative"), (9, "is above"), (1.0, "of type float")):
        accumulator = fn.add_input(fn.create_accumulator(), ((), "a", value))
        with pytest.raises(ss.DataError, match=f"column value.*{wanted}"):
            fn.compact(accumulator)


def test_the_error_is_found_in_what_a_runner_raises() -> None:
    told = "the PCollection, column value is above the promised max_value=5. Clip it."
    step = "[while running 'Release/Read']"
    trace = f"Job failed: Traceback:\n File x\nstablesketch.errors.DataError: {told} {step}\n\n  at java"
    for raised in (RuntimeError(trace), RuntimeError(trace + trace)):
        error = typed_error(raised)
        assert type(error) is ss.DataError
        assert str(error) == told
    wrapped = ValueError("other")
    wrapped.__cause__ = ss.SecretMissing("no")
    assert typed_error(wrapped) is wrapped.__cause__
    assert typed_error(ValueError("other")) is None
