"""Beam on the direct runner: releases, windows with secrets of their own, the same state as everywhere."""

from __future__ import annotations

import base64
import bz2
import contextlib
import json
import os
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

beam = pytest.importorskip(
    "apache_beam", reason="BEAM IS NOT IN THIS ENVIRONMENT: make test runs these tests in .venv-beam"
)

from apache_beam.transforms import trigger, window  # noqa: E402
from engine_streams import BITS, local_bytes, plan, rows, secret  # noqa: E402

import stablesketch as ss  # noqa: E402
from stablesketch.beam import CollectFn, Release, SecretFrom, Sketch  # noqa: E402
from stablesketch.doors.groups import GroupBudget  # noqa: E402
from stablesketch.engines.secret_from import TheSecret  # noqa: E402

PAIRS = [(row[0], row[1]) for row in rows()]
REPLACE = ss.Privacy(1.0, 1e-6, pairs=3000, max_value=5)
ADD_REMOVE = ss.Privacy(2.0, 1e-6, 0, max_value=5, relation="add_remove")


class Parts(beam.PTransform):  # type: ignore[misc, name-defined]
    """Elements from so many bundles."""

    def __init__(self, elements: list[Any], parts: int) -> None:
        super().__init__()
        self._elements, self._parts = elements, parts

    def expand(self, pipeline: Any) -> Any:
        pieces = [self._elements[i :: self._parts] for i in range(self._parts)]
        return pipeline | beam.Create(pieces) | beam.Reshuffle() | beam.FlatMap(lambda piece: piece)


def result(source: Any, transform: Any, folder: Path) -> list[dict[str, Any]]:
    """The releases, as their JSON, through files: a pipeline has no other way back."""
    stem = folder / f"out-{os.urandom(4).hex()}"
    with beam.Pipeline() as pipeline:
        found = pipeline | source | "Tested" >> transform
        found | beam.Map(lambda one: one.to_json()) | beam.io.WriteToText(str(stem))
    lines = [line for path in folder.glob(f"{stem.name}*") for line in path.read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=lambda one: str(one.get("group")))


def blobs(source: Any, transform: Any, folder: Path) -> list[bytes]:
    stem = folder / f"out-{os.urandom(4).hex()}"
    with beam.Pipeline() as pipeline:
        found = pipeline | source | "Tested" >> transform
        found | beam.Map(lambda blob: blob.hex()) | beam.io.WriteToText(str(stem))
    return [bytes.fromhex(line) for path in folder.glob(f"{stem.name}*") for line in path.read_text().splitlines()]


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


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 64])
def test_the_same_bytes_over_any_number_of_bundles(tmp_path: Path, secret_file: Path, parts: int) -> None:
    way = SecretFrom.file(secret_file)
    assert blobs(Parts(PAIRS, parts), Sketch(plan(), secret=way, shard="x"), tmp_path) == [
        local_bytes(rows(), "x", plan())
    ]


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
    collector._rename("x")
    assert collector.to_bytes() == local_bytes(rows(), "x", plan())
    late = fn.add_input(coder.decode(coder.encode(travelled[0])), ((), "one more", 1))
    again = ss.Collector.from_bytes(fn.extract_output(fn.merge_accumulators([late, travelled[1]])), secret())
    assert again._held().pairs == 1501
    with pytest.raises(ss.errors.ShardMergedTwice):
        fn.merge_accumulators([travelled[0], travelled[0]])
    with pytest.raises(ss.ArgumentError, match="two groups"):
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


class Timed(beam.PTransform):  # type: ignore[misc, name-defined]
    """A pair a second, in windows."""

    def __init__(self, fn: Any, elements: list[Any]) -> None:
        super().__init__()
        self._fn, self._elements = fn, elements

    def expand(self, pipeline: Any) -> Any:
        timed = pipeline | beam.Create(list(enumerate(self._elements)))
        timed = timed | beam.MapTuple(lambda second, one: window.TimestampedValue(one, second))
        return timed | beam.WindowInto(self._fn)


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


def test_sliding_windows_divide_the_budget(tmp_path: Path) -> None:
    stream = [(row[0], row[1]) for row in rows(300)]
    source = Timed(window.SlidingWindows(200, 100), stream)
    made = Release(ss.Moment(0.5), ADD_REMOVE, size=50, public_windows=True)
    found = result(source, made, tmp_path)
    assert len(found) == 4
    each = ss.plan(ss.Moment(0.5), GroupBudget.of(ADD_REMOVE, 2).privacy, size=50)
    assert {one["epsilon"] for one in found} == {GroupBudget.of(ADD_REMOVE, 2).spent(each.epsilon, each.delta)[0]}
    assert {one["floor"] for one in found} == {each.floor}


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
    with pytest.raises(ss.ArgumentError, match="windowing = "):
        windows | Release(ss.Moment(0.5), ADD_REMOVE, size=50)


def test_public_groups_do_not_go_with_public_windows() -> None:
    pipeline = beam.Pipeline()
    windows = pipeline | beam.Create([("FR", ("a", 1))]) | beam.WindowInto(window.FixedWindows(10))
    with pytest.raises(ss.ArgumentError, match="would tell"):
        windows | Release(ss.Moment(0.5), ADD_REMOVE, groups=["FR"], public_windows=True, size=50)


@pytest.mark.parametrize(
    ("bad", "wanted"),
    [
        ((None, 1), "column key: is empty or null"),
        (("a", 70), "column value: is 70, above the promised max_value = 5"),
        (("a", 1.5), "column value: is 1.5, not a whole number"),
        ((7, 1), "not of one type"),
    ],
)
def test_bad_pairs_fail_with_the_same_error(bad: Any, wanted: str, tmp_path: Path) -> None:
    with pytest.raises(ss.DataError, match=wanted):
        result(Parts([*PAIRS[:50], bad], 2), Release(ss.Moment(0.5), ADD_REMOVE, size=50), tmp_path)


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
        assert not found(sent(Sketch(plan(), secret=way)), BITS)
    with pytest.raises(ss.ArgumentError, match="holds the secret itself"):
        Release(ss.Moment(0.5), REPLACE, secret=SecretFrom.callable(lambda: held))
    with pytest.raises(ss.ArgumentTypeError, match=r"SecretFrom\.file"):
        Release(ss.Moment(0.5), REPLACE, secret=secret())  # type: ignore[arg-type]


def test_the_ledger_is_charged_when_the_transform_is_applied(tmp_path: Path) -> None:
    ledger = ss.Ledger(tmp_path / "ledger.db", epsilon=1.0, delta=1e-3)
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create(PAIRS[:5])
    pairs | "One" >> Release(ss.Moment(0.5), REPLACE, ledger=ledger, label="beam", size=400)
    assert [record.label for record in ledger.records()] == ["beam"]
    with pytest.raises(ss.BudgetExceeded):
        pairs | "Another" >> Release(ss.Moment(0.5), REPLACE, ledger=ledger, size=400)
