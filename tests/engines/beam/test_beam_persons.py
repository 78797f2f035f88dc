"""People on Beam: bounded as on one machine, whatever the bundles, and over all windows together."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from beam_pipelines import Parts, Timed, beam, cloudpickle, result, window, written
from engine_streams import rows, secret

import stablesketch as ss
from stablesketch.beam import Release, SecretFrom
from stablesketch.bounding.in_one_pass import Bounding
from stablesketch.bounding.persons import pairs_to_keep
from stablesketch.engines.beam.elements import Pair
from stablesketch.engines.beam.persons import BoundFn, by_likeness
from stablesketch.engines.beam.source import BeamSource, total_of_alike
from stablesketch.engines.secret_from import TheSecret
from stablesketch.reading.columns import Columns
from stablesketch.reading.duckdb import DuckDB

Row = tuple[str, str, int, int]  # group, key, value, person
ROWS: list[Row] = [(row[3], row[0], row[1], row[4]) for row in rows()]
PEOPLE = [(who, (group, (key, value))) for group, key, value, who in ROWS]


def privacy(pairs_per_person: int, epsilon: float = 2.0, max_value: int = 5) -> ss.Privacy:
    return ss.Privacy(epsilon, 1e-6, 0, max_value=max_value, relation="add_remove", pairs_per_person=pairs_per_person)


def kept_by_sql(stream: list[Row], pairs: int, groups: int, key: ss.Secret) -> Counter[Row]:
    """The door of one machine, which shares no line with the rule under test."""
    groups_of, *others = map(list, zip(*stream, strict=True))
    parts = list(
        zip(*(name.split("\x1f") for name in groups_of), strict=True)
    )  # the group, and the window if there is one
    marks = [f"g{i}" for i in range(len(parts))]
    frame = pa.table([*others[:2], *map(list, parts), others[2]], names=["k0", "v", *marks, "u"])
    with DuckDB() as engine:
        engine.register("frame", frame)
        columns = Columns(("key",), "value", tuple(marks), "person")
        query = pairs_to_keep(engine, "select * from frame", columns, pairs=pairs, groups=groups, secret=key)
        return Counter(engine.rows(f"select concat_ws(chr(31), {', '.join(marks)}), k0, v, u from ({query})", "test"))


def bound_fn(path: Path, pairs: int, groups: int) -> BoundFn:
    return BoundFn(Bounding(pairs, groups), TheSecret(SecretFrom.file(path)).find, weighted=True)


def kept_by(fn: BoundFn, stream: list[Row], dice: random.Random) -> Counter[Row]:
    """As a runner would: people apart, each in some bundles whose accumulators travel and are merged in some order."""
    coder = fn.get_accumulator_coder()
    kept: Counter[Row] = Counter()
    for who in {row[3] for row in stream}:
        own = list(Counter(row for row in stream if row[3] == who).items())
        dice.shuffle(own)
        held = [fn.create_accumulator() for _ in range(dice.choice([1, 2, 5]))]
        for (group, key, value, _), copies in own:
            which = dice.randrange(len(held))
            held[which] = fn.add_input(held[which], (Pair(who, (group,), key, value), copies))
        while len(held) > 1:
            dice.shuffle(held)
            some = dice.randrange(2, len(held) + 1)
            held = [fn.merge_accumulators(coder.decode(coder.encode(one)) for one in held[:some]), *held[some:]]
        kept.update((name[0], key, value, who) for name, key, value in fn.extract_output(fn.compact(held[0])))
    return kept


@pytest.mark.parametrize(("pairs", "groups"), [(1, 1), (4, 1), (4, 2), (1000, 1)])
def test_the_same_pairs_as_on_one_machine_whatever_the_bundles(pairs: int, groups: int, secret_file: Path) -> None:
    wanted = kept_by_sql(ROWS, pairs, groups, secret())
    for seed in range(3):
        assert kept_by(bound_fn(secret_file, pairs, groups), ROWS, random.Random(seed)) == wanted


def test_one_persons_change_is_a_neighbour(secret_file: Path) -> None:
    """A person leaves, comes, or changes all rows: what is kept of others stays, and of this one never too much."""
    dice = random.Random(1)
    pairs, groups = 3, 2
    for _ in range(40):
        stream: list[Row] = [
            (f"g{dice.randrange(6)}", f"k{dice.randrange(4)}", dice.randrange(1, 4), dice.randrange(5))
            for _ in range(dice.randrange(2, 60))
        ]
        who = dice.choice(stream)[3]
        fn = bound_fn(secret_file, pairs, groups)
        before = kept_by(fn, stream, dice)
        after = kept_by(fn, [row for row in stream if row[3] != who], dice)
        gone = before - after
        assert after - before == Counter()
        assert gone.total() <= pairs
        assert len({row[0] for row in gone}) <= groups
        assert {row[3] for row in gone} == {who}


def test_of_a_person_with_very_many_pairs_only_candidates_are_held(secret_file: Path) -> None:
    fn = bound_fn(secret_file, 2, 3)
    held = fn.create_accumulator()
    for i in range(20_000):
        held = fn.add_input(held, (Pair("one", (f"g{i % 1000}",), f"k{i}", 1), 1 + i % 3))
        assert len(list(held[1].rows())) <= 3 * 4 * 2
    assert len(fn.get_accumulator_coder().encode(held)) < 10_000


def test_no_key_is_pickled(secret_file: Path) -> None:
    fn = bound_fn(secret_file, 2, 1)
    held = fn.add_input(fn.create_accumulator(), (Pair(1, ("g",), "k", 1), 1))
    with pytest.raises(ss.SecretNotPicklable):  # the ranks that it holds now could not be
        cloudpickle.dumps(fn._ranks)
    assert cloudpickle.loads(cloudpickle.dumps(fn))._made is None
    assert fn.get_accumulator_coder().decode(fn.get_accumulator_coder().encode(held))[0] == "whole number"


def test_ids_of_two_types_are_refused(secret_file: Path, tmp_path: Path) -> None:
    fn = bound_fn(secret_file, 2, 1)
    one = fn.add_input(fn.create_accumulator(), (Pair(7, (), "k", 1), 1))
    other = fn.add_input(fn.create_accumulator(), (Pair("7", (), "k", 1), 1))
    with pytest.raises(ss.DataError, match=r"column person: ids have different types, text and whole number"):
        fn.merge_accumulators([one, fn.create_accumulator(), other])


def test_pairs_that_are_alike_are_counted_whatever_the_bundles() -> None:
    """Those of another person, value or sort of key are not alike."""
    one = Pair(7, ("g",), "1", 1)
    others = [Pair("7", ("g",), "1", 1), Pair(7, ("h",), "1", 1), Pair(7, ("g",), 1, 1), Pair(7, ("g",), "1", 2),
              Pair(7, ("g",), ("1", "1"), 1)]  # fmt: skip
    assert len({by_likeness(pair)[0] for pair in [one, *others]}) == 6
    _, alike = by_likeness(one)
    assert total_of_alike([total_of_alike([alike] * 3), total_of_alike([alike]), alike]) == (one, 5)


def released_here(task_of: Release, elements: list[Any], monkeypatch: pytest.MonkeyPatch, by: bool) -> list[Any]:
    """What one machine releases under the secret that a transform of Beam has drawn."""
    own = task_of._secret.find()
    monkeypatch.setattr(ss.Secret, "generate", classmethod(lambda cls: own))
    frame = pa.table(
        {
            "who": [who for who, _ in elements],
            "country": [group for _, (group, _) in elements],
            "app": [pair[0] for _, (_, pair) in elements],
            "n": [pair[1] for _, (_, pair) in elements],
        }
    )
    grouped: dict[str, Any] = {"by": "country", "groups": ["FR", "XX"], "groups_per_person": 2} if by else {}
    found = ss.release(frame, ss.Moment(0.5), privacy(3), key="app", value="n", person="who", size=50, **grouped)
    return [json.loads(one.to_json()) for one in found]


@pytest.mark.parametrize("by", [False, True])
def test_the_release_is_that_of_one_machine(
    by: bool, tmp_path: Path, secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the same secret all of it, value and price, is the same to the last bit."""
    more: dict[str, Any] = {"groups": ["FR", "XX"], "groups_per_person": 2} if by else {}
    made = Release(ss.Moment(0.5), privacy(3), person=True, size=50, secret=SecretFrom.file(secret_file), **more)
    elements = PEOPLE if by else [(who, pair) for who, (_, pair) in PEOPLE]
    found = result(Parts(elements, 5), made, tmp_path)
    wanted = released_here(made, PEOPLE, monkeypatch, by)
    assert found == sorted(wanted, key=lambda one: str(one.get("group")))
    assert len(found) == (2 if by else 1)


def test_groups_are_chosen_by_their_people(tmp_path: Path) -> None:
    """600 pairs of two people are no reason to show a group, 90 people are. Odds of another outcome: below 1e-6."""
    few = [(f"few {i % 2}", ("few", f"k{i % 5}")) for i in range(600)]
    many = [(f"many {i}", ("many", f"k{i % 5}")) for i in range(90)]
    made = Release(ss.Moment(0.5), privacy(200, max_value=1), by=True, person=True, size=50, selection_share=0.5)
    found = result(Parts([*few, *many], 3), made, tmp_path)
    assert [one["group"] for one in found] == ["many"]
    assert found[0]["relation"] == "add_remove"
    assert found[0]["pairs"] is None


def kept_in_windows(fn: Any, made: Release, stream: list[Row], folder: Path) -> Counter[Any]:
    """What the collectors of windows are given; the n-th element at second n."""
    elements = [(who, (group, (key, value))) for group, key, value, who in stream]
    lines = written(
        lambda pipeline: (
            BeamSource(made._question, pipeline | Timed(fn, elements), made._secret, windowed=True).kept()
            | beam.Map(json.dumps)
        ),
        folder,
    )  # fmt: skip
    return Counter(tuple(map(json.dumps, json.loads(line))) for line in lines)


@pytest.mark.parametrize(("size", "period"), [(200, 200), (200, 100)])
def test_a_person_is_bounded_over_all_windows_together(
    size: int, period: int, tmp_path: Path, secret_file: Path
) -> None:
    """Against SQL, where every pair was put into its windows by hand."""
    stream = ROWS[:600]
    made = Release(ss.Moment(0.5), privacy(4), by=True, person=True, groups_per_person=2, size=50,
                   secret=SecretFrom.file(secret_file))  # fmt: skip
    found = kept_in_windows(window.SlidingWindows(size, period), made, stream, tmp_path)

    def name(group: str, start: int) -> str:
        times = [f"{'1969-12-31T23' if at < 0 else '1970-01-01T00'}:{at // 60 % 60:02d}:{at % 60:02d}Z"
                 for at in (start, start + size)]  # fmt: skip
        return f"{group}\x1f{times[0]}/{times[1]}"

    dealt = [
        (name(group, start), key, value, who)
        for second, (group, key, value, who) in enumerate(stream)
        for start in range(second // period * period, second - size, -period)
    ]
    kept = kept_by_sql(dealt, 4, 2, made._secret.find())
    wanted: Counter[Any] = Counter()
    for (whole, key, value, _), times in kept.items():
        parts = whole.split("\x1f")
        wanted[json.dumps(parts), json.dumps([parts, key, value])] += times
    people = Counter({(whole, who) for whole, _, _, who in kept})
    for whole, _ in people:
        parts = whole.split("\x1f")
        wanted[json.dumps(parts), json.dumps([parts, 1])] += 1
    assert found == wanted
    assert max(Counter(who for _, who in people).values()) <= 2


@pytest.mark.slow
def test_windows_are_released_with_people_bounded(tmp_path: Path) -> None:
    """Everybody is in every window; each is kept in one of three. Odds of another outcome: below 1e-6."""
    stream = [(f"p{i % 300}", f"k{i % 7}") for i in range(900)]
    made = Release(ss.Moment(0.5), privacy(1, 3.0, max_value=1), person=True, size=50, selection_share=0.5)
    found = result(Timed(window.FixedWindows(300), stream), made, tmp_path)
    assert [one["group"][14:19] for one in found] == ["00:00", "05:00", "10:00"]
    assert {one["epsilon"] <= 3.0 for one in found} == {True}


def test_what_cannot_be_bounded_is_refused() -> None:
    pipeline = beam.Pipeline()
    people = pipeline | beam.Create(PEOPLE[:5])
    windows = people | beam.WindowInto(window.FixedWindows(10))
    endless = people | "Endless" >> beam.Map(lambda one: one)
    endless.is_bounded = False
    replace = ss.Privacy(1.0, 1e-6, 100, max_value=5, relation="replace")
    keys = ss.Privacy(1.0, 1e-6, 0, relation="add_remove", unit="key")
    for i, (where, asked, options, wanted) in enumerate([
        (windows, privacy(1), {"person": True, "public_windows": True},
        "public_windows cannot be used with people, got True.* list them"),
        (endless, privacy(1), {"person": True}, "person needs input that ends"),
        (people, replace, {"person": True}, "relation must be 'add_remove'.*limiting people"),
        (people, keys, {"person": True}, "every key is a person"),
        (people, privacy(1), {"person": True, "groups_per_person": 0, "by": True},
        "groups_per_person must be at least 1, got 0"),
        (people, privacy(1), {"groups_per_person": 2, "by": True}, "needs a column of people"),
        (people, privacy(2), {"by": True}, "pairs_per_person must be 1 .*got 2.* in that many groups"),
        (windows, privacy(2), {}, "pairs_per_person must be 1 .*got 2.* in that many groups"),
    ]):  # fmt: skip
        with pytest.raises(ss.ArgumentError, match=wanted):
            where | f"Refused {i}" >> Release(ss.Moment(0.5), asked, size=50, **options)  # type: ignore[arg-type]
