"""`Privacy`: what may be asked for, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.privacy import Privacy


def test_defaults_and_equality() -> None:
    privacy = Privacy(epsilon=1, delta=1e-9, pairs=1_000_000, relation="replace")
    assert (privacy.max_value, privacy.relation, privacy.pairs_per_person) == (1, "replace", 1)
    assert privacy == Privacy(1.0, 1e-9, 1_000_000, relation="replace")
    assert isinstance(privacy.epsilon, float)
    with pytest.raises(dataclasses.FrozenInstanceError):
        privacy.epsilon = 2.0  # type: ignore[misc]


def test_what_is_left_out_may_be_decided_by_others_and_nothing_else() -> None:
    privacy = Privacy(1.0, 1e-9, relation="add_remove")
    assert privacy.leaves_out("unit", "pairs", "max_value")
    assert not privacy.leaves_out("unit", "relation")
    assert privacy.usually(unit="key", relation="replace") is privacy  # add_remove was passed: it needs no key
    decided = privacy.usually(unit="key", relation="add_remove")
    assert decided == Privacy(1.0, 1e-9, unit="key", relation="add_remove")
    assert decided.leaves_out("pairs", "max_value")
    assert not decided.leaves_out("unit")
    assert not Privacy.from_dict(privacy.to_dict()).leaves_out("max_value")
    assert Privacy(1.0, 1e-9, max_value=None, unit=None) == Privacy(1.0, 1e-9)  # type: ignore[arg-type]


def test_numpy_numbers_become_plain_ones() -> None:
    privacy = Privacy(np.float64(0.5), np.float32(0.25), np.int64(7), max_value=np.uint8(3), relation="replace")
    assert json.loads(json.dumps(privacy.to_dict())) == privacy.to_dict()
    assert type(privacy.pairs) is int
    assert type(privacy.max_value) is int


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_json_round_trip(relation: str) -> None:
    privacy = Privacy(0.1, 1e-12, 0, max_value=2**53, relation=relation, pairs_per_person=5)  # type: ignore[arg-type]
    assert Privacy.from_dict(json.loads(json.dumps(privacy.to_dict()))) == privacy


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epsilon", 0.0),
        ("epsilon", -1.0),
        ("epsilon", math.inf),
        ("epsilon", math.nan),
        ("delta", 0.0),
        ("delta", 1.0),
        ("delta", -1e-9),
        ("delta", math.nan),
        ("pairs", -1),
        ("pairs", 2**53 + 1),
        ("max_value", 0),
        ("max_value", 2**53 + 1),
        ("relation", "swap"),
        ("pairs_per_person", 0),
    ],
)
def test_values_out_of_range_are_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(ArgumentError) as caught:
        Privacy(**{"epsilon": 1.0, "delta": 1e-9, "pairs": 10, field: value})  # type: ignore[arg-type]
    assert caught.value.argument == field


def test_delta_zero_is_refused_with_a_way_out() -> None:
    with pytest.raises(ArgumentError, match=r"such as 1e-12"):
        Privacy(1.0, 0.0, 10, relation="replace")


@pytest.mark.parametrize(
    ("field", "value"), [("epsilon", "1"), ("epsilon", True), ("pairs", 10.0), ("pairs", False), ("max_value", "3")]
)
def test_types_are_not_converted(field: str, value: object) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        Privacy(**{"epsilon": 1.0, "delta": 1e-9, "pairs": 10, field: value})  # type: ignore[arg-type]
    assert caught.value.argument == field


@pytest.mark.parametrize("field", ["pairs", "max_value", "relation", "unit", "pairs_per_person"])
def test_from_dict_takes_nothing_for_what_was_left_out(field: str) -> None:
    """A damaged text must not change what is protected: null is no value, and a missing field is that of the format."""
    data = Privacy(1.0, 1e-9, relation="replace", max_value=5).to_dict()
    with pytest.raises(ArgumentError, match=f"no missing fields, got .'{field}'"):
        Privacy.from_dict({**data, field: None})
    assert not any(Privacy.from_dict(data).leaves_out(each) for each in ("pairs", "max_value", "relation", "unit"))
    people = ss.plan(ss.Atkinson(0.5), Privacy(1.0, 1e-9, pairs=1_000, max_value=9)).to_json()
    assert '"unit":"key"' in people
    with pytest.raises(ss.BlobError):
        ss.Plan.from_json(people.replace('"unit":"key"', '"total":0'))


def test_from_dict_refuses_fields_too_many_and_too_few() -> None:
    data = Privacy(1.0, 1e-9, 10, relation="replace").to_dict()
    with pytest.raises(ArgumentError, match="unknown"):
        Privacy.from_dict({**data, "sigma": 1.0})
    del data["relation"]
    with pytest.raises(ArgumentError, match="missing"):
        Privacy.from_dict(data)
    with pytest.raises(ArgumentTypeError):
        Privacy.from_dict([1.0, 1e-9, 10])  # type: ignore[arg-type]
