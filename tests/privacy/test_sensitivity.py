"""The sensitivity, against every small stream there is, and against exact arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.privacy import Privacy, log_sensitivity, sensitivity, worst_neighbours

Stream = tuple[tuple[int, int], ...]

FLOORS = (0.0, 0.5, 3.0, 20.0)
# (pairs, max_value, pairs_per_person): everything small enough to enumerate.
SHAPES = ((1, 1, 1), (2, 1, 1), (3, 2, 1), (4, 1, 1), (3, 3, 1), (4, 2, 1), (3, 2, 2), (4, 1, 2), (2, 2, 3))


def privacy(pairs: int, max_value: int = 1, pairs_per_person: int = 1, relation: str = "replace") -> Privacy:
    return Privacy(1.0, 1e-9, pairs, max_value, relation, pairs_per_person)  # type: ignore[arg-type]


def streams(pairs: int, keys: int, max_value: int) -> Iterator[Stream]:
    """Every multiset of pairs: the order of a stream does not matter to F_p."""
    kinds = [(key, value) for key in range(keys) for value in range(1, max_value + 1)]
    return itertools.combinations_with_replacement(kinds, pairs)


def moment(stream: Stream, p: float, floor: float) -> float:
    totals: dict[int, int] = {}
    for key, value in stream:
        totals[key] = totals.get(key, 0) + value
    return floor + math.fsum(total**p for total in totals.values())


def greatest_ratio(p: float, shape: tuple[int, int, int], floor: float, keys: int, relation: str) -> float:
    """Over all neighbours with exactly that many pairs (replace), or whose smaller one has (add_remove).

    Replace: all pairs of streams with a common part; those that share more than that are among them. Add or remove: up
    to pairs_per_person pairs are added.
    """
    pairs, max_value, person = shape
    greatest = 1.0
    if relation == "add_remove":
        for smaller in streams(pairs, keys, max_value):
            for count in range(1, person + 1):
                most = max(moment(smaller + more, p, floor) for more in streams(count, keys, max_value))
                least = moment(smaller, p, floor)
                greatest = max(greatest, most / least if least else math.inf)
        return greatest
    replaced = min(person, pairs)
    for common in streams(pairs - replaced, keys, max_value):
        moments = [moment(common + own, p, floor) for own in streams(replaced, keys, max_value)]
        greatest = max(greatest, max(moments) / min(moments))
    return greatest


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_replace_over_every_small_stream(p: float, shape: tuple[int, int, int]) -> None:
    """With enough keys the value is attained; with two it still holds. Streams of exactly this length."""
    for floor in FLOORS:
        exact = worst_neighbours(p, privacy(*shape), floor, exactly=True).rho
        keys = 1 + shape[2] + (1 if shape[0] < 4 else 0)
        assert greatest_ratio(p, shape, floor, keys, "replace") == pytest.approx(exact, rel=1e-14)
        assert greatest_ratio(p, shape, floor, 2, "replace") <= exact * (1 + 1e-14)
        assert exact <= sensitivity(p, privacy(*shape), floor)


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(0, 2, 2), *SHAPES], ids=str)
def test_add_remove_over_every_small_stream(p: float, shape: tuple[int, int, int]) -> None:
    for floor in FLOORS:
        rho = sensitivity(p, privacy(*shape, "add_remove"), floor)
        found = greatest_ratio(p, shape, floor, 1 + shape[2], "add_remove")
        assert found == pytest.approx(rho, rel=1e-14)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("max_value", "person"), [(1, 1), (2, 1), (1, 2)])
def test_streams_of_any_length_from_the_promised_one(p: float, max_value: int, person: int) -> None:
    """All streams of 0 to 6 pairs: none exceeds the value for pairs = n, and longer ones may be the worse ones."""
    for floor in (0.0, 2.0):
        by_length = {
            n: greatest_ratio(p, (n, max_value, person), floor, 1 + person, "replace") for n in range(1, 7 - person)
        }
        for promised in range(7 - person):
            worst = worst_neighbours(p, privacy(promised, max_value, person), floor)
            longer = [ratio for n, ratio in by_length.items() if n >= promised]
            assert max(longer, default=1.0) <= worst.rho * (1 + 1e-14)
            if worst.shared + person in by_length:
                assert max(longer) == pytest.approx(worst.rho, rel=1e-14)


def test_a_longer_stream_can_be_more_sensitive() -> None:
    """With a floor. A plan for exactly 3 pairs, used on 9, would promise too much."""
    three, nine = (worst_neighbours(0.5, privacy(n), 10.0, exactly=True).rho for n in (3, 9))
    assert three < 1.0582
    assert nine > 1.0637
    assert sensitivity(0.5, privacy(3), 10.0) == nine


@pytest.mark.parametrize(
    ("pairs", "max_value", "p", "rho"),
    [
        (10**6, 1, 0.5, 1.000999499999875),
        (10**6, 1, 0.25, 1.0316225266015902),
        (10**6, 1000, 0.75, 1.0056226632518097),
        (10**6, 1, 0.1, 1.2511885431509129),
        (32768, 16, 0.5, 1.0220818280066),
        (10**6, 1000, 1.0, 1.000999),
        (10**5, 10, 0.9, 1.0002421886386508),
    ],
)
def test_reference_values(pairs: int, max_value: int, p: float, rho: float) -> None:
    """((n-1)^p + M^p)/n^p, computed elsewhere."""
    assert sensitivity(p, privacy(pairs, max_value)) == pytest.approx(rho, rel=4e-16)


@settings(deadline=None, max_examples=60)
@given(
    p=st.floats(0.05, 1.0),
    pairs=st.integers(0, 10**12),
    max_value=st.integers(1, 2**53),
    person=st.integers(1, 1000),
    floor=st.one_of(st.just(0.0), st.floats(1e-3, 1e15)),
)
def test_rounded_up_and_never_exceeded(p: float, pairs: int, max_value: int, person: int, floor: float) -> None:
    """Against 80-digit arithmetic: at the shared total found, at its neighbours, and along the whole range."""
    worst = worst_neighbours(p, privacy(pairs, max_value, person), floor)
    least = max(pairs - person, 0)
    totals = {worst.shared, max(worst.shared - 1, least), worst.shared + 1}
    totals |= {least + 2**k for k in range(0, 90, 3)} | {least}
    with mpmath.workdps(80):

        def log_ratio(shared: int) -> mpmath.mpf:
            gain = person * mpmath.mpf(max_value) ** mpmath.mpf(p)
            before = mpmath.mpf(shared) ** mpmath.mpf(p) if shared else mpmath.mpf(0)
            after = mpmath.mpf(shared + person) ** mpmath.mpf(p)
            return mpmath.log1p((before + gain - after) / (floor + after))

        assert all(log_ratio(shared) <= worst.log_rho for shared in totals)
        assert log_ratio(worst.shared) == pytest.approx(worst.log_rho, rel=3e-16)
        assert mpmath.exp(log_ratio(worst.shared)) <= worst.rho


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("person", [1, 7])
def test_the_simple_bound_is_a_bound(p: float, person: int) -> None:
    for pairs in (0, 10, 1000):
        for floor in (1.0, 100.0, 1e6):
            least = max(pairs - person, 0)
            simple = 1 + person * 100**p / (floor + least**p * (least > 0))
            assert sensitivity(p, privacy(pairs, 100, person), floor) <= simple
            added = sensitivity(p, privacy(pairs, 100, person, "add_remove"), floor)
            assert added == pytest.approx(1 + person * 100**p / (floor + pairs**p * (pairs > 0)), rel=1e-15)


def test_single_values_and_plain_counts_are_the_formula_of_old() -> None:
    """M = 1 and a floor well below the number of pairs: (Λ + (n-c)^p + c)/(Λ + n^p)."""
    for floor in (0.0, 10.0, 1000.0):
        expected = (floor + 999_997**0.5 + 3) / (floor + 1e6**0.5)
        assert sensitivity(0.5, privacy(10**6, 1, 3), floor) == pytest.approx(expected, rel=1e-15)


def test_no_promise_and_no_floor() -> None:
    """Adding a pair to nothing changes F_p by an infinite factor; replacing one never does."""
    assert sensitivity(0.5, privacy(0, relation="add_remove")) == math.inf
    assert log_sensitivity(0.5, privacy(0, relation="add_remove")) == math.inf
    assert sensitivity(0.5, privacy(0)) == pytest.approx(math.sqrt(2.0), rel=1e-15)
    assert sensitivity(0.5, privacy(0, max_value=100)) == pytest.approx(10.0, rel=1e-15)


def test_the_logarithm_keeps_its_digits() -> None:
    assert log_sensitivity(0.05, privacy(0), 1e20) == pytest.approx(1e-20, rel=1e-9)
    assert sensitivity(0.05, privacy(0), 1e20) == math.nextafter(1.0, 2.0)
    # One unit, one key, p = 1: every stream of n units has the same F_1.
    assert sensitivity(1.0, privacy(10)) == 1.0
    assert log_sensitivity(1.0, privacy(10)) == 0.0


def test_bad_arguments_are_refused() -> None:
    for floor in (-1.0, math.inf, math.nan, 1e40):
        with pytest.raises(ArgumentError) as caught:
            sensitivity(0.5, privacy(10), floor)
        assert caught.value.argument == "floor"
    with pytest.raises(ArgumentTypeError):
        sensitivity(0.5, privacy(10), "1")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        sensitivity(0.5, 10)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"must be between 0.05 and 1"):
        sensitivity(1.5, privacy(10))
    with pytest.raises(ArgumentError, match="add_remove"):
        worst_neighbours(0.5, privacy(10, relation="add_remove"), exactly=True)


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("shape", [(1, 3, 1), (2, 2, 1), (3, 3, 1), (3, 2, 2), (4, 3, 1), (2, 3, 2)])
@pytest.mark.parametrize("floor", FLOORS)
def test_whole_keys_are_as_sensitive_as_the_worst_of_all_streams(
    relation: str, shape: tuple[int, int, int], floor: float
) -> None:
    """Every key comes once, so a stream is a multiset of values; with c keys more, or c of them replaced."""
    pairs, most, changed = shape
    for p in (0.3, 0.5, 1.0):

        def powers(count: int, p: float = p) -> list[float]:
            kinds = itertools.combinations_with_replacement(range(1, most + 1), count)
            return [floor + math.fsum(value**p for value in values) for values in kinds]

        unchanged = pairs if relation == "add_remove" else pairs - changed
        own = [0.0] if relation == "add_remove" else [x - floor for x in powers(changed)]
        ratios = [
            (shared + more - floor) / (shared + less)
            for shared in powers(unchanged)
            for more in powers(changed)
            for less in own
            if shared + less > 0.0
        ]
        asked = Privacy(1.0, 1e-9, pairs, most, relation, changed, "key")  # type: ignore[arg-type]
        assert sensitivity(p, asked, floor) == pytest.approx(max(ratios), rel=1e-12)
        # Longer streams are less sensitive, so the promise may be taken as "at least".
        longer = Privacy(1.0, 1e-9, pairs + 1, most, relation, changed, "key")  # type: ignore[arg-type]
        assert sensitivity(p, longer, floor) <= sensitivity(p, asked, floor)


def test_whole_keys_of_any_number_need_a_floor_only_where_one_may_be_alone() -> None:
    alone = Privacy(1.0, 1e-9, 0, 5, "add_remove", 1, "key")
    assert math.isinf(sensitivity(0.5, alone))
    assert sensitivity(0.5, alone, 10.0) == pytest.approx(1.0 + 5**0.5 / 10.0)


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
@pytest.mark.parametrize("total", [4, 6, 8])
@pytest.mark.parametrize("floor", [0.0, 3.0])
def test_a_promised_total_leaves_out_no_stream_that_keeps_it(relation: str, total: int, floor: float) -> None:
    """All streams of 2 to 4 pairs with values up to 3 of which both neighbours have this total or more."""
    for p in (0.3, 0.5, 1.0):
        worst = 1.0
        for pairs in (2, 3, 4):
            for common in streams(pairs - 1 if relation == "replace" else pairs, 3, 3):
                others = list(streams(1, 3, 3)) + ([()] if relation == "add_remove" else [])
                kept = [common + own for own in others if sum(value for _, value in common + own) >= total]
                moments = [moment(stream, p, floor) for stream in kept]
                worst = max(worst, max(moments) / min(moments)) if moments else worst
        asked = Privacy(1.0, 1e-9, 2, 3, relation, total=total)  # type: ignore[arg-type]
        assert worst <= sensitivity(p, asked, floor) * (1.0 + 1e-12)
        assert sensitivity(p, asked, floor) <= sensitivity(p, Privacy(1.0, 1e-9, 2, 3, relation), floor)  # type: ignore[arg-type]


@pytest.mark.parametrize("changed", [1, 2])
@pytest.mark.parametrize("total", [4, 6])
@pytest.mark.parametrize("floor", [0.0, 3.0])
def test_what_a_promised_total_allows_under_replace_is_attained(changed: int, total: int, floor: float) -> None:
    """One key holds total - c pairs of value 1; c pairs are on that key too, or each on a new key with value M.

    Both streams keep the promise, so no smaller sensitivity would be true; streams of more values do not exceed it
    (the test before).
    """
    for p in (0.3, 0.5, 1.0):
        smaller = tuple((0, 1) for _ in range(total))
        larger = smaller[changed:] + tuple((1 + i, 3) for i in range(changed))
        attained = moment(larger, p, floor) / moment(smaller, p, floor)
        asked = Privacy(1.0, 1e-9, 2, 3, "replace", changed, total=total)
        if floor == 0.0:
            assert sensitivity(p, asked, floor) == pytest.approx(attained, rel=1e-12)
        else:  # a longer stream may be more sensitive
            assert attained * (1.0 - 1e-12) <= sensitivity(p, asked, floor) <= attained * 1.05
