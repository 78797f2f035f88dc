"""What a few bytes may ask of memory, and of those who read errors."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from plan_texts import forged

import stablesketch as ss
from stablesketch._native import MOST_TABLES, Entries, tables_held
from stablesketch.errors import shortened
from stablesketch.ledger.accounting import ComposedCost
from stablesketch.mechanism.shared.laplace_noise import check_noise
from stablesketch.privacy.charge import Charge
from stablesketch.sketch import wire
from stablesketch.sketch.entry_law import EntryLaw

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(4.0, 1e-6, 0, relation="add_remove"), size=7, mechanism="bare")
RESOLUTION = Entries(EntryLaw("symmetric", 0.5), 1).resolution

MANY_ORDERS = """
import resource
import stablesketch as ss

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

ss.Sketch(0.5, 1)
before = peak()
for i in range(300):
    ss.Sketch.from_bytes(ss.Sketch(0.3 + i / 1000, 1).to_bytes())
print(peak() - before)
"""


@pytest.mark.slow
def test_sketches_of_many_orders_keep_few_tables() -> None:
    """A blob of 45 bytes may have any p, and its table takes up to 2 MiB: 300 of them once took 225 MB for good."""
    ran = subprocess.run([sys.executable, "-c", MANY_ORDERS], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 2 * MOST_TABLES + 60  # MB, tables and what the allocator keeps beside them


def test_a_table_that_was_let_go_is_built_again_with_the_same_bits() -> None:
    def sketched() -> bytes:
        sketch = ss.Sketch(0.7431, 3, ss.Secret.from_bytes(bytes(32)), law="symmetric")
        sketch.update(["ape", "bee"])
        return sketch.to_bytes()

    before = sketched()
    for i in range(MOST_TABLES + 1):
        ss.Sketch(0.25 + i / 997, 1, law="symmetric")
    assert tables_held() == MOST_TABLES
    assert sketched() == before


def test_a_sketch_keeps_its_table_while_others_come_and_go() -> None:
    sketch = ss.Sketch(0.8123, 3, ss.Secret.from_bytes(bytes(32)), law="symmetric")
    for i in range(MOST_TABLES + 1):
        ss.Sketch(0.35 + i / 991, 1, law="symmetric")
    sketch.update(["ape"])
    again = ss.Sketch(0.8123, 3, ss.Secret.from_bytes(bytes(32)), law="symmetric")
    again.update(["ape"])
    assert sketch.to_bytes() == again.to_bytes()


@pytest.mark.parametrize("size", [0, 10_001, 2**31, 2**62, 10**400])
def test_a_plan_of_a_size_that_nothing_plans_is_refused_before_anything_is_allocated(size: int) -> None:
    """2^31 entries once asked for 16 GiB."""
    with pytest.raises(ss.BlobError, match=r"must have between 1 and 10,000 entries, got|'size'"):
        ss.Plan.from_json(forged(PLAN, size=size))


def test_a_plan_with_phantoms_without_number_is_refused() -> None:
    with pytest.raises(ss.BlobError, match="count"):
        ss.Plan.from_json(forged(PLAN, phantoms={"count": 2**40, "weight": 1}))


def test_a_sketch_of_more_pairs_than_there_can_be_is_refused() -> None:
    for pairs, total in ((2**257, 1), (1, 2**300), (-(2**257), 0)):
        blob = wire.encode(wire.Frame(0.5, 1, RESOLUTION, bytes(8), pairs, total, b"\0"))
        with pytest.raises(ss.BlobError, match="impossible number of pairs"):
            ss.Sketch.from_bytes(blob)


def test_merging_does_not_count_beyond_what_there_can_be() -> None:
    most = ss.Sketch.from_bytes(wire.encode(wire.Frame(0.5, 1, RESOLUTION, bytes(8), 2**256, 2**256, b"\0")))
    with pytest.raises(ss.MergeError, match="impossible number of pairs"):
        most.merge(most)
    assert most.pairs == 2**256


RELEASE = ss.Release(
    value=5.0, low=4.0, high=6.0, confidence=0.95, statistic="F_0.5", p=0.5, epsilon=1.0, delta=1e-6,
    relation="replace", pairs=10, pairs_per_person=1, max_value=1, mechanism="sketch", size=50, floor=0.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("value", "5"), ("value", None), ("value", float("nan")), ("value", 10**400), ("low", 7.0), ("confidence", 1),
        ("confidence", 0.0), ("statistic", 5), ("statistic", "x" * 2000), ("statistic", ""), ("p", 2.5),
        ("epsilon", -1),
        ("epsilon", float("inf")), ("delta", 1.0), ("relation", "both"), ("relation", []), ("pairs", -1),
        ("pairs", 1.5),
        ("pairs", True), ("pairs_per_person", 0), ("max_value", 2**54), ("mechanism", None), ("size", 2**64),
        ("floor", -0.5), ("points", {}), ("points", [5]), ("points", [{}] * 17), ("odd", 1),
        ("points", [{"order": 0.0, "value": 1.0, "low": 2.0, "high": 1.0}]),
        ("points", [{"order": o, "value": 1.0, "low": 1.0, "high": 1.0} for o in (0.5, 0.5)]),
    ],
)  # fmt: skip
def test_a_release_with_a_field_of_another_type_or_range_is_refused(field: str, value: object) -> None:
    with pytest.raises(ss.BlobError, match="not the JSON of a release") as refused:
        ss.Release.from_json(json.dumps({**json.loads(RELEASE.to_json()), field: value}))
    assert len(str(refused.value)) < 500


def test_a_release_without_a_field_is_refused() -> None:
    content = json.loads(RELEASE.to_json())
    for name in content:
        with pytest.raises(ss.BlobError):
            ss.Release.from_json(json.dumps({key: value for key, value in content.items() if key != name}))
    assert ss.Release.from_json(RELEASE.to_json()) == RELEASE


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "9" * 5_000, "", "null", '{"a":1,"a":2}', b"{}", 5])
def test_json_that_breaks_parsers_is_refused(text: str) -> None:
    for read in (ss.Plan.from_json, ss.Release.from_json):
        with pytest.raises(ss.BlobError):
            read(text)


def test_an_error_about_something_huge_is_short() -> None:
    huge = [10**5000, [[]] * 10**6, "x" * 10**7, b"x" * 10**7, {i: i for i in range(10**5)}]
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in [*huge, deep]:
        assert len(shortened(value)) <= 80
        with pytest.raises(ss.ArgumentError, match="pairs must") as refused:
            ss.Privacy(1.0, 1e-6, value, relation="replace")  # type: ignore[arg-type]
        assert len(str(refused.value)) < 300


def test_numbers_that_no_float_holds_are_refused_by_name() -> None:
    with pytest.raises(ss.ArgumentError, match="epsilon"):
        ss.Privacy(10**400, 1e-6, 0, relation="replace")
    with pytest.raises(ss.ArgumentError, match="order"):
        ss.Hill(10**400)


def test_a_cost_of_almost_nothing_has_an_epsilon() -> None:
    """Bisection between neighbouring floats once went on for ever."""
    cost = ComposedCost.of(Charge("other", epsilon=5e-322), "replace", None)
    assert 0.0 <= cost.epsilon(1e-330 + 5e-324) < 1e-6


def test_noise_that_no_float_holds_is_refused_before_it_is_paid() -> None:
    """An ε of 1e-290 is a number above 0; such noise once ended in an OverflowError, after the payment."""
    with pytest.raises(ss.ArgumentError, match="epsilon must be at least 1e-100, got 1e-290"):
        ss.Privacy(1e-290, 1e-6, 3, relation="replace")
    with pytest.raises(ss.PlanInfeasible, match="larger than any number"):
        check_noise(Fraction(10) ** 400, Fraction(1))
