"""Entropy from a sketch with noise: every small pair of neighbours, divergences by brute force, groups, computing."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import digamma
from small_streams import Stream, neighbours, privacy, streams, total, uniform_below, with_noise

import stablesketch as ss
from stablesketch.law.skewed import SkewedLaw
from stablesketch.mechanism.entropy.noise import measured_entropy
from stablesketch.privacy import discrete_laplace
from stablesketch.privacy.entropy.noise import EntropyNoise, NoisyMass, error
from stablesketch.sketch.entropy_sketch import EntropySketch
from stablesketch.sketch.estimators.entropy_mean import entropy_mean, entropy_mean_deviation

Floats = np.ndarray

LAW = SkewedLaw()


def mass(stream: Stream) -> float:
    """Σ f ln(N/f), by its definition."""
    totals: Counter[int] = Counter()
    for key, value in stream:
        totals[key] += value
    return math.fsum(f * math.log(total(stream) / f) for f in totals.values())


# --- sensitivity ---


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize(("pairs", "most", "changed"), [(3, 1, 1), (2, 3, 1), (2, 2, 2), (1, 1, 3), (0, 3, 2)])
def test_no_neighbour_moves_the_estimate_by_more_than_the_grid_is_made_for(
    relation: str, pairs: int, most: int, changed: int
) -> None:
    """N (H + ζ - β) with the same ζ at either end of what it can be: in steps never further than `distance`."""
    noise = EntropyNoise(privacy(relation, changed, most), 64)
    nearest = 0.0
    for shared in streams(pairs, 2, most):
        for one, other in neighbours(relation, shared, changed, most):
            bound = max(total(one), total(other), 1)
            step, centre = float(noise.step(bound)), float(noise.centre(bound))
            for zeta in (-noise.reaches[1], 0.0, noise.reaches[0]):
                here, there = (round((mass(each) + total(each) * (zeta - centre)) / step) for each in (one, other))
                nearest = max(nearest, abs(here - there))
    assert 0.2 * noise.distance < nearest <= noise.distance


def test_in_long_streams_the_bound_is_nearly_attained() -> None:
    """A new key of the largest value moves it up by Δ/2, more of the only key down by as much."""
    noise = EntropyNoise(privacy("add_remove", 1, 50), 200)
    bound, centre = float(noise.change(10**6 + 50)), float(noise.centre(10**6 + 50))
    one = ((0, 10**6),)
    up, down = (*one, (1, 50)), (*one, (0, 50))
    above, below = noise.reaches
    assert 0.9999 < (mass(up) - mass(one) + 50 * (above - centre)) / bound <= 1.0
    assert 0.9999 < -(mass(down) - mass(one) + 50 * (-below - centre)) / bound <= 1.0


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_half_the_change(relation: str) -> None:
    """G - β N on random streams with values up to M: c M β up or down, twice that where pairs are replaced."""
    rng = np.random.default_rng(4)
    nearest = 0.0
    for _ in range(400):
        most, changed = int(rng.integers(2, 40)), int(rng.integers(1, 6))
        noise = EntropyNoise(privacy(relation, changed, most), 0)
        shared = tuple((int(key), int(10 ** rng.uniform(0.0, 4.0))) for key in rng.integers(0, 4, rng.integers(0, 3)))
        ends = [shared] if relation == "add_remove" else []
        while len(ends) < 2:
            keys = rng.choice([np.zeros(changed, int), np.arange(9, 9 + changed), rng.integers(0, 6, changed)])
            values = np.where(rng.random(changed) < 0.7, most, rng.integers(1, most + 1, changed))
            ends.append(shared + tuple(zip(keys.tolist(), values.tolist(), strict=True)))
        bound = max(map(total, ends))
        centre = float(noise.centre(bound))
        moved = abs(mass(ends[0]) - mass(ends[1]) - centre * (total(ends[0]) - total(ends[1])))
        nearest = max(nearest, moved / (changed * most * centre * (2 if relation == "replace" else 1)))
    assert 0.9 < nearest <= 1.0 + 1e-12


# --- divergences ---


def zetas(size: int, count: int) -> Floats:
    """Draws of ζ by its definition, in order of size, one of each `count` part of a larger number."""
    drawn = np.random.default_rng(size).random  # only to have a seed that depends on the size
    rng = np.random.default_rng([size, int(1e6 * drawn())])
    y = np.concatenate([LAW.sample((200, size), rng) for _ in range(-(-count * 8 // 200))])
    values = np.sort(digamma(size - 1) - np.log(np.exp(y).sum(axis=1)))
    return values[4::8][:count]


def released(stream: Stream, zeta: Floats, step: float, scale: float, lowest: int, cells: int) -> Floats:
    """The law of the released integer on lowest, lowest + 1, ...: N (H + ζ) in steps, and discrete Laplace noise. Here
    and below β is taken off ζ before."""
    k = np.floor((mass(stream) + total(stream) * zeta) / step + 0.5).astype(int) - lowest
    return with_noise(np.bincount(k, minlength=cells) / len(zeta), scale)


def divergence_of_mass(
    noise: EntropyNoise, one: Stream, other: Stream, zeta: Floats, bound: int, factor: float = 1.0
) -> float:
    """The larger of the two D at ε_G, of the release of G given T."""
    step, scale = float(noise.step(bound)), factor * float(noise.mass_scale)
    zeta = zeta - float(noise.centre(bound))
    reach = max(abs(mass(each)) + total(each) * float(np.abs(zeta).max()) for each in (one, other))
    lowest = -math.ceil(reach / step + 14.0 * scale)
    laws = [released(each, zeta, step, scale, lowest, -2 * lowest) for each in (one, other)]
    alpha = math.exp(noise.mass_epsilon)
    return max(float(np.maximum(a - alpha * b, 0.0).sum()) for a, b in (laws, laws[::-1]))


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize(("pairs", "most", "changed"), [(0, 1, 1), (2, 1, 1), (1, 3, 1), (0, 2, 3), (1, 1, 3)])
def test_divergences_of_all_small_streams(relation: str, pairs: int, most: int, changed: int) -> None:
    """Never above δ_z, at a δ large enough to see it; 40 entries, so that ζ is as large as the change of G."""
    noise = EntropyNoise(privacy(relation, changed, most, delta=1e-2), 40)
    zeta = zetas(40, 1_000)
    # N H and N decide: of streams with the same ones, one is enough.
    seen: dict[tuple[float, ...], tuple[Stream, Stream]] = {}
    for shared in streams(pairs, 1, most):
        for one, other in neighbours(relation, shared, changed, most):
            seen[round(mass(one), 9), round(mass(other), 9), total(one), total(other)] = (one, other)
    some = sorted(seen.values(), key=lambda pair: -abs(mass(pair[0]) - mass(pair[1])))[:8]
    assert some
    for one, other in some:
        bound = max(total(one), total(other), 1)
        assert divergence_of_mass(noise, one, other, zeta, bound) <= noise.lost


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_too_little_noise_is_found_out(relation: str) -> None:
    """Twenty pairs of one key, and a new key beside them or in the place of one: within δ, and above it at 0.8 b."""
    noise = EntropyNoise(privacy(relation, 1, 1, delta=1e-3), 40_000)
    one = ((0, 20),) if relation == "add_remove" else ((0, 21),)
    other = ((0, 20), (1, 1))
    zeta = entropy_mean_deviation(40_000) * np.random.default_rng(1).standard_normal(400)
    assert divergence_of_mass(noise, one, other, zeta, 21) <= noise.lost
    assert divergence_of_mass(noise, one, other, zeta, 21, factor=0.8) > 10.0 * 1e-3


def whole_divergence(noise: EntropyNoise, one: Stream, other: Stream, zeta: Floats, factor: float) -> float:
    """D at ε of noisy N and noisy G together: over every noisy N, with the T it gives."""
    scale = float(noise.total_scale)
    q = math.exp(-1.0 / scale)
    reach = math.ceil(8.0 * scale)
    alpha = math.exp(noise.privacy.epsilon)
    found = [0.0, 0.0]
    for n in range(-reach, reach + total(one) + total(other)):
        odds = [(1.0 - q) / (1.0 + q) * q ** abs(n - total(each)) for each in (one, other)]
        bound = noise.bound(n)
        step, own = float(noise.step(bound)), factor * float(noise.mass_scale)
        moved = zeta - float(noise.centre(bound))
        most = max(abs(mass(each)) + total(each) * float(np.abs(moved).max()) for each in (one, other))
        lowest = -math.ceil(most / step + 10.0 * own)
        laws = [p * released(s, moved, step, own, lowest, -2 * lowest) for p, s in zip(odds, (one, other), strict=True)]
        for i in (0, 1):
            found[i] += float(np.maximum(laws[i] - alpha * laws[1 - i], 0.0).sum())
    return max(found)


@pytest.mark.parametrize(
    ("relation", "most", "changed", "one", "other"),
    [
        ("add_remove", 1, 1, (), ((0, 1),)),
        ("add_remove", 1, 1, ((0, 3),), ((0, 3), (1, 1))),
        pytest.param("add_remove", 2, 2, ((0, 1),), ((0, 1), (1, 2), (2, 2)), marks=pytest.mark.slow),
        pytest.param("replace", 3, 1, ((0, 2), (0, 1)), ((0, 2), (1, 3)), marks=pytest.mark.slow),
    ],
)
def test_the_whole_release_by_brute_force(relation: str, most: int, changed: int, one: Stream, other: Stream) -> None:
    noise = EntropyNoise(privacy(relation, changed, most, epsilon=2.0, delta=1e-2), 40)
    assert whole_divergence(noise, one, other, zetas(40, 200), 1.0) <= 1e-2


# --- many groups ---


def losses(distance: int, scale: float) -> dict[int, float]:
    """In units of 1/scale: distance - 2y with y the noise cut to [0, distance]."""
    q = math.exp(-1.0 / scale)
    odds = [(1.0 - q) / (1.0 + q) * q**y for y in range(1, distance)]
    found = [1.0 / (1.0 + q), *odds, q**distance / (1.0 + q)]
    return {distance - 2 * y: p for y, p in enumerate(found)}


@pytest.mark.parametrize("parts", [(3, 2), (1, 1), (7, 1), (2, 2, 2), (1, 1, 1, 1, 1), (9, 4, 1)])
@pytest.mark.parametrize("scale", [0.7, 3.0, 20.0])
def test_several_outputs_tell_no_more_than_one(parts: tuple[int, ...], scale: float) -> None:
    """The lemma: D_ε of the product against D_ε of one that moves by the sum, at every corner and between."""
    together = {0: 1.0}
    for part in parts:
        product: dict[int, float] = {}
        for (a, p), (b, r) in itertools.product(together.items(), losses(part, scale).items()):
            product[a + b] = product.get(a + b, 0.0) + p * r
        together = product
    alone = losses(sum(parts), scale)

    def curve(law: dict[int, float], at: float) -> float:
        return math.fsum(p * max(-math.expm1((at - loss) / scale), 0.0) for loss, p in law.items())

    for at in np.arange(-sum(parts) - 1.0, sum(parts) + 1.0, 0.25):
        assert curve(together, at) <= curve(alone, at) + 1e-12


def test_pairs_spread_over_groups_move_no_more_than_the_distance() -> None:
    """c pairs in up to `copies` groups of all sizes, at the worst of all ζ and of all errors of computing."""
    rng = np.random.default_rng(8)
    most = 0
    for changed, copies, value in ((3, 3, 1), (3, 2, 3), (10, 10, 2), (4, 1, 2)):
        noise = EntropyNoise(privacy("add_remove", changed, value), 32, copies)
        for _ in range(300):
            groups = int(rng.integers(1, min(copies, changed) + 1))
            cuts = np.sort(rng.choice(np.arange(1, changed), groups - 1, replace=False))
            moved = 0
            for own in np.diff([0, *cuts, changed]).tolist():
                held = int(10 ** rng.uniform(0.0, 15.0))
                one: Stream = ((0, held),)
                other = one + tuple((1 + i, value) for i in range(own))
                bound = total(other)
                step, wrong = noise.step(bound), Fraction(error(noise.reach)) * bound
                off = Fraction(noise.reaches[0]) - noise.centre(bound)
                # Held in one key, so that G is 0; with c new ones it is N ln N - held ln held - c M ln M.
                grown = Fraction(held * math.log1p(own * value / held) + own * value * math.log(bound / value))
                shift = Fraction(int(rng.integers(0, 1_000)), 1_000) * step  # where the grid happens to lie
                here = (shift + held * off - wrong) / step
                there = (shift + bound * off + grown + wrong) / step
                moved += math.floor(there + Fraction(1, 2)) - math.floor(here + Fraction(1, 2))
            assert moved <= noise.distance
            most = max(most, moved / noise.distance)
    assert most > 0.95


# --- the price ---


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize(("changed", "most", "copies"), [(1, 1, 1), (5, 4, 1), (6, 1, 4)])
def test_the_price_is_what_was_asked(relation: str, changed: int, most: int, copies: int) -> None:
    if relation == "replace" and copies > 1:
        return
    for epsilon in (1.0, 0.7, 3.3, 0.01):
        asked = privacy(relation, changed, most, epsilon)
        noise = EntropyNoise(asked, 500, copies)
        charge = noise.charge()
        spent, lost = charge.basic(relation)
        assert spent <= epsilon
        assert lost <= asked.delta
        assert Fraction(noise.mass_epsilon) + Fraction(noise.total_epsilon) <= Fraction(epsilon)
        for law in charge.laws(relation):
            # Laws are rounded up to a lattice of powers of two, on which these ε need not lie.
            assert law.delta(1.02 * epsilon) <= asked.delta * (1.0 + 1e-6)


def test_the_share_of_a_round_epsilon_lies_on_the_lattice() -> None:
    for law in EntropyNoise(privacy("add_remove", 1, 1), 500).charge().laws("add_remove"):
        assert law.delta(1.0 + 1e-9) <= 1e-9 * (1.0 + 1e-6)


# --- computing ---


@pytest.mark.parametrize(("keys", "size", "sketches"), [(1, 50, 40), (2_000, 50, 40), (10, 1_000, 10), (30, 5, 400)])
def test_errors_of_r_move_the_estimate_by_less_than_is_charged(keys: int, size: int, sketches: int) -> None:
    """Every R moved by 2e-15 (1 + |R|), all up, all down or either; the largest error of all, not the mean. Among the
    R are some of the largest there are, which leave their entries no weight."""
    rng = np.random.default_rng([keys, size])
    shares = rng.dirichlet(np.ones(keys)).astype(np.longdouble)
    worst = 0.0
    for _ in range(sketches):
        r = LAW.sample((keys, size), rng).astype(np.longdouble)
        r[0, 0] = -(2.0**63)
        exact = digamma(size - 1) - np.log(np.exp(shares @ r).sum())
        for sign in (np.longdouble(1.0), np.longdouble(-1.0), rng.choice([-1.0, 1.0], r.shape)):
            moved = r + np.longdouble(2e-15) * (1.0 + np.abs(r)) * sign
            worst = max(worst, abs(float(entropy_mean((shares @ moved).astype(np.float64)) - exact)))
    assert worst < 0.25 * error(0.0)


def test_positive_parts_have_no_upper_tail_to_speak_of() -> None:
    """P(P_j > 8) <= e^{-8t} (1 + t^t) at t = e^7, for 2^31 entries: below e^-1000."""
    t = math.exp(7.0)
    assert t * math.log(t) - 8.0 * t + math.log(2.0) + 31.0 * math.log(2.0) < -1_000.0


def test_noise_grows_with_what_computing_costs() -> None:
    noise = EntropyNoise(privacy("add_remove", 1, 1), 1_877)
    for bound in (1, 10**6, 10**10, 10**15):
        exact = 0.5 + 0.5 * math.log(max(bound, 3)) + 0.5 * sum(noise.reaches)
        assert float(noise.change(bound)) == pytest.approx(exact + 2.0 * error(noise.reach) * bound, rel=1e-12)


# --- the release ---


def test_the_same_bits_give_the_same_release() -> None:
    noise = EntropyNoise(privacy("add_remove", 2, 3), 64)
    y = LAW.sample(64, np.random.default_rng(2)) - 3.0
    one, other = (noise.measure(1_000, y, uniform_below(np.random.default_rng(5))) for _ in range(2))
    assert one == other
    assert one.total is not None
    rng = uniform_below(np.random.default_rng(5))
    assert one.total == 1_000 + discrete_laplace.sample(noise.total_scale, rng)
    bound = noise.bound(one.total)
    expected = 1_000 * (Fraction(float(entropy_mean(y))) - noise.centre(bound)) / noise.step(bound)
    assert one.mass == math.floor(expected + Fraction(1, 2)) + discrete_laplace.sample(noise.mass_scale, rng)


def test_from_a_sketch() -> None:
    """Keys that come once to six times. 1,000 entries, a fixed secret: Ĥ is four deviations off in 1 of 10^4."""
    sketch = EntropySketch(1_000, ss.Secret.from_bytes(bytes(range(32))))
    values = np.arange(3_000) % 6 + 1
    sketch.update(np.arange(3_000), values)
    n = int(values.sum())
    truth = math.log(n) - float((values * np.log(values)).sum()) / n
    noise = EntropyNoise(privacy("add_remove", 1, 6), 1_000)
    found = measured_entropy(
        noise.measure(n, sketch.locations(), uniform_below(np.random.default_rng(3))), noise, 0.999
    )
    assert found.low < truth < found.high
    assert abs(found.value - truth) < 4.0 * noise.deviation(n, truth)


def test_an_empty_stream_and_one_beyond_the_cap() -> None:
    noise = EntropyNoise(privacy("add_remove", 1, 1), 64)
    assert noise.measure(0, None, uniform_below(np.random.default_rng(1))).mass is not None
    beyond = noise.measure(noise.largest_total, np.zeros(64), uniform_below(np.random.default_rng(1)))
    assert beyond.mass is None
    found = measured_entropy(beyond, noise, 0.95)
    assert (found.low, found.high) == (0.0, math.log(beyond.bound))
    public = EntropyNoise(privacy("replace", 1, 1), 64)
    assert measured_entropy(public.measure(0, None, uniform_below(np.random.default_rng(1))), public, 0.95).high == 0.0


def covered(noise: EntropyNoise, n: int, entropy: float, releases: int) -> tuple[int, float]:
    """How often H is within its limits, and the deviation of the value."""
    rng, inside, errors = np.random.default_rng([n, noise.size]), 0, []
    for _ in range(releases):
        y = LAW.sample(noise.size, rng) - entropy if n else None
        found = measured_entropy(noise.measure(n, y, uniform_below(rng)), noise, 0.95)
        assert found.low <= found.value <= found.high
        inside += found.low <= entropy <= found.high
        errors.append(found.value - entropy)
    return inside, float(np.sqrt(np.mean(np.square(errors))))


SITUATIONS = {
    "pairs": privacy("add_remove", 1, 1),
    "people": privacy("add_remove", 4, 3),
    "values": privacy("replace", 1, 5),
    "replace": privacy("replace", 1, 1),
}


@pytest.mark.parametrize("n", [0, 1, 10, 1_000, 10**6])
def test_limits_hold_as_often_as_they_say(n: int) -> None:
    """50 releases at 95%: fewer than 40 inside would have a probability below 1e-4. From 1,000 on the error is the
    planned one, or less, within what 50 releases can tell."""
    noise = EntropyNoise(SITUATIONS["pairs"], 200)
    entropy = 0.6 * math.log(max(n, 1))
    inside, deviation = covered(noise, n, entropy, 50)
    assert inside >= 40
    if n >= 1_000:
        assert deviation < 1.45 * noise.deviation(n, entropy)


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 10, 100, 1_000, 10**6])
@pytest.mark.parametrize("name", SITUATIONS)
def test_limits_hold_everywhere(name: str, n: int) -> None:
    """200 releases each, at entropies from none to the largest: fewer than 175 would have a probability below 1e-4;
    where the noise is of the order of N itself limits are approximate, and 170 are asked for."""
    noise = EntropyNoise(SITUATIONS[name], 300)
    for entropy in {0.0, 0.5 * math.log(max(n, 1)), math.log(max(n, 1))}:
        inside, deviation = covered(noise, n, entropy, 200)
        assert inside >= (175 if n >= 1_000 or noise.total_is_public else 170)
        if n >= 1_000:
            assert deviation < 1.25 * noise.deviation(n, entropy)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EntropyNoise(SITUATIONS["pairs"], 64, 0), "copies must .*got 0"),
        (lambda: EntropyNoise(SITUATIONS["values"], 64, 2), "copies must .*got 2"),
        (lambda: EntropyNoise(privacy("add_remove", 1, 1, delta=1e-15), 5), "size must .*got 5"),
        (lambda: EntropyNoise(SITUATIONS["pairs"], 4), "size must .*got 4"),
        (
            lambda: EntropyNoise(SITUATIONS["pairs"], 64).measure(5, np.zeros(63), lambda n: 0),
            "locations must .*got 63",
        ),
        (lambda: EntropyNoise(SITUATIONS["pairs"], 64).measure(5, None, lambda n: 0), "locations must .*got None"),
    ],
)
def test_what_cannot_be_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ss.ArgumentError, match=message):
        call()


def test_nats() -> None:
    assert NoisyMass(3, 10, 8, Fraction(1, 4), Fraction(1)).nats == 2.0
    assert NoisyMass(3, 10, None, Fraction(1, 4), Fraction(1)).nats == 0.0
