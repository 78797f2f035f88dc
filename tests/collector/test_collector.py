"""Collectors, as a tutorial: pairs in, shards merged, one release out, and whatever goes wrong loses nothing."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import random
import threading
import time
import traceback
from collections.abc import Callable

import numpy as np
import pytest
from collector_helpers import HALF, MECHANISMS, filled, fresh, plan_for

import stablesketch as ss
from stablesketch.collector.releasing import released
from stablesketch.statistic.published import Terms

# --- the one way through ---


def test_from_pairs_to_a_release(plan: ss.Plan) -> None:
    collector = plan.open()  # under a fresh secret
    collector.update(["home", "search", "home"])  # values of 1
    collector.update(np.arange(30), 2)  # one value for all
    collector.update(["cart", "help"], [9, 3])  # a value each
    release = collector.release()
    assert math.isfinite(release.value)
    assert release.low <= release.high
    assert release.confidence == 0.95
    assert (release.statistic, release.p) == ("F_0.5", 0.5)
    assert (release.epsilon, release.delta) == (plan.epsilon, plan.delta)
    assert (release.relation, release.pairs, release.max_value) == ("replace", 35, 9)
    assert (release.mechanism, release.size, release.floor) == (plan.mechanism, plan.size, plan.floor)


def test_every_collector_has_a_fresh_secret(plan: ss.Plan) -> None:
    assert plan.open().secret != plan.open().secret


def test_deletes_undo_updates(plan: ss.Plan) -> None:
    collector = filled(plan)
    collector.update(["gone", "gone"], [5, 7])
    collector.delete(["gone", "gone"], [7, 5])
    assert collector.release() == filled(plan).release()


def test_deletes_need_a_plan_that_promises_them() -> None:
    collector = ss.plan(HALF, ss.Privacy(1.0, 1e-8), size=10).open()
    with pytest.raises(ss.ArgumentError, match=r"Plan with deletes=True, which promises that every delete undoes"):
        collector.delete(["a"])


def test_the_same_pairs_in_any_batches_order_and_threads(plan: ss.Plan) -> None:
    keys, values = [f"key {i}" for i in range(20)], [1 + i % 9 for i in range(20)]
    order = list(range(20))
    random.Random(5).shuffle(order)
    collector = plan.open(secret=fresh())
    for i in order:
        collector.update([keys[i]], [values[i]], threads=1 + i % 3)
    assert collector.release() == filled(plan).release()


def test_to_bytes_and_back(plan: ss.Plan) -> None:
    collector = filled(plan, shard="eu-1")
    blob = collector.to_bytes()
    again = ss.Collector.from_bytes(blob, fresh())
    assert again.plan == plan
    assert again.shards == {"eu-1"}
    assert again.to_bytes() == blob == filled(plan, shard="eu-1").to_bytes()
    for kind in (bytearray, memoryview):
        assert ss.Collector.from_bytes(kind(blob), fresh()).to_bytes() == blob


def test_a_stored_collector_goes_on(plan: ss.Plan) -> None:
    """Stored half way, read elsewhere with the secret from its file, filled up and released."""
    first = plan.open(secret=fresh(), shard="a")
    first.update([f"key {i}" for i in range(10)], [1 + i % 9 for i in range(10)])
    second = ss.Collector.from_bytes(first.to_bytes(), fresh())
    second.update([f"key {i}" for i in range(10, 20)], [1 + i % 9 for i in range(10, 20)])
    assert second.release() == filled(plan).release()


# --- what goes wrong loses nothing ---

MISTAKES: dict[str, tuple[Callable[[ss.Collector], object], type[Exception], str]] = {
    "a value above max_value": (
        lambda c: c.update(["a", "b"], [1, 10]),
        ss.ArgumentError,
        r"must be at most (max_value=)?9.*row 2",
    ),
    "one value above max_value": (lambda c: c.update(["a"], 10), ss.ArgumentError, "must be at most"),
    "a value of zero": (lambda c: c.update(["a"], [0]), ss.ArgumentError, "0"),
    "a negative value": (lambda c: c.update(["a"], [-1]), ss.ArgumentError, "must be positive|must be between"),
    "a float value": (lambda c: c.update(["a"], [1.0]), ss.ArgumentTypeError, "values"),
    "too few values": (
        lambda c: c.update(["a", "b"], [1]),
        ss.ArgumentError,
        "must have one value for each of the 2 keys",
    ),
    "a null key": (lambda c: c.update(["a", None]), ss.ArgumentError, "keys"),
    "a float key": (lambda c: c.update([0.5]), ss.ArgumentError, "keys"),
    "no column": (lambda c: c.update(7), ss.ArgumentError, "keys"),
    "a delete above max_value": (lambda c: c.delete(["a"], [10]), ss.ArgumentError, "must be at most"),
    "threads as text": (lambda c: c.update(["a"], threads="all"), ss.ArgumentTypeError, "threads must .*got 'all'"),
    "no threads": (lambda c: c.update(["a"], threads=0), ss.ArgumentError, "threads must .*got 0"),
    "confidence of 1": (
        lambda c: c.release(confidence=1.0),
        ss.ArgumentError,
        r"confidence must be between 0 and 1, got 1\.0",
    ),
    "confidence of 0": (lambda c: c.release(confidence=0), ss.ArgumentError, "confidence must .*got 0"),
    "confidence in percent": (lambda c: c.release(confidence=95), ss.ArgumentError, "Pass 0.95"),
    "confidence as text": (lambda c: c.release(confidence="high"), ss.ArgumentError, "'high'"),  # type: ignore[arg-type]
    "confidence NaN": (lambda c: c.release(confidence=math.nan), ss.ArgumentError, "nan"),
    "copied": (copy.copy, ss.ArgumentTypeError, "cannot be pickled"),
    "deep copied": (copy.deepcopy, ss.ArgumentTypeError, "cannot be pickled"),
    "pickled": (pickle.dumps, ss.ArgumentTypeError, r"to_bytes and Collector\.from_bytes"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_leave_the_collector_as_it_was(plan: ss.Plan, name: str) -> None:
    call, error, says = MISTAKES[name]
    collector = filled(plan)
    before = collector.to_bytes()
    with pytest.raises(error, match=says) as caught:
        call(collector)
    assert isinstance(caught.value, ss.StablesketchError)
    assert collector.to_bytes() == before
    assert collector.release().pairs == 20


def test_a_stream_too_short_goes_on(bare_plan: ss.Plan) -> None:
    collector = bare_plan.open(secret=fresh())
    collector.update(range(19))
    with pytest.raises(ss.StreamTooShort, match=r"fewer pairs than the 20 .*Collect more, or plan with pairs=19, "):
        collector.release()
    collector.update(["one more"])
    assert collector.release().pairs == 20


@pytest.mark.parametrize("mechanism", ["sketch", "exact"])
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_no_stream_is_too_short_for_noise(relation: str, mechanism: str) -> None:
    """It is for the largest change of F_p, whatever the stream: no promise of pairs is needed."""
    privacy = ss.Privacy(epsilon=1.0, delta=1e-9, pairs=1_000, relation=relation)  # type: ignore[arg-type]
    plan = ss.plan(ss.Moment(0.5), privacy, mechanism=mechanism)  # type: ignore[arg-type]
    for count in (0, 3):
        collector = plan.open(secret=fresh())
        collector.update(range(count))
        released = collector.release(confidence=0.9999)
        assert released.pairs == (count if relation == "replace" else None)
        assert released.low <= count + 1e-9
        assert count <= released.high


def test_a_stream_too_long_for_its_values_is_refused() -> None:
    """With values up to 2^53, X of light keys is cut off where heavy ones still drown it: from 2^18 pairs on."""
    privacy = ss.Privacy(epsilon=1.0, delta=1e-6, pairs=0, max_value=2**53, relation="replace")
    collector = ss.plan(ss.Moment(1.0), privacy, size=10, mechanism="bare").open()
    collector.update(np.arange(2**18))
    assert collector._check_ready(0.95) is None
    collector.update(["one more"])
    before = collector.to_bytes()
    with pytest.raises(ss.PlanInfeasible, match=r"too long .* values up to 9,007,199,254,740,992.*smaller max_value"):
        collector.release()
    assert collector.to_bytes() == before


@pytest.mark.parametrize("mechanism", ["bare", "exact"])
def test_a_confidence_that_is_not_certified_is_refused_before_anything_is_lost(
    plans: dict[str, ss.Plan], mechanism: str
) -> None:
    collector = filled(plans[mechanism])
    if mechanism == "bare":
        with pytest.raises(
            ss.ArgumentError, match=r"confidence must be smaller.*not known well enough.*Pass at most 0\.99999"
        ) as caught:
            collector.release(confidence=1.0 - 1e-15)
        most = float(str(caught.value).split("at most ")[1].rstrip("."))
    else:
        most = 1.0 - 2.0**-53
    assert collector.release(confidence=most).confidence == most


def test_what_is_too_short_is_the_net_stream(bare_plan: ss.Plan) -> None:
    collector = filled(bare_plan)
    collector.update(["gone"])
    collector.delete(["gone", "key 0"])
    with pytest.raises(ss.StreamTooShort):
        collector.release()
    collector.update(["key 0"])
    assert collector.release().pairs == 20


@pytest.mark.parametrize("name", ["total below pairs", "total above what values allow"])
def test_deletes_that_undo_no_update_are_noticed_where_they_can_be(plan: ss.Plan, name: str) -> None:
    """Pairs and total of any stream with values 1 to 9 fit each other; these do not. Nothing is lost either."""
    collector = filled(plan)
    if name == "total below pairs":
        collector.update([f"new {i}" for i in range(30)], 1)
        collector.delete([f"new {i}" for i in range(15)], 9)
    else:
        collector.update([f"new {i}" for i in range(30)], 9)
        collector.delete([f"new {i}" for i in range(30)], 1)
    with pytest.raises(ss.NegativeTotal, match=r"every delete must undo one|Send the missing updates"):
        collector.release()
    # The updates that were missing, and all is well.
    collector.update([f"new {i}" for i in range(15)], 9) if name == "total below pairs" else collector.update(
        [f"new {i}" for i in range(30)], 1
    )
    assert collector.release().pairs == 50


def test_the_exact_mechanism_notices_a_negative_total(plans: dict[str, ss.Plan]) -> None:
    collector = filled(plans["exact"])
    collector.update(["here"], [5])
    collector.delete(["not here"], [5])
    with pytest.raises(ss.NegativeTotal, match="Send the missing updates"):
        collector.release()
    collector.update(["not here"], [5])
    assert collector.release().pairs == 21


# --- once ---


def test_a_second_release_is_refused(plan: ss.Plan) -> None:
    collector = filled(plan)
    collector.release()
    with pytest.raises(ss.ReleasedAlready, match=r"Open a new one, with a new secret"):
        collector.release()


def test_after_the_release_nothing_is_left(plan: ss.Plan) -> None:
    """State and secret are gone; the plan, which is public, stays."""
    collector = filled(plan)
    collector.release()
    attempts: list[Callable[[], object]] = [
        lambda: collector.secret,
        collector.to_bytes,
        lambda: collector.update(["late"]),
        lambda: collector.delete(["key 0"]),
        lambda: collector.merge(filled(plan, shard="late")),
        lambda: filled(plan, shard="late").merge(collector),
    ]
    for attempt in attempts:
        with pytest.raises(ss.ReleasedAlready):
            attempt()
    assert collector.plan == plan
    held = [value for value in vars(collector).values() if isinstance(value, bytes | ss.Secret | ss.Sketch)]
    assert held == []
    assert vars(collector)["_state"] is None


def test_a_release_may_be_asked_for_once_even_by_many_threads(plan: ss.Plan) -> None:
    collector = filled(plan)
    outcomes: list[object] = []

    def attempt() -> None:
        try:
            outcomes.append(collector.release())
        except ss.ReleasedAlready as error:
            outcomes.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(outcome, ss.Release) for outcome in outcomes) == 1


# --- nothing shows what is inside ---


def entries_of(collector: ss.Collector) -> list[str]:
    """The integers that must never be seen, as somebody might print them."""
    state = collector._held()
    if hasattr(state, "_totals"):
        return [str(key) for key in state._totals]
    from stablesketch.sketch.entry_values import integer_entries, log_magnitudes

    entries = state._sketch._entries
    return [str(abs(value)) for value in integer_entries(entries)] + [repr(log) for log in log_magnitudes(entries)[0]]


def test_no_repr_str_or_error_shows_entries_or_secrets(plan: ss.Plan) -> None:
    collector = filled(plan)
    hidden = [
        *entries_of(collector),
        fresh()._bits._together().hex(),
        repr(fresh()._bits._together()),
        str(collector._held().pairs) + " pairs",
    ]
    shown = [repr(collector), str(collector), f"{collector}", repr(collector._held()), repr(vars(collector))]
    for call, error, _ in MISTAKES.values():
        try:
            call(collector)
        except error as caught:
            shown += [str(caught), repr(caught), "".join(traceback.format_exception(caught)), repr(vars(caught))]
    wrong = ss.Secret.from_bytes(bytes(32))
    for attempt in (lambda: ss.Collector.from_bytes(collector.to_bytes(), wrong), lambda: collector.merge(collector)):
        with pytest.raises(ss.StablesketchError) as raised:
            attempt()
        shown.append("".join(traceback.format_exception(raised.value)))
    text = "\n".join(shown)
    for secret in hidden:
        assert secret not in text


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_number_of_pairs_is_not_shown_where_it_is_private(mechanism: str) -> None:
    collector = plan_for(mechanism, relation="add_remove").open()
    collector.update(range(4321))
    assert "4321" not in repr(collector)
    release = collector.release()
    assert release.pairs is None
    assert json.loads(release.to_json())["pairs"] is None
    for field in dataclasses.asdict(release).values():
        assert field != 4321


def test_too_short_does_not_say_by_how_much() -> None:
    privacy = ss.Privacy(2.0, 1e-8, 2_000, relation="add_remove")
    collector = ss.plan(HALF, privacy, size=12, mechanism="bare").open()
    collector.update(range(1234))
    with pytest.raises(ss.StreamTooShort) as caught:
        collector.release()
    assert "1234" not in str(caught.value).replace(",", "")


@pytest.mark.parametrize("mechanism", ["sketch", "bare"])
def test_limits_use_public_numbers_only(mechanism: str) -> None:
    """Two streams under add_remove that give the same rounded value give the same limits, whatever their lengths.

    Under add_remove the limits may use the promised pairs, never the counted ones.
    """
    plan = plan_for(mechanism, relation="add_remove")
    one, other = plan.open(secret=fresh()), plan.open(secret=fresh())
    one.update(["a"] * 20 + ["b"], None)
    other.update(["a"] * 19 + ["b"] + ["a"], None)  # the same totals, so the same entries
    other._held()._sketch._pairs += 1_000  # as if there had been more pairs
    other._held()._sketch._total += 1_000
    assert one.release() == other.release()


# --- releases ---


def test_a_release_as_json(plan: ss.Plan) -> None:
    release = filled(plan).release(confidence=0.9)
    text = release.to_json()
    assert ss.Release.from_json(text) == release
    assert ss.Release.from_json(text).to_json() == text
    assert json.loads(text)["format"] == "stablesketch-release/1"
    left_out = {"points", "record", "person", "total"} | ({"noise"} if plan.mechanism != "sketch" else set())
    assert set(json.loads(text)) == {"format", *dataclasses.asdict(release)} - left_out
    paid = dataclasses.replace(release, record=3, person=True)
    assert ss.Release.from_json(paid.to_json()) == paid
    assert pickle.loads(pickle.dumps(release)) == release
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.value = 0.0  # type: ignore[misc]


def test_a_release_reads_well(plan: ss.Plan) -> None:
    text = str(filled(plan).release())
    assert text.startswith("F_0.5 = ")
    assert "95% between" in text
    assert "replace" in text


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"format": "stablesketch-release/9"}', '{"value": 1}'])
def test_json_that_is_no_release(text: str) -> None:
    with pytest.raises(ss.BlobError, match="release"):
        ss.Release.from_json(text)


def test_the_confidence_changes_the_limits_and_not_the_value(plan: ss.Plan) -> None:
    narrow, wide = (filled(plan).release(confidence=confidence) for confidence in (0.5, 0.99))
    assert narrow.value == wide.value
    assert wide.low <= narrow.low < narrow.high <= wide.high


def test_limits_stay_within_what_is_known_anyway(plan: ss.Plan) -> None:
    """20 pairs of values 1 to 9: F_p is between 20^p and 20 · 9^p."""
    for number in range(40):
        release = filled(plan, secret=ss.Secret.from_bytes(bytes([number]) * 32)).release()
        assert math.sqrt(20.0) <= release.low <= release.high <= 60.0


def test_an_empty_stream_may_be_released_if_nothing_is_promised() -> None:
    for mechanism in MECHANISMS:
        release = plan_for(mechanism, pairs=0).open().release()
        assert math.isfinite(release.value)
        assert release.pairs == 0
        assert plan_for(mechanism, pairs=0, relation="add_remove").open().release().pairs is None


@pytest.mark.parametrize("wrong", [7, "plan", None, ss.Plan])
def test_a_collector_is_of_a_plan(wrong: object) -> None:
    with pytest.raises(ss.ArgumentTypeError, match="must be a Plan"):
        ss.Collector(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [bytes(32), "secret", 7])
def test_a_secret_is_a_secret(plan: ss.Plan, wrong: object) -> None:
    with pytest.raises(ss.ArgumentTypeError, match="must be a Secret") as caught:
        plan.open(secret=wrong)  # type: ignore[arg-type]
    assert repr(wrong) not in str(caught.value)


def test_a_release_says_what_its_plan_costs_when_it_is_made() -> None:
    """The plan may be replaced between the call and the lock: the terms are those of the plan that is released."""
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=20)
    dearer = plan.again(epsilon=50.0, same_size=True)
    collector = plan.open(shard="a")
    said: list[ss.Release] = []
    thread = threading.Thread(target=lambda: said.append(collector.release()))
    with collector._lock:
        thread.start()
        time.sleep(0.2)
        collector.replan(dearer)
    thread.join()
    assert said[0].epsilon == dearer.epsilon


def test_terms_below_the_price_are_refused() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=20)
    with pytest.raises(ss.ArgumentError, match="must not be below"):
        released([plan.open(shard="a")], lambda: [Terms(0.5, 1e-6, "add_remove", 1, False, 0.95)])
