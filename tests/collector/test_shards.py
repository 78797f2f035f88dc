"""Shards of one stream: any sharding releases the same number, and none counts twice."""

from __future__ import annotations

import dataclasses
import random
import threading

import pytest
from collector_helpers import filled, fresh

import stablesketch as ss
from stablesketch.collector import merge_blobs
from stablesketch.plan.plan import altered


def shards_of(plan: ss.Plan, count: int, seed: int, pairs: int = 60) -> list[ss.Collector]:
    """The same pairs distributed over shards at random; now and then a shard gets nothing."""
    rng = random.Random(seed)
    collectors = [plan.open(secret=fresh(), shard=f"shard {i}") for i in range(count)]
    for i in range(pairs):
        rng.choice(collectors).update([f"key {i % 37}"], [1 + i % 9])
    return collectors


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16])
def test_any_sharding_releases_the_same_number(plan: ss.Plan, count: int) -> None:
    """Bit for bit, under one secret: entries are exact, and noise and phantoms come from the secret, at the release."""
    whole = plan.open(secret=fresh())
    whole.update([f"key {i % 37}" for i in range(60)], [1 + i % 9 for i in range(60)])
    expected = whole.release()
    for seed in range(3):
        shards = shards_of(plan, count, seed)
        random.Random(seed).shuffle(shards)
        while len(shards) > 1:  # merged in a random tree
            taken = shards.pop(random.Random(seed + len(shards)).randrange(len(shards)))
            shards[-1].merge(ss.Collector.from_bytes(taken.to_bytes(), fresh()) if seed else taken)
        assert shards[0].release() == expected


def test_phantoms_are_there_exactly_once(bare_plan: ss.Plan) -> None:
    """The entries at release are those of the stream plus the phantoms of the plan, however many shards there were.

    A plan of the same size without phantoms shows what they add; with 16 shards it adds just that.
    """
    assert bare_plan.phantoms.count > 0
    none = altered(bare_plan, phantoms=dataclasses.replace(bare_plan.phantoms, count=0))

    def released(plan: ss.Plan, count: int) -> float:
        first, *others = shards_of(plan, count, seed=1)
        for other in others:
            first.merge(other)
        return first.release().value

    assert released(bare_plan, 1) == released(bare_plan, 16)
    assert released(none, 1) == released(none, 16)
    assert released(none, 1) != released(bare_plan, 1)


def test_the_exact_mechanism_holds_the_same_totals_whatever_the_sharding(plans: dict[str, ss.Plan]) -> None:
    first, *others = shards_of(plans["exact"], 5, seed=2)
    names = {f"shard {i}" for i in range(5)}
    for other in others:
        first.merge(other)
    again = ss.Collector.from_bytes(first.to_bytes(), fresh())
    assert first.shards == again.shards == names
    whole = plans["exact"].open(secret=fresh())
    whole.update([f"key {i % 37}" for i in range(60)], [1 + i % 9 for i in range(60)])
    assert first._held().to_bytes() == whole._held().to_bytes()


def test_the_same_shard_twice_is_refused(plan: ss.Plan) -> None:
    total = filled(plan, shard="sum")
    blob = filled(plan, shard="eu-1").to_bytes()
    total.merge(ss.Collector.from_bytes(blob, fresh()))
    before = total.to_bytes()
    with pytest.raises(ss.ShardMergedTwice, match=r"shard 'eu-1' is already included.*Merge each shard once"):
        total.merge(ss.Collector.from_bytes(blob, fresh()))
    with pytest.raises(ss.ShardMergedTwice):
        total.merge(total)
    # Also through a detour: a collector that has the shard within it.
    detour = filled(plan, shard="detour")
    detour.merge(ss.Collector.from_bytes(blob, fresh()))
    with pytest.raises(ss.ShardMergedTwice, match="eu-1"):
        total.merge(detour)
    assert total.to_bytes() == before
    detour.release()  # a refused shard has lost nothing


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("46", "47", True),
        ("46", '46/{"day": "mon"}', False),
        ('46/{"day": "mon"}', '46/{"day": "tue"}', True),
        ('46/{"day": "mon"}', '46/{"city": "Lyon"}', False),
        ('46/{"day": "mon"}', '46/{"day": "mon", "city": "Lyon"}', False),
        ('46/{"day": "mon"}', '46/["tue"]', False),
        ('46/["mon"]', '46/["tue"]', False),
        ('46/["mon"]', '47/["tue"]', True),
        ('a/{b}/{"day": "x/{y}"}', 'a/{b}/{"day": "z"}', True),
        ('a/{b}/{"day": "x/{y}"}', 'a/{b}/{"x": "z"}', False),
        ('46/{"day": "mon"}/0', '46/{"city": "Lyon"}/0', True),  # a turn; it has its name when all are in
        ("46/" + "[" * 30_000 + "]" * 30_000, "46", True),  # which Python 3.14 reads as JSON, and others do not
        ('46/[["mon"]]', "46", True),
        ('46/{"day": ["mon"]}', "46", True),
    ],
)  # fmt: skip
def test_shards_add_up_if_they_were_cut_by_the_same_columns(plan: ss.Plan, one: str, other: str, apart: bool) -> None:
    for names in ((one, other), (other, one)):
        first, second = (filled(plan, shard=name) for name in names)
        if apart:
            merge_blobs([first.to_bytes(), second.to_bytes()])
            first.merge(second)
        else:
            with pytest.raises(ss.ShardMergedTwice, match="would count twice"):
                merge_blobs([first.to_bytes(), second.to_bytes()])
            with pytest.raises(ss.ShardMergedTwice, match="would count twice"):
                first.merge(second)


def test_a_merged_shard_is_closed(plan: ss.Plan) -> None:
    """Its pairs are in the other one now. Were it to release too, one secret would have two releases."""
    total, shard = filled(plan, shard="sum"), filled(plan, shard="eu-1")
    total.merge(shard)
    for attempt in (lambda: shard.update(["late"]), shard.release, shard.to_bytes, lambda: shard.secret):
        with pytest.raises(ss.MergeError, match="was merged into another"):
            attempt()
    with pytest.raises(ss.ShardMergedTwice):
        total.merge(shard)
    with pytest.raises(ss.MergeError, match="was merged into another"):
        filled(plan).merge(shard)
    assert repr(shard) == "<Collector of F_0.5, merged into another>"
    assert total.shards == {"sum", "eu-1"}


def test_collectors_that_do_not_belong_together(plan: ss.Plan, plans: dict[str, ss.Plan]) -> None:
    total = filled(plan, shard="sum")
    before = total.to_bytes()
    for other in plans.values():
        if other != plan:
            with pytest.raises(ss.MergeError, match="different plans"):
                total.merge(filled(other))
    with pytest.raises(ss.MergeError, match="different secrets"):
        total.merge(filled(plan, secret=ss.Secret.generate()))
    with pytest.raises(ss.ArgumentTypeError, match=r"Collector\.from_bytes"):
        total.merge(total.to_bytes())  # type: ignore[arg-type]
    assert total.to_bytes() == before


@pytest.mark.parametrize("shard", ["", 7, b"eu", "x" * 70_000, "\ud800", "é" * 32_768])
def test_names_that_are_none(plan: ss.Plan, shard: object) -> None:
    with pytest.raises(ss.ArgumentError, match="must be the name of a shard"):
        plan.open(shard=shard)  # type: ignore[arg-type]


def test_merging_both_ways_at_once_does_not_hang(plan: ss.Plan) -> None:
    """Two threads merge two collectors into one another: one of them wins, and no pair is lost or doubled."""
    for _ in range(20):
        a, b = filled(plan, shard="a"), filled(plan, shard="b")
        outcomes: list[str] = []

        def merge(into: ss.Collector, other: ss.Collector, outcomes: list[str] = outcomes) -> None:
            try:
                into.merge(other)
                outcomes.append("merged")
            except ss.MergeError:
                outcomes.append("refused")

        threads = [threading.Thread(target=merge, args=pair) for pair in ((a, b), (b, a))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert sorted(outcomes) == ["merged", "refused"]
        (left,) = [one for one in (a, b) if one._state is not None]
        assert left.release().pairs == 40


# --- a list of all shards ---


def listed(plan: ss.Plan, shard: str, names: tuple[str, ...] = ("a", "b", "c")) -> ss.Collector:
    collector = plan.open(fresh(), shard=shard, shards=names)
    collector.update([f"key {i}" for i in range(20)])
    return collector


def test_a_release_waits_for_the_shards_that_were_listed(plan: ss.Plan) -> None:
    total = listed(plan, "a")
    assert total.expected == {"a", "b", "c"}
    with pytest.raises(ss.ShardsMissing, match=r"2 of the listed shards are missing: 'b', 'c'\. Merge them") as missing:
        total.release()
    assert missing.value.missing == ["b", "c"]
    total.merge(listed(plan, "c"))
    blob = total.to_bytes()
    with pytest.raises(ss.ShardsMissing, match="'b'"):
        ss.Collector.from_bytes(blob, fresh()).release()  # the list is in the bytes
    total.merge(ss.Collector.from_bytes(listed(plan, "b").to_bytes(), fresh()))
    assert total.release().pairs in (60, None)


def test_lists_have_to_agree(plan: ss.Plan) -> None:
    total = listed(plan, "a")
    for other in (listed(plan, "b", ("a", "b")), filled(plan, shard="b")):
        with pytest.raises(ss.MergeError, match="different lists of shards"):
            total.merge(other)
        with pytest.raises(ss.MergeError):
            other.merge(total)
    again = ss.Collector.from_bytes(total.to_bytes(), fresh())
    assert again.to_bytes() == total.to_bytes()
    assert again.expected == total.expected
    assert filled(plan).expected is None


@pytest.mark.parametrize(
    ("shard", "shards", "says"),
    [
        ("d", ["a", "b"], "must be one of the listed shards"),
        (None, ["a", "b"], "must be one of the listed shards"),
        ("a", [], "must be a list of shard names"),
        ("a", "a", "must be a list of shard names"),
        ("a", ["a", ""], "must be a list of shard names"),
        ("a", ["a", 7], "must be a list of shard names"),
        ("a", ["a", "b", "a"], "must not repeat a name"),
    ],
)
def test_lists_that_are_none(plan: ss.Plan, shard: str | None, shards: object, says: str) -> None:
    with pytest.raises(ss.ArgumentError, match=says):
        plan.open(shard=shard, shards=shards)  # type: ignore[arg-type]
