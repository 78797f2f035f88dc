"""Private distinct counts: the claim against everything that can be enumerated, and what would be wrong without it."""

from __future__ import annotations

import itertools
import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator

import mpmath
import numpy as np
import pytest

from stablesketch import ArgumentError, ArgumentTypeError, PlanInfeasible, Privacy, Secret
from stablesketch.privacy.distinct import PhantomNumber, distinct_deviation, distinct_limits, phantoms_for
from stablesketch.sketch.distinct import DistinctRegisters

Law = dict[object, float]
FAR = 80  # scales: e^-80 is as good as nothing


def secret(number: int) -> Secret:
    return Secret.from_bytes(b"distinct" * 3 + number.to_bytes(8, "little"))


def asked(epsilon: float, delta: float, c: int = 1) -> Privacy:
    return Privacy(epsilon=epsilon, delta=delta, pairs=0, pairs_per_person=c, relation="replace")


def number_of_phantoms(phantoms: PhantomNumber) -> dict[int, float]:
    """The law of Z, summed up from its definition."""
    q = math.exp(-phantoms.epsilon / phantoms.pairs_per_person)
    reach = math.ceil(FAR * phantoms.pairs_per_person / phantoms.epsilon)
    law: Counter[int] = Counter()
    for noise in range(-reach, reach + 1):
        law[max(0, phantoms.centre + noise)] += (1 - q) / (1 + q) * q ** abs(noise)
    return dict(law)


def excess(first: Law, second: Law, epsilon: float) -> float:
    """δ at ε of two laws, in the one direction: the sum of what the first has more than e^ε times the second."""
    return sum(max(0.0, p - math.exp(epsilon) * second.get(x, 0.0)) for x, p in first.items())


def worst(law: Callable[[int], Law], c: int, epsilon: float, most: int = 3) -> float:
    """The largest δ over streams of up to `most` distinct keys and neighbours with up to c more, either way."""
    pairs = [(law(n), law(n + j)) for n in range(most + 1) for j in range(1, c + 1)]
    return max(max(excess(a, b, epsilon), excess(b, a, epsilon)) for a, b in pairs)


# --- a tiny sketch: 8 hash values, two registers, four values with chances 1/2, 1/4, 1/8, 1/8; a window of one ---

POINTS = [(0, 1), (0, 1), (0, 2), (0, 3), (1, 1), (1, 1), (1, 2), (1, 4)]


def state_of(points: frozenset[int]) -> object:
    """What a register remembers: its largest value, and whether the value one below was drawn."""
    held = []
    for register in (0, 1):
        values = {POINTS[x][1] for x in points if POINTS[x][0] == register}
        held.append((max(values), max(values) - 1 in values) if values else None)
    return tuple(held)


def tiny_laws(most: int) -> list[Law]:
    """P_t for t = 0, ..., most: t keys under a random function to the 8 points, all subsets enumerated."""
    subsets: dict[frozenset[int], float] = {frozenset(): 1.0}
    laws = []
    for _ in range(most + 1):
        law: Counter[object] = Counter()
        following: Counter[frozenset[int]] = Counter()
        for points, p in subsets.items():
            law[state_of(points)] += p
            for x in range(8):
                following[points | {x}] += p / 8
        laws.append(dict(law))
        subsets = dict(following)
    return laws


@pytest.mark.parametrize("injective", [False, True])
def test_the_registers_know_the_keys_by_their_number_alone(injective: bool) -> None:
    """Every function, and every injective one, of 4 arguments: any two sets of as many arguments give the same law."""
    arguments = range(4)
    functions = list(itertools.permutations(range(8), 4) if injective else itertools.product(range(8), repeat=4))
    chain = tiny_laws(3)
    for size in range(4):
        counts = [
            Counter(state_of(frozenset(hashed[x] for x in chosen)) for hashed in functions)
            for chosen in itertools.combinations(arguments, size)
        ]
        assert all(count == counts[0] for count in counts)
        if not injective:
            assert {x: n / len(functions) for x, n in counts[0].items()} == pytest.approx(chain[size])


@pytest.mark.parametrize(("epsilon", "delta", "c"), [(1.0, 0.05, 1), (1.0, 1e-3, 2), (0.7, 0.2, 1), (3.0, 0.01, 2)])
def test_the_claim_holds_for_every_pair_of_small_streams(epsilon: float, delta: float, c: int) -> None:
    phantoms = phantoms_for(asked(epsilon, delta, c))
    numbers = number_of_phantoms(phantoms)
    laws = tiny_laws(5 + max(z for z in numbers if numbers[z] > 1e-14))

    def released(n: int) -> Law:
        law: Counter[object] = Counter()
        for z, p in numbers.items():
            for x, q in laws[min(n + z, len(laws) - 1)].items():
                law[x] += p * q
        return dict(law)

    assert phantoms.delta(epsilon) <= delta
    for share in (0.0, 0.3, 0.9, 1.0, 1.5):
        assert worst(released, c, share * epsilon) <= phantoms.delta(share * epsilon) + 1e-13


def occupied(cells: int, keys: int) -> list[Law]:
    """How many of the cells have a key, for t = 0, ..., keys: all that a bitmap of as many bits knows of t."""
    law, laws = np.array([1.0]), []
    for _ in range(keys + 1):
        laws.append({k: float(p) for k, p in enumerate(law) if p > 0.0})
        k = np.arange(len(law))
        law = np.append(law * k / cells, 0.0) + np.append(0.0, law * (1.0 - k / cells))
    return laws


@pytest.mark.parametrize(("epsilon", "delta", "c"), [(1.0, 1e-6, 1), (1.0, 1e-6, 3), (0.5, 1e-9, 2)])
def test_the_claim_is_tight_where_the_sketch_tells_all(epsilon: float, delta: float, c: int) -> None:
    """With many more cells than keys the bitmap shows n + Z, and then no smaller δ would do."""
    phantoms = phantoms_for(asked(epsilon, delta, c))
    numbers = number_of_phantoms(phantoms)
    claimed = phantoms.delta(epsilon)
    assert claimed <= delta
    itself = worst(lambda n: {n + z: p for z, p in numbers.items()}, c, epsilon)
    assert itself == pytest.approx(claimed, rel=1e-6)
    laws = occupied(2**20, max(numbers) // 4)

    def bitmap(n: int) -> Law:
        law: Counter[object] = Counter()
        for z, p in numbers.items():
            for x, q in laws[min(n + z, len(laws) - 1)].items():
                law[x] += p * q
        return dict(law)

    assert 0.9 * claimed < worst(bitmap, c, epsilon, most=0) <= claimed * (1.0 + 1e-6)


def test_broken_versions_would_be_caught() -> None:
    """No phantoms, a public number of them, one too few, and noise for one pair where people have three."""
    epsilon, delta = 1.0, 1e-6
    phantoms = phantoms_for(asked(epsilon, delta))
    laws = occupied(4096, 200)
    assert worst(lambda n: laws[n], 1, epsilon) == 1.0
    assert worst(lambda n: laws[n + phantoms.centre], 1, epsilon) > 0.5
    assert PhantomNumber(phantoms.centre - 1, epsilon, 1).delta(epsilon) > delta
    numbers = number_of_phantoms(phantoms)
    assert worst(lambda n: {n + z: p for z, p in numbers.items()}, 3, epsilon) > 1000 * delta


def streams(keys: int, pairs: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(range(keys), repeat=pairs)


@pytest.mark.parametrize("c", [1, 2])
def test_neighbours_differ_by_no_more_than_c_distinct_keys(c: int) -> None:
    """All streams of up to 4 pairs of 4 keys: replace as add or remove, and some neighbours differ by c."""
    replaced = [
        len(set(common + mine)) - len(set(common + other))
        for common in streams(4, 4 - c)
        for mine in streams(4, c)
        for other in streams(4, c)
    ]
    removed = [len(set(s)) - len(set(s[:-j])) for n in range(c, 5) for s in streams(4, n) for j in range(1, c + 1)]
    assert (min(replaced), max(replaced)) == (-c, c)
    assert (min(removed), max(removed)) == (0, c)


@pytest.mark.parametrize(
    ("epsilon", "delta", "c"), [(1.0, 1e-9, 1), (0.1, 1e-12, 7), (5.0, 1e-9, 400), (0.01, 1e-6, 30)]
)
def test_the_numbers_agree_with_forty_digits(epsilon: float, delta: float, c: int) -> None:
    """δ at and below ε, the mean and the gap; and one phantom fewer would not do."""
    phantoms = phantoms_for(asked(epsilon, delta, c))
    with mpmath.workdps(40):
        q = mpmath.exp(-mpmath.mpf(epsilon) / c)

        def at_most(k: int) -> mpmath.mpf:
            return q**-k / (1 + q) if k <= 0 else 1 - q ** (k + 1) / (1 + q)

        exact = at_most(c - 1 - phantoms.centre)
        assert exact <= mpmath.mpf(delta) < at_most(c - phantoms.centre)
        assert exact <= phantoms.delta(epsilon) <= exact * (1 + mpmath.mpf("2e-12"))
        assert phantoms.delta(2.0 * epsilon) == phantoms.delta(epsilon)
        for share in (0.0, 0.25, 0.99):
            alpha = mpmath.exp(mpmath.mpf(share * epsilon))
            curve = max(at_most(k) - alpha * at_most(k - c) for k in range(-2, c + 2)) + exact
            assert curve <= phantoms.delta(share * epsilon) <= curve + mpmath.mpf("1e-13")
        gap = at_most(-phantoms.centre - 1)
        assert gap <= phantoms.gap <= gap * (1 + mpmath.mpf("2e-12"))
        assert float(phantoms.centre + gap / (1 - q)) == pytest.approx(phantoms.mean, rel=1e-12)


def test_the_number_comes_from_the_secret_and_has_its_law() -> None:
    """4,000 secrets, chi-square over the middle of the law: false alarm 1e-5 under other secrets."""
    phantoms = phantoms_for(asked(0.5, 1e-9))
    found = Counter(phantoms.draw(secret(i)) for i in range(4000))
    assert phantoms.draw(secret(1)) == phantoms.draw(secret(1))
    law = number_of_phantoms(phantoms)
    inside = range(phantoms.centre - 6, phantoms.centre + 7)
    expected = [4000 * law[z] for z in inside] + [4000 * (1.0 - sum(law[z] for z in inside))]
    counts = [found[z] for z in inside] + [4000 - sum(found[z] for z in inside)]
    statistic = sum((a - b) ** 2 / b for a, b in zip(counts, expected, strict=True))
    assert statistic < float(mpmath.findroot(lambda x: mpmath.gammainc(6.5, x / 2, regularized=True) - 1e-5, 45.0))
    # Other parameters are other draws, and a noise below the least is cut off at none.
    assert len({PhantomNumber(1000, 0.5, c).draw(secret(1)) for c in range(10, 20)}) > 5
    assert min(PhantomNumber(0, 0.5, 1).draw(secret(i)) for i in range(50)) == 0


@pytest.mark.parametrize(
    ("keys", "registers", "c"), [(0, 64, 1), (40, 1024, 1), (5000, 256, 1), (5000, 1024, 200), (100_000, 64, 1)]
)
def test_deviation_and_coverage_of_releases(keys: int, registers: int, c: int) -> None:
    """250 releases by the real path: bias, deviation and coverage. False alarm 4e-5 a case."""
    trials, confidence = 250, 0.9
    phantoms = phantoms_for(asked(1.0, 1e-9, c))
    found = []
    for number in range(trials):
        made = DistinctRegisters(registers, secret(number))
        made.add(range(keys), threads=1)
        made.add_phantoms(phantoms.draw(secret(number)))
        found.append(made.estimate())
    ordered, expected = np.sort(found), distinct_deviation(keys, registers, phantoms)
    assert abs(np.mean(found) - phantoms.mean - keys) < 4.5 * expected / math.sqrt(trials) + 0.0005 * keys
    # Laplace noise has a kurtosis of 6, so that its deviation is known half as well as that of a normal number.
    assert abs(np.std(found) / expected - 1.0) < 0.03 + 4.5 * math.sqrt(5.0 / (4 * trials))

    def limits(i: int) -> tuple[float, float]:
        return distinct_limits(ordered[i], registers, phantoms, confidence)

    first = bisect(range(trials), 0, key=lambda i: limits(i)[1] >= keys)
    last = bisect(range(trials), 0, key=lambda i: limits(i)[0] > keys)
    # Whole numbers of phantoms: with c = 1 the coverage can be more than asked for, not less.
    slack = 4.5 * math.sqrt(confidence * (1.0 - confidence) / trials)
    assert confidence - 0.015 - slack < (last - first) / trials < confidence + slack + (0.1 if c == 1 else 0.015)


def test_limits_at_the_ends() -> None:
    phantoms = phantoms_for(asked(1.0, 1e-9))
    low, high = distinct_limits(phantoms.mean, 1024, phantoms)
    assert low == 0.0
    assert 2.0 < high < 4.0
    assert distinct_limits(0.0, 1024, phantoms) == (0.0, 0.0)
    assert distinct_limits(math.inf, 1024, phantoms) == (math.inf, math.inf)
    low, high = distinct_limits(10**6 + phantoms.mean, 1024, phantoms)
    assert low < 10**6 < high


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(PlanInfeasible, match=r"phantom keys.*larger ε"):
        phantoms_for(asked(1e-6, 1e-9))
    with pytest.raises(ArgumentTypeError, match="privacy"):
        phantoms_for(1.0)  # type: ignore[arg-type]
    for centre, epsilon, c in ((-1, 1.0, 1), (1, 0.0, 1), (1, 1.0, 0), (1, math.inf, 1), (1.0, 1.0, 1), (1, 1, 1)):
        with pytest.raises(ArgumentError, match="phantoms_for"):
            PhantomNumber(centre, epsilon, c)  # type: ignore[arg-type]
    phantoms = phantoms_for(asked(1.0, 1e-9))
    for epsilon in (-1.0, math.nan, True):
        with pytest.raises(ArgumentError, match="epsilon"):
            phantoms.delta(epsilon)
    assert PhantomNumber(1, 1.0, 5).delta(1.0) == 1.0
    assert phantoms_for(asked(1.0, 0.9)).centre == 0
