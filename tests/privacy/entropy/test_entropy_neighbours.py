"""The sensitivity of the entropy against every pair of small streams, and against a search along longer ones.

Both are written from the definitions: totals of keys, -Σ p ln p, pairs added one at a time.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.privacy import Privacy
from stablesketch.privacy.entropy.neighbours import entropy_sensitivity, worst_entropy

LONGEST = 6


def privacy(pairs: int, max_value: int = 1, person: int = 1, relation: str = "replace") -> Privacy:
    return Privacy(1.0, 1e-9, pairs, max_value, relation, person)  # type: ignore[arg-type]


def entropy(totals: tuple[int, ...]) -> float:
    n = sum(totals)
    return -math.fsum(f / n * math.log(f / n) for f in totals)


def with_one_more(totals: tuple[int, ...], max_value: int) -> set[tuple[int, ...]]:
    """All ways to add a pair, to a key that is there or to a new one; keys have no names."""
    return {
        tuple(sorted((*totals[:i], f + value, *totals[i + 1 :])))
        for value in range(1, max_value + 1)
        for i, f in enumerate((*totals, 0))
    }


@lru_cache
def streams(pairs: int, max_value: int) -> frozenset[tuple[int, ...]]:
    """The totals of all streams of so many pairs."""
    if pairs == 0:
        return frozenset({()})
    shorter = streams(pairs - 1, max_value)
    return frozenset(longer for totals in shorter for longer in with_one_more(totals, max_value))


def extended(totals: tuple[int, ...], pairs: int, max_value: int) -> set[tuple[int, ...]]:
    found = {totals}
    for _ in range(pairs):
        found = {longer for one in found for longer in with_one_more(one, max_value)}
    return found


@lru_cache
def greatest(pairs: int, max_value: int, person: int, relation: str, total: int = 0) -> float:
    """The greatest |H - H'| of neighbours of which the shorter has exactly so many pairs, and both `total` or more."""
    most = 0.0
    if relation == "replace":
        for shared in streams(max(pairs - person, 0), max_value):
            there = [t for t in extended(shared, min(person, pairs), max_value) if sum(t) >= total]
            found = [entropy(t) for t in there]
            most = max(most, max(found) - min(found)) if found else most
        return most
    for shorter in streams(pairs, max_value):
        if sum(shorter) < total:
            continue
        for more in range(1, person + 1):
            most = max(most, *(abs(entropy(t) - entropy(shorter)) for t in extended(shorter, more, max_value)))
    return most


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("person", [1, 2])
@pytest.mark.parametrize("max_value", [1, 2, 3])
def test_no_pair_of_small_streams_exceeds_it_and_one_attains_it(max_value: int, person: int, relation: str) -> None:
    exact = 0
    for pairs in range(1, LONGEST + 1):
        found = max(greatest(longer, max_value, person, relation) for longer in range(pairs, LONGEST + 1))
        worst = worst_entropy(privacy(pairs, max_value, person, relation))
        assert found <= worst.shift * (1.0 + 1e-14)
        if worst.exact:
            exact += 1
            if pairs + person <= LONGEST:
                assert found == pytest.approx(worst.shift, rel=1e-13)
    assert exact == LONGEST or max_value > 1


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_public_total_helps_and_is_not_exceeded(relation: str) -> None:
    for total in range(1, 14):
        bound = entropy_sensitivity(privacy(2, 3, 1, relation), total)
        found = max(greatest(pairs, 3, 1, relation, total) for pairs in range(2, LONGEST))
        assert found <= bound * (1.0 + 1e-14)
    few, many = (entropy_sensitivity(privacy(1_000, 5, 1, relation), total) for total in (None, 5_000))
    assert many < 0.3 * few


def test_the_closed_form_for_counts() -> None:
    """[n ln n - (n - c) ln(n - c)]/n, at n or at the first n that has a shared pair."""
    for n, c in ((2, 1), (7, 1), (10, 3), (1_000, 1), (10**6, 20)):
        expected = (n * math.log(n) - (n - c) * math.log(n - c)) / n
        assert worst_entropy(privacy(n, person=c)).exact
        assert entropy_sensitivity(privacy(n, person=c)) == pytest.approx(expected, rel=1e-9)
    assert entropy_sensitivity(privacy(1)) == pytest.approx(math.log(2.0), rel=1e-14)
    assert entropy_sensitivity(privacy(2, person=3)) == pytest.approx(math.log(4.0), rel=1e-14)
    # (ln n + 1)/n, where the difference above would have lost all digits
    assert entropy_sensitivity(privacy(10**15)) == pytest.approx((15.0 * math.log(10.0) + 1.0) * 1e-15, rel=1e-12)


def searched(n: int, max_value: int, person: int, relation: str) -> float:
    """The greatest difference found among streams of one large key, others of one pair, and the person's pairs."""
    best = 0.0
    u = person * max_value
    shortest = n - person if relation == "replace" else n
    for s in shortest * np.geomspace(1.0, 30.0, 40):
        f = np.concatenate([np.geomspace(1.0, s, 400), s - np.geomspace(1e-6 * s, 0.5 * s, 100)])[:, None]
        inside = f * np.log(f)
        low = np.log(s + u) - (f + u) * np.log(f + u) / (s + u)
        if relation == "replace":
            v = person * np.geomspace(1.0, max_value, 50)
            high = np.log(s + v) - (inside + v * np.log(v / person)) / (s + v)
            best = max(best, float(np.max(high - low)))
        else:
            v = person * np.geomspace(1e-3, max_value, 50)
            before = np.log(s) - inside / s
            high = np.log(s + v) - (inside + v * np.log(v / person)) / (s + v)
            best = max(best, float(np.max(before - low)), float(np.max(high - before)))
    return best


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("person", [1, 4])
def test_a_search_over_long_streams_comes_close_and_never_exceeds_it(person: int, relation: str) -> None:
    for n, max_value in ((200, 3), (1_000, 40), (1_000, 100), (10**5, 50), (10**5, 2_000), (10**6, 10)):
        found = searched(n, max_value, person, relation)
        bound = entropy_sensitivity(privacy(n, max_value, person, relation))
        assert found <= bound * (1.0 + 1e-8)
        assert bound <= 1.01 * found


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_values_as_large_as_the_stream_is_long(relation: str) -> None:
    """Longer streams are the worse ones: the search goes to 30 times as many pairs."""
    for n, max_value in ((2, 10), (10, 100), (50, 60), (100, 10_000), (1_000, 400)):
        found = searched(n, max_value, 1, relation)
        assert found <= entropy_sensitivity(privacy(n, max_value, 1, relation)) <= 2.5 * found + 0.1


def test_it_falls_with_more_pairs_and_rises_with_larger_values() -> None:
    for relation in ("replace", "add_remove"):
        by_pairs = [entropy_sensitivity(privacy(n, 20, 2, relation)) for n in (1, 3, 10, 50, 200, 10**4, 10**7, 10**12)]
        assert all(one >= other for one, other in pairwise(by_pairs))
        by_value = [entropy_sensitivity(privacy(10**4, v, 2, relation)) for v in (1, 2, 3, 10, 50, 400, 10**4, 10**6)]
        assert all(one <= other for one, other in pairwise(by_value))
    assert entropy_sensitivity(privacy(10**15, 10**6)) < 4e-8


def test_where_nothing_is_promised() -> None:
    assert entropy_sensitivity(privacy(0)) == math.inf
    assert entropy_sensitivity(privacy(0, relation="add_remove")) == math.inf
    assert not worst_entropy(privacy(0)).exact


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="must be a Privacy"):
        entropy_sensitivity(1.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="total"):
        entropy_sensitivity(privacy(5), 3.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="total"):
        entropy_sensitivity(privacy(5), -1)
