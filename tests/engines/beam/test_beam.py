"""Beam on the direct runner: releases, windows with secrets of their own, the same state as everywhere."""

from __future__ import annotations

import base64
import bz2
import contextlib
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from beam_pipelines import ADD_REMOVE, PAIRS, REPLACE, Parts, Timed, beam, blobs, result, trigger, window
from engine_streams import BITS, local_bytes, plan, rows, secret

import stablesketch as ss
from stablesketch.beam import CollectFn, Release, SecretFrom, Sketch
from stablesketch.bounding.groups import GroupBudget, group_secret, threshold
from stablesketch.engines.beam.transform import _Published
from stablesketch.engines.secret_from import TheSecret
from stablesketch.release.decide import decide

INDIVIDUALS = ss.Privacy(1.0, 1e-6, unit="individual")


def test_a_release_and_the_same_bytes(tmp_path: Path, secret_file: Path) -> None:
    """The value is within 8 standard deviations: a false alarm is out of the question."""
    (released,) = result(Parts(PAIRS, 3), Release(ss.Moment(0.5), REPLACE, size=200), tmp_path)
    totals: dict[str, int] = {}
    for key, value in PAIRS:
        totals[key] = totals.get(key, 0) + value
    truth = sum(total**0.5 for total in totals.values())
    assert released["pairs"] == 3000
    assert abs(released["value"] / truth - 1) < 8 * (2 / 200) ** 0.5
    way = SecretFrom.file(secret_file)
    (blob,) = blobs(Parts(PAIRS, 7), Sketch(plan(), secret=way, shard="x"), tmp_path)
    assert blob == local_bytes(rows(), "x", plan())


def test_zeros_are_left_out_under_add_remove_and_refused_under_replace(tmp_path: Path, secret_file: Path) -> None:
    way, added = SecretFrom.file(secret_file), ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, max_value=5), size=20)
    zeros = [*PAIRS, *((f"absent {i}", 0) for i in range(50))]
    (blob,) = blobs(Parts(zeros, 3), Sketch(added, secret=way, shard="x"), tmp_path)
    assert blob == local_bytes(rows(), "x", added)
    counts = ss.plan(ss.Moment(0.5), INDIVIDUALS, size=20)  # a value is so many pairs
    (blob,) = blobs(Parts(zeros, 3), Sketch(counts, secret=way, shard="x"), tmp_path)
    one = counts.open(secret(), "x")
    one.update([key for key, value in PAIRS for _ in range(value)])
    assert blob == one.to_bytes()
    with pytest.raises(Exception, match="column value is 0: under replace"):
        blobs(Parts(zeros, 3), Sketch(plan(), secret=way, shard="x"), tmp_path)


def test_values_count_individuals(tmp_path: Path) -> None:
    """As in a stored sketch and everywhere else: (key, n) is n individuals, not a key of two parts that counts 1.

    The noise has a scale of at most 1.2, so a total is off by 40 with a probability below 1e-14."""
    (total,) = result(Parts(PAIRS, 3), Release(ss.Total(), INDIVIDUALS, mechanism="exact"), tmp_path)
    assert total["unit"] == "individual"
    assert total["value"] == pytest.approx(sum(value for _, value in PAIRS), abs=40.0)
    grouped = [("a" if i % 2 else "b", pair) for i, pair in enumerate(PAIRS)]
    found = result(Parts(grouped, 3), Release(ss.Total(), INDIVIDUALS, by=True, mechanism="exact"), tmp_path)
    truth = {name: sum(value for group, (_, value) in grouped if group == name) for name in ("a", "b")}
    assert {one["group"]: one["value"] for one in found} == pytest.approx(truth, abs=40.0)
    with pytest.raises(ss.ArgumentError, match="a value is then a number of pairs"):
        Sketch(ss.plan(ss.Total(), INDIVIDUALS), secret=SecretFrom.file("s.key"), clip=True)
    keys = [key for key, _ in PAIRS]
    with pytest.raises(Exception, match=r"an element is not \(key, value\)"):
        result(beam.Create(keys), Release(ss.Total(), INDIVIDUALS), tmp_path)
    alone = ss.question(ss.Total(), INDIVIDUALS, key="key", mechanism="exact")
    (total,) = result(beam.Create(keys), Release(alone), tmp_path)
    assert total["value"] == pytest.approx(len(PAIRS), abs=40.0)


def test_the_combine_fn_alone(secret_file: Path) -> None:
    """As a runner would use it: accumulators that travel, come empty, or are merged twice."""
    fn = CollectFn(plan(), TheSecret(SecretFrom.file(secret_file)), weighted=True, clip=False)
    coder = fn.get_accumulator_coder()
    accumulators = [fn.create_accumulator() for _ in range(5)]  # the last one stays empty
    for i, (key, value) in enumerate(PAIRS):
        accumulators[i % 4] = fn.add_input(accumulators[i % 4], ((), key, value))
    travelled = [coder.decode(coder.encode(fn.compact(one))) for one in accumulators]
    assert BITS.hex() not in str([coder.encode(one) for one in travelled])
    merged = fn.merge_accumulators(travelled)
    collector = ss.Collector.from_bytes(fn.extract_output(merged), secret())
    collector.rename("x")
    assert collector.to_bytes() == local_bytes(rows(), "x", plan())
    late = fn.add_input(coder.decode(coder.encode(travelled[0])), ((), "one more", 1))
    again = ss.Collector.from_bytes(fn.extract_output(fn.merge_accumulators([late, travelled[1]])), secret())
    assert again._held().pairs == 1501
    with pytest.raises(ss.errors.ShardMergedTwice):
        fn.merge_accumulators([travelled[0], travelled[0]])
    with pytest.raises(ss.ArgumentError, match="must be the same for all pairs that are combined"):
        fn.add_input(travelled[1], (("FR",), "a", 1))


@pytest.mark.slow
def test_groups_public_or_chosen(tmp_path: Path) -> None:
    """With odds below 1e-6 a group of hundreds of pairs is not shown, or one of a single pair is."""
    grouped = [(row[3], (row[0], row[1])) for row in rows()] + [("US", ("x", 1))]
    listed = result(Parts(grouped, 3), Release(ss.Moment(0.5), ADD_REMOVE, groups=["FR", "XX"], size=50), tmp_path)
    assert [one["group"] for one in listed] == ["FR", "XX"]
    assert listed[0]["value"] > listed[1]["value"]
    assert listed[0]["epsilon"] <= 2.0
    chosen = result(Parts(grouped, 3), Release(ss.Moment(0.5), ADD_REMOVE, by=True, size=50), tmp_path)
    assert [one["group"] for one in chosen] == ["DE", "FR"]


def test_a_step_that_is_run_again_chooses_the_same_names(secret_file: Path) -> None:
    """A runner may run it again after what it yielded has left the pipeline. At the threshold some half of all names
    are shown, so if they were chosen afresh, 40 choices would be the same twice with odds of 2^-39.
    """
    decision = decide(ss.question(ss.Moment(0.5), ADD_REMOVE, key="key", value="value", by="group", size=20))
    assert decision.table is not None
    count, once = threshold(decision.table), TheSecret(SecretFrom.file(secret_file), "once")
    names = [(f"group {i}",) for i in range(40)]
    states = [decision.plan.open(group_secret(once.find(), name)).to_bytes() for name in names]

    def published() -> list[str]:
        step = _Published(decision, once)
        every = zip(names, states, strict=True)
        return [one.to_json() for name, state in every for one in step.process((name, (state, count)))]

    first = published()
    assert 0 < len(first) < 40
    assert published() == first


@pytest.mark.slow
def test_a_release_for_each_window(tmp_path: Path) -> None:
    """The last window has 600 pairs of one key; a window of few pairs is not shown. Odds of another outcome: < 1e-6."""
    stream = [*PAIRS[:2400], *[("same", 1)] * 600, ("late", 1)]
    source = Timed(window.FixedWindows(600), stream)
    found = result(source, Release(ss.Moment(0.5), ADD_REMOVE, size=50), tmp_path)
    names = [f"1970-01-01T00:{10 * i:02d}:00Z/1970-01-01T00:{10 * i + 10:02d}:00Z" for i in range(5)]
    assert [one["group"] for one in found] == names
    assert found[4]["value"] < min(one["value"] for one in found[:4])
    # The same pairs twice. A release is a function of pairs and secret, so the windows have different secrets.
    twice = [*PAIRS[:600], *PAIRS[:600]]
    wide = ss.Privacy(3.0, 1e-3, 0, max_value=5, relation="add_remove")
    source = Timed(window.FixedWindows(600), twice)
    first, second = result(source, Release(ss.Moment(0.5), wide, size=50, public_windows=True), tmp_path)
    assert first["value"] != second["value"]


def test_a_pair_in_two_sliding_windows_counts_as_two(tmp_path: Path) -> None:
    stream = [(row[0], row[1]) for row in rows(300)]
    source = Timed(window.SlidingWindows(200, 100), stream)
    made = Release(ss.Moment(0.5), ADD_REMOVE, size=50, public_windows=True)
    found = result(source, made, tmp_path)
    assert len(found) == 4
    two = replace(ADD_REMOVE, pairs_per_person=2, groups=2)
    assert GroupBudget.of(ADD_REMOVE, 2, overlap=2).privacy == two
    assert {one["epsilon"] for one in found} == {2.0}
    assert {one["noise"] for one in found} == {ss.plan(ss.Moment(0.5), two, size=50).noise}
    assert {one["pairs_per_person"] for one in found} == {1}
    # Bare, each has half of the budget.
    bare = Release(ss.Moment(0.5), ADD_REMOVE, size=50, public_windows=True, mechanism="bare")
    half = ss.plan(ss.Moment(0.5), replace(ADD_REMOVE, epsilon=1.0, delta=5e-7), size=50, mechanism="bare")
    again = Timed(window.SlidingWindows(200, 100), stream)
    assert {one["floor"] for one in result(again, bare, tmp_path)} == {half.floor}


@pytest.mark.parametrize(
    "windowing",
    [
        beam.WindowInto(window.Sessions(10)),
        beam.WindowInto(window.FixedWindows(10), allowed_lateness=60),
        beam.WindowInto(
            window.FixedWindows(10),
            trigger=trigger.AfterWatermark(early=trigger.AfterCount(1)),
            accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
        ),
    ],
)
def test_windows_that_would_release_twice_are_refused(windowing: Any) -> None:
    pipeline = beam.Pipeline()
    windows = pipeline | beam.Create([("a", 1)]) | windowing
    with pytest.raises(ss.ArgumentError, match="windowing must"):
        windows | Release(ss.Moment(0.5), ADD_REMOVE, size=50)


def test_public_groups_do_not_go_with_public_windows() -> None:
    pipeline = beam.Pipeline()
    windows = pipeline | beam.Create([("FR", ("a", 1))]) | beam.WindowInto(window.FixedWindows(10))
    with pytest.raises(ss.ArgumentError, match="would reveal"):
        windows | Release(ss.Moment(0.5), ADD_REMOVE, groups=["FR"], public_windows=True, size=50)


def test_nothing_secret_is_in_the_pipeline(secret_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole job, as it is sent to a runner; with a function that holds the secret it is found there."""

    def sent(transform: Any) -> bytes:
        pipeline = beam.Pipeline()
        pipeline | beam.Create(PAIRS[:5]) | transform
        return bytes(pipeline.to_runner_api().SerializeToString())

    def found(raw: bytes, bits: bytes) -> bool:
        texts = [raw]
        for piece in re.findall(rb"[A-Za-z0-9+/=]{40,}", raw):  # Beam writes functions as base64, some compressed
            for unpacked in (bz2.decompress, zlib.decompress, bytes):
                with contextlib.suppress(OSError, ValueError, zlib.error):
                    texts.append(unpacked(base64.b64decode(piece)))
        return any(form in text for text in texts for form in (bits, bits.hex().encode(), base64.b64encode(bits)))

    monkeypatch.setenv("A_SECRET", BITS.hex())
    held = bytes(BITS)
    assert found(sent(beam.Map(lambda one: (held, one))), BITS)
    for way in (SecretFrom.file(secret_file), SecretFrom.environment("A_SECRET")):
        assert not found(sent(Release(ss.Moment(0.5), REPLACE, secret=way, size=40)), BITS)
        people = Release(ss.Moment(0.5), ADD_REMOVE, secret=way, size=40, person=True)
        for bits in (
            BITS,
            people._secret.find()._living()._together(),
            people._secret.find().derive("bounding persons"),
        ):
            assert not found(sent(people), bytes(bits))
        assert not found(sent(Sketch(plan(), secret=way)), BITS)
    with pytest.raises(ss.ArgumentError, match="holds the secret itself"):
        Release(ss.Moment(0.5), REPLACE, secret=SecretFrom.callable(lambda: held))
    with pytest.raises(ss.ArgumentTypeError, match=r"SecretFrom\.file"):
        Release(ss.Moment(0.5), REPLACE, secret=secret())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        (REPLACE, {}),
        (ADD_REMOVE, {"groups": ["FR", "XX"]}),
        (ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove", pairs_per_person=4), {"person": True}),
    ],
)
def test_the_ledger_is_charged_what_the_releases_say(
    asked: ss.Privacy, options: dict[str, Any], tmp_path: Path
) -> None:
    """When the transform is applied: before anything has run."""
    ledger = ss.Ledger(tmp_path / "ledger.db", epsilon=10.0, delta=1e-3)
    made = Release(ss.Moment(0.5), asked, ledger=ledger, label="beam", size=100, **options)
    elements = [
        ("FR", pair) if "groups" in options else (i % 700, pair) if "person" in options else pair
        for i, pair in enumerate(PAIRS)
    ]

    class Applied(beam.PTransform):  # type: ignore[misc, name-defined]
        def expand(self, pcoll: Any) -> Any:
            released = pcoll | made
            assert len(list(ledger.records())) == 1
            return released

    found = result(Parts(elements, 2), Applied(), tmp_path)
    (record,) = ledger.records()
    assert {(one["epsilon"], one["delta"]) for one in found} == {(record.epsilon, record.delta)}
    unit = "add_remove of people" if "person" in options else asked.relation
    assert (record.label, record.relation, record.pairs_per_person) == ("beam", unit, asked.pairs_per_person)
    assert record.statistic == str(ss.Moment(0.5)) + (" by group 0" if "groups" in options else "")
    assert 0 < record.epsilon <= asked.epsilon


def test_what_is_refused_charges_nothing(tmp_path: Path) -> None:
    ledger = ss.Ledger(tmp_path / "ledger.db", epsilon=1.0, delta=1e-3)
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create(PAIRS[:5])
    people = ss.Privacy(1.0, 1e-6, 0, max_value=5, relation="add_remove", pairs_per_person=4)
    for i, (asked, statistic, options) in enumerate([
        (ADD_REMOVE, ss.Shannon(), {"mechanism": "bare"}),  # no plan for streams of any length
        (REPLACE, ss.Moment(0.5), {"error": 1e-9}),
        (people, ss.Moment(0.5), {"by": True, "size": 50}),
        (people, ss.Moment(0.5), {"person": True, "groups_per_person": 0, "size": 50}),
        (replace(REPLACE, epsilon=1.5), ss.Moment(0.5), {"size": 400}),  # above what the ledger has
    ]):  # fmt: skip
        with pytest.raises(ss.StablesketchError):
            pairs | f"Refused {i}" >> Release(statistic, asked, ledger=ledger, **options)  # type: ignore[arg-type]
    assert list(ledger.records()) == []
    pairs | "One" >> Release(ss.Moment(0.5), REPLACE, ledger=ledger, size=400)
    with pytest.raises(ss.BudgetExceeded):
        pairs | "Another" >> Release(ss.Moment(0.5), REPLACE, ledger=ledger, size=400)
    assert len(list(ledger.records())) == 1


def test_whole_keys_are_added_up_as_on_one_machine(
    tmp_path: Path, secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the same secret the release is the same, to the last bit."""
    totals: dict[str, int] = {}
    for key, value in PAIRS:
        totals[key] = totals.get(key, 0) + value
    asked = ss.Privacy(4.0, 1e-6, len(totals), max_value=max(totals.values()), unit="key", relation="replace")
    ledger = ss.Ledger(tmp_path / "ledger.db", epsilon=10.0, delta=1e-3)
    made = Release(ss.Moment(0.5), asked, size=50, secret=SecretFrom.file(secret_file), ledger=ledger)
    (found,) = result(Parts(PAIRS, 3), made, tmp_path)
    assert found["pairs"] == len(totals)
    assert next(ledger.records()).relation == "replace of keys"
    own = made._secret.find()
    monkeypatch.setattr(ss.Secret, "generate", classmethod(lambda cls: own))
    frame = pa.table({"key": [key for key, _ in PAIRS], "n": [value for _, value in PAIRS]})
    here = ss.release(frame, ss.Moment(0.5), asked, key="key", value="n", size=50)
    assert isinstance(here, ss.Outcome)
    assert json.loads(here.to_json()) == found
    low = ss.Privacy(4.0, 1e-6, 10, max_value=5, unit="key", relation="replace")
    with pytest.raises(ss.DataError, match=r"the total of a key is above the promised max_value=5"):
        result(Parts(PAIRS, 3), Release(ss.Moment(0.5), low, size=50), tmp_path)
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([("FR", ("a", 1))])
    with pytest.raises(ss.ArgumentError, match="a key can be in every group"):
        pairs | Release(ss.Moment(0.5), low, groups=["FR"], size=50)
    with pytest.raises(ss.ArgumentError, match="every key must occur once"):
        Sketch(ss.plan(ss.Moment(0.5), low, size=50, mechanism="bare"), secret=SecretFrom.file(secret_file))
