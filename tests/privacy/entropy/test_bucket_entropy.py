"""Entropy from buckets: every small pair of neighbours under every hash, divergences by brute force, computing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import digamma
from small_streams import Stream, neighbours, privacy, streams, total, uniform_below, with_noise

import stablesketch as ss
from stablesketch.law.skewed import SkewedLaw
from stablesketch.mechanism.entropy.noise import _weights
from stablesketch.privacy import discrete_laplace
from stablesketch.privacy.entropy.mass import TERM_ERROR, _exact_sum, bucket_mass, bucket_norm
from stablesketch.privacy.entropy.noise import EntropyNoise, NoisyMass
from stablesketch.privacy.entropy.shares import NORM_SHARE
from stablesketch.sketch.estimators.entropy_mean import entropy_mean

Floats = np.ndarray

LAW = SkewedLaw()


def in_buckets(asked: ss.Privacy, entries: int = 64, buckets: int = 3, copies: int = 1) -> EntropyNoise:
    return EntropyNoise(asked, entries * buckets, copies, buckets=buckets)


def estimate(stream: Stream, home: tuple[int, ...], zeta: tuple[float, ...]) -> float:
    """N ln N - Σ N_b (ln N_b - Ĥ_b) by its definition, Ĥ_b the entropy of the keys of bucket b and an error."""
    whole = 0.0
    for bucket, error in enumerate(zeta):
        own: dict[int, int] = {}
        for key, value in stream:
            if home[key] == bucket:
                own[key] = own.get(key, 0) + value
        n = sum(own.values())
        if n:
            entropy = -math.fsum(f / n * math.log(f / n) for f in own.values())
            whole -= n * (math.log(n) - entropy - error)
    n = total(stream)
    return whole + (n * math.log(n) if n else 0.0)


def hashes(buckets: int) -> Iterator[tuple[int, ...]]:
    """Of three keys, up to the names of the buckets."""
    yield from (home for home in itertools.product(range(buckets), repeat=3) if home[0] == 0 and home[1] <= 1)


# --- sensitivity ---


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize(("pairs", "most", "changed"), [(2, 1, 1), (1, 3, 1), (1, 2, 2), (1, 1, 3), (0, 3, 2)])
def test_no_neighbour_moves_the_estimate_by_more_than_the_grid_is_made_for(
    relation: str, pairs: int, most: int, changed: int
) -> None:
    """Under every hash, every ζ at either end of what it can be: linear in each of them, so no other is worse."""
    noise = in_buckets(privacy(relation, changed, most))
    above, below = noise.reaches
    nearest = 0.0
    for shared in streams(pairs, 2, most):
        for one, other in neighbours(relation, shared, changed, most):
            bound = max(total(one), total(other), 1)
            step, centre = float(noise.step(bound)), float(noise.centre(bound))
            for home in hashes(3):
                for zeta in itertools.product((above, -below), repeat=max(home) + 1):
                    here, there = (
                        round((estimate(each, home, zeta) - total(each) * centre) / step) for each in (one, other)
                    )
                    nearest = max(nearest, abs(here - there))
    assert 0.5 * noise.distance < nearest <= noise.distance


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_random_streams_and_hashes(relation: str) -> None:
    """Long and short streams, up to five pairs of values up to 40, ζ anywhere: within V, and near it."""
    rng = np.random.default_rng(3)
    nearest = 0.0
    for trial in range(400):
        most, changed, buckets = int(rng.integers(1, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
        noise = in_buckets(privacy(relation, changed, most), 32, buckets)
        above, below = noise.reaches
        shared = tuple((int(k), int(10 ** rng.uniform(0.0, 4.0))) for k in rng.integers(0, 4, rng.integers(0, 4)))
        ends = [shared] if relation == "add_remove" else []
        while len(ends) < 2:
            keys = rng.choice([np.zeros(changed, int), np.arange(9, 9 + changed), rng.integers(0, 6, changed)])
            values = np.where(rng.random(changed) < 0.7, most, rng.integers(1, most + 1, changed))
            ends.append(shared + tuple(zip(keys.tolist(), values.tolist(), strict=True)))
        home = tuple(rng.integers(0, buckets, 15).tolist())
        corners = rng.random(buckets) < 0.5
        zeta = np.where(corners, above, -below) if trial % 2 else rng.uniform(-below, above, buckets)
        bound = max(map(total, ends))
        centre = float(noise.centre(bound))
        here, there = (estimate(each, home, tuple(zeta.tolist())) - total(each) * centre for each in ends)
        nearest = max(nearest, abs(here - there) / float(noise.change(bound)))
    assert 0.75 < nearest <= 1.0 + 1e-12


def test_the_bound_is_nearly_attained_and_the_sign_of_zeta_matters() -> None:
    """A pair of the only key moves to a new key in another bucket: by Δ and both reaches, one after the other. A bound
    by the larger of the two alone, or none as without buckets, would be too small."""
    n = 10**6
    noise = in_buckets(privacy("replace"), 16, 2)
    above, below = noise.reaches
    one, other = ((0, n),), ((0, n - 1), (1, 1))
    moved = estimate(other, (0, 1), (-below, above)) - estimate(one, (0, 1), (-below, above))
    assert 0.999 < moved / float(noise.change(n)) <= 1.0
    flat = EntropyNoise(privacy("replace"), 16)
    assert moved > 1.5 * float(flat.change(n))
    assert moved > 1.0 + math.log(n) + max(above, below) + 1.0


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_the_norm_moves_by_no_more_than_it_may(relation: str) -> None:
    """Random totals, small and large, all changes of up to three pairs: c M at most, and so much if one bucket has
    everything."""
    rng = np.random.default_rng(5)
    most = 0.0
    for _ in range(2_000):
        buckets, changed, value = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 9))
        noise = in_buckets(privacy(relation, changed, value), 16, buckets)
        shared = np.floor(10.0 ** rng.uniform(-1.0, 6.0, buckets)).astype(np.int64) * (rng.random(buckets) < 0.6)
        ends = [shared] if relation == "add_remove" else []
        while len(ends) < 2:
            more = np.zeros(buckets, np.int64)
            np.add.at(more, rng.integers(0, buckets, changed), rng.integers(1, value + 1, changed))
            ends.append(shared + more)
        moved = abs(bucket_norm(ends[0]) - bucket_norm(ends[1]))
        assert moved <= noise.norm_distance == changed * value
        most = max(most, moved / noise.norm_distance)
    assert most == 1.0


# --- divergences ---


def zetas(entries: int, count: int, seed: int) -> Floats:
    """Draws of ζ by its definition."""
    y = LAW.sample((count, entries), np.random.default_rng([entries, seed]))
    return np.asarray(digamma(entries - 1) - np.log(np.exp(y).sum(axis=1)))


def divergence(
    noise: EntropyNoise, ends: tuple[Stream, Stream], home: tuple[int, ...], drawn: Floats, factor: float = 1.0
) -> float:
    """The larger of the two D at ε_G + ε_2, of noisy mass and noisy norm together, given T and the hash; over the draws
    of all ζ_b, the same for both."""
    bound = max(*map(total, ends), 1)
    step, scale = float(noise.step(bound)), factor * float(noise.mass_scale)
    centre = float(noise.centre(bound))
    masses, norms = [], []
    for stream in ends:
        own = np.array([sum(v for k, v in stream if home[k] == b) for b in range(noise.buckets)])
        exact = estimate(stream, home, (0.0,) * noise.buckets) - total(stream) * centre
        masses.append(np.floor((exact + drawn @ own) / step + 0.5).astype(int))
        norms.append(math.isqrt(int((own**2).sum())))
    reach = max(int(np.abs(each).max()) for each in masses) + math.ceil(12.0 * scale)
    laws = [with_noise(np.bincount(each + reach, minlength=2 * reach) / len(drawn), scale) for each in masses]
    width = math.ceil(10.0 * float(noise.norm_scale))
    q = math.exp(-1.0 / float(noise.norm_scale))
    at = np.arange(-width, width + max(norms))
    beside = [(1.0 - q) / (1.0 + q) * q ** np.abs(at - each) for each in norms]
    alpha = math.exp(noise.mass_epsilon + noise.norm_epsilon)
    found = [0.0, 0.0]
    for first, second in zip(*beside, strict=True):
        for i, (a, b) in enumerate(((laws[0] * first, laws[1] * second), (laws[1] * second, laws[0] * first))):
            found[i] += float(np.maximum(a - alpha * b, 0.0).sum())
    return max(found)


CASES: list[tuple[str, int, Stream, Stream]] = [
    ("replace", 1, ((0, 1),), ((1, 1),)),
    ("replace", 1, ((0, 1), (0, 1)), ((0, 1), (1, 1))),
    ("add_remove", 1, (), ((0, 1),)),
    ("add_remove", 1, ((0, 1),), ((0, 1), (1, 1))),
    ("replace", 2, ((0, 2),), ((1, 2),)),
]


@pytest.mark.parametrize(("relation", "most", "one", "other"), CASES)
def test_divergences_of_small_streams(relation: str, most: int, one: Stream, other: Stream) -> None:
    """Never above what is charged for what may fail, at a δ large enough to see it; keys in one bucket and in two."""
    noise = in_buckets(privacy(relation, 1, most, epsilon=2.0, delta=1e-2), 40, 2)
    drawn = np.stack([zetas(40, 400, seed) for seed in range(2)], axis=1)
    for home in ((0, 0), (0, 1)):
        assert divergence(noise, (one, other), home, drawn) <= noise.lost


def test_too_little_noise_is_found_out() -> None:
    """Twenty pairs of one key, one of them replaced by one of a new key in the other bucket; ζ at their ends."""
    noise = in_buckets(privacy("replace", delta=1e-3), 64, 2)
    above, below = noise.reaches
    drawn = np.array([[-below, above]])
    ends = ((0, 20),), ((0, 19), (1, 1))
    assert divergence(noise, ends, (0, 1), drawn) <= noise.lost
    assert divergence(noise, ends, (0, 1), drawn, factor=0.8) > 10.0 * 1e-3


@pytest.mark.parametrize("entries", [16, 64])
def test_zeta_leaves_its_limits_no_more_often_than_is_charged(entries: int) -> None:
    """40,000 draws at a δ_z of 0.5%: the bounds are Chernoff's, so far fewer are outside."""
    law_reaches = in_buckets(privacy("add_remove", delta=0.05), entries, 4)
    above, below = law_reaches.reaches
    drawn = zetas(entries, 40_000, 1)
    outside = float(np.mean((drawn >= above) | (drawn <= -below)))
    assert outside <= law_reaches.lost / 2.0


# --- groups ---


def test_pairs_spread_over_groups_move_no_more_than_the_distance() -> None:
    """c pairs in up to `copies` groups, each pair with a bucket of its own, at the worst of all ζ and of all errors."""
    rng = np.random.default_rng(8)
    most = 0.0
    for changed, copies, value in ((3, 3, 1), (3, 2, 3), (10, 10, 2), (4, 1, 2)):
        noise = in_buckets(privacy("add_remove", changed, value), 32, 4, copies)
        above = Fraction(noise.reaches[0])
        for _ in range(200):
            groups = int(rng.integers(1, min(copies, changed) + 1))
            cuts = np.sort(rng.choice(np.arange(1, changed), groups - 1, replace=False))
            moved = 0
            for own in np.diff([0, *cuts, changed]).tolist():
                held = int(10 ** rng.uniform(0.0, 15.0))
                bound = held + own * value
                step, wrong = noise.step(bound), noise.error * bound
                grown = Fraction(held * math.log1p(own * value / held) + own * value * math.log(bound / value))
                shift = Fraction(int(rng.integers(0, 1_000)), 1_000) * step  # where the grid happens to lie
                here = (shift - wrong) / step
                there = (shift + grown + own * value * (above - noise.centre(bound)) + wrong) / step
                moved += math.floor(there + Fraction(1, 2)) - math.floor(here + Fraction(1, 2))
            assert moved <= noise.distance
            most = max(most, moved / noise.distance)
    assert most > 0.95


def test_how_many_buckets_a_person_changes() -> None:
    assert in_buckets(privacy("add_remove", 5), 16, 100).changed_buckets == 5
    assert in_buckets(privacy("replace", 5), 16, 100).changed_buckets == 10
    assert in_buckets(privacy("replace", 500), 16, 100).changed_buckets == 100
    assert in_buckets(privacy("add_remove", 500), 16, 100, copies=3).changed_buckets == 300
    assert EntropyNoise(privacy("add_remove", 500), 100, 3).changed_buckets == 3
    assert EntropyNoise(privacy("replace", 500), 100).changed_buckets == 1


# --- the price ---


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize(("changed", "most", "copies"), [(1, 1, 1), (5, 4, 1), (6, 1, 4)])
def test_the_price_is_what_was_asked(relation: str, changed: int, most: int, copies: int) -> None:
    if relation == "replace" and copies > 1:
        return
    for epsilon in (1.0, 0.7, 3.3):
        asked = privacy(relation, changed, most, epsilon)
        noise = in_buckets(asked, 64, 320, copies)
        spent = (noise.mass_epsilon, noise.total_epsilon, noise.norm_epsilon)
        assert noise.norm_epsilon == NORM_SHARE * epsilon
        assert sum(map(Fraction, spent)) <= Fraction(epsilon)
        charge = noise.charge()
        assert len(charge.charges) == (3 if noise.total_is_public else 4)
        basic, lost = charge.basic(relation)
        assert basic <= epsilon
        assert lost <= asked.delta
        for law in charge.laws(relation):
            assert law.delta((1.0 + 1e-9 if epsilon == 1.0 else 1.02) * epsilon) <= asked.delta * (1.0 + 1e-6)


def test_noise_of_a_million_pairs() -> None:
    """One replaced pair, ε = 1, δ = 1e-9, all of ε for the mass. Averaging over ζ gives 26.5, 19.3, 17.3, 16.4 and 15.7
    (by a computation of its own); cutting it off at its reaches takes more, and never less."""
    for entries, averaged, ours in ((16, 19.3, 25.0), (32, 17.3, 20.1), (64, 16.4, 18.1), (200, 15.7, 16.6)):
        noise = in_buckets(privacy("replace"), entries, 100)
        alone = noise.noise(10**6) * noise.mass_epsilon
        assert averaged < alone < ours


# --- computing ---


def reference(totals: Floats, estimates: Floats) -> Fraction:
    """In 60 digits."""
    with mpmath.workdps(60):
        n = [int(each) for each in totals if each > 0]
        own = [mpmath.mpf(float(each)) for each, held in zip(estimates, totals, strict=True) if held > 0]
        whole = mpmath.mpf(sum(n)) * mpmath.log(sum(n)) if n else mpmath.mpf(0)
        exact = whole - mpmath.fsum(a * (mpmath.log(a) - e) for a, e in zip(n, own, strict=True))
        return Fraction(int(mpmath.floor(exact * 2**80)), 2**80)


def test_computing_is_as_good_as_is_charged() -> None:
    """Totals from 1 to 2^52, ζ from -500 to 500: far less than N times `TERM_ERROR`."""
    rng = np.random.default_rng(2)
    worst = 0.0
    for _ in range(200):
        buckets = int(rng.integers(1, 30))
        totals = np.floor(2.0 ** rng.uniform(0.0, 52.0 - math.log2(buckets), buckets)).astype(np.int64)
        y = LAW.sample((buckets, 16), rng) + rng.choice([0.0, -500.0, 500.0], (buckets, 1)) * rng.random((buckets, 1))
        off = bucket_mass(totals, y) - reference(totals, entropy_mean(y))
        worst = max(worst, abs(float(off)) / float(totals.sum()))
    assert worst < 0.5 * TERM_ERROR


def test_terms_are_added_exactly() -> None:
    """Of any size and sign, the smallest floats among them."""
    rng = np.random.default_rng(9)
    terms = rng.standard_normal(500) * 2.0 ** rng.integers(-60, 60, 500)
    terms = np.concatenate([terms, [0.0, -0.0, 5e-324, -1e300, 1e300, 2.0**-1022]])
    assert _exact_sum(terms) == sum(map(Fraction, terms.tolist()))
    assert _exact_sum(np.zeros(0)) == 0


def test_buckets_that_hold_the_same_cancel_exactly() -> None:
    """Whatever they hold, and however far off their estimates are: the terms of other buckets are all that differs."""
    rng = np.random.default_rng(4)
    y = LAW.sample((3, 16), rng)
    low, high = np.array([1_000, 77, 5]), np.array([1_001, 77, 5])
    far = y.copy()
    far[1] -= 1e6
    difference = [bucket_mass(high, each) - bucket_mass(low, each) for each in (y, far)]
    assert difference[0] == difference[1]


def test_empty_buckets_add_nothing() -> None:
    y = LAW.sample((4, 16), np.random.default_rng(6))
    totals = np.array([0, 9, 0, 4])
    assert bucket_mass(totals, y) == bucket_mass(totals[[1, 3]], y[[1, 3]])
    assert bucket_mass(np.zeros(4, np.int64), y) == 0
    assert bucket_norm(totals) == math.isqrt(97)
    assert bucket_norm(np.array([2**52, 2**52])) == math.isqrt(2**105)


# --- the release ---


def below(seed: int) -> Callable[[int], int]:
    return uniform_below(np.random.default_rng(seed))


def test_the_same_bits_give_the_same_release() -> None:
    noise = in_buckets(privacy("add_remove", 2, 3), 16, 3)
    y = LAW.sample((3, 16), np.random.default_rng(2)) - 3.0
    totals = np.array([100, 0, 900])
    one, other = (noise.measure_buckets(1_000, lambda: (totals, y), below(5)) for _ in range(2))
    assert one == other
    rng = below(5)
    assert one.total == 1_000 + discrete_laplace.sample(noise.total_scale, rng)
    bound = noise.bound(one.total)
    exact = (bucket_mass(totals, y) - 1_000 * noise.centre(bound)) / noise.step(bound)
    assert one.mass == math.floor(exact + Fraction(1, 2)) + discrete_laplace.sample(noise.mass_scale, rng)
    assert one.norm == math.isqrt(820_000) + discrete_laplace.sample(noise.norm_scale, rng)


def test_an_empty_stream_and_one_beyond_the_cap() -> None:
    noise = in_buckets(privacy("add_remove"), 16, 3)

    def read() -> tuple[Floats, Floats]:
        raise AssertionError("nothing is read")

    assert noise.measure_buckets(0, read, below(1)).mass is not None
    beyond = noise.measure_buckets(noise.largest_total, read, below(1))
    assert (beyond.mass, beyond.norm) == (None, None)


def test_weights_of_one_bucket_and_of_many() -> None:
    """All in one bucket: ζ alone. As even as can be: a normal error, nearly, of the variance of one over B."""
    noise = in_buckets(privacy("replace"), 64, 100)

    def weights(norm: int) -> tuple[float, float]:
        return _weights(NoisyMass(None, 10**8, 0, Fraction(1), Fraction(0), norm), noise)

    assert weights(10**8) == pytest.approx((1.0, 0.0), abs=1e-6)
    one, others = weights(10**7)
    assert one == pytest.approx(0.01, abs=1e-3)
    assert math.hypot(one, others) == pytest.approx(0.1, rel=1e-3)
    one, others = weights(5 * 10**7)
    assert math.hypot(one, others) == pytest.approx(0.5, rel=1e-6)
    assert one**2 + (1.0 - one) ** 2 / 99.0 == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EntropyNoise(privacy("add_remove"), 64, buckets=0), "buckets must .*got 0"),
        (lambda: EntropyNoise(privacy("add_remove"), 64, buckets=3), "buckets must .*got 3"),
        (lambda: EntropyNoise(privacy("add_remove"), 0, buckets=3), "buckets must .*got 3"),
        (lambda: in_buckets(privacy("add_remove"), 4), "size must .*got 4"),
        (lambda: in_buckets(privacy("add_remove")).measure(5, np.zeros(192), below(1)), "locations must .*got 192"),
        (
            lambda: in_buckets(privacy("add_remove")).measure_buckets(
                3, lambda: (np.ones(3, np.int64), np.zeros((3, 63))), below(1)
            ),
            "locations",
        ),
        (
            lambda: EntropyNoise(privacy("add_remove"), 64).measure_buckets(1, lambda: None, below(1)),
            "buckets must .*got 1",
        ),  # type: ignore[arg-type,return-value]
    ],
)
def test_what_cannot_be_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ss.ArgumentError, match=message):
        call()
