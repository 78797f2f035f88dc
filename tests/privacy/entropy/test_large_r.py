"""Large R of an entropy sketch: as right as the proof takes them to be, however small the t that they are drawn from.

docs/math-noisy-estimate.md, "Entropy", has the proof. Here t and R are computed again from the random bits, t in whole
numbers and R in 45 digits; and the numbers that the proof uses.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from reference_update import CONTINUATION, ReferenceTable, Variates, entry_bits, sum_entries, variates

from stablesketch import ArgumentError, PlanInfeasible, Privacy, Shannon, plan
from stablesketch._native import Accumulator, Entries, deep_octaves, fine_magnitude, tier_names
from stablesketch.privacy.entropy import shares as entropy_shares
from stablesketch.privacy.entropy.noise import EntropyNoise, error
from stablesketch.sketch.entry_law import ENTROPY
from stablesketch.sketch.entry_values import integer_entries

KEY, DOMAIN, SIZE = bytes(range(7, 23)), 5, 64
LOWER = 1
MOST_OFF = 2.5e-15  # of 1 + |R|: e of the proof
LAYOUTS = [(19_968, 312), (32_000, 2_000), (512, 2), (40_000, 4), (64, 1), (1_822, 1), (10_000, 1)]


# --- R from its bits ---


@cache
def places() -> list[mpf]:
    """e^-A(φ) at φ = kπ/1500; the first counts half. A(φ) = φ cot φ + ln(sin φ/φ)."""
    with mpmath.workdps(45):
        angles = [mpmath.pi * k / 1_500 for k in range(1, 900)]
        return [mpmath.exp(-1), *(mpmath.exp(-a * mpmath.cot(a)) * a / mpmath.sin(a) for a in angles)]


def survival(y: mpf) -> tuple[mpf, mpf]:
    """P(R > y) and the density: the means of e^-w and w e^-w over φ, w = e^{y - A(φ)}."""
    above = density = mpf(0)
    for k, place in enumerate(places()):
        w = mpmath.exp(y) * place
        if w > 220:
            break
        term = mpmath.exp(-w) / (2 if k == 0 else 1) / 1_500
        above, density = above + term, density + w * term
    return above, density


def quantile(half_t: mpf, start: float) -> mpf:
    """The y with P(R > y) = half_t, by Newton's method in ln P, of which nearly nothing is left after two steps."""
    with mpmath.workdps(45):
        y = mpf(start)
        for _ in range(60):
            above, density = survival(y)
            step = (mpmath.log(above) - mpmath.log(half_t)) * above / density
            y += step
            if abs(step) < mpf(10) ** -20:
                return y
        raise AssertionError("no quantile")


def uniform(bits: int, more: int, last: int) -> Fraction:
    """t, all 190 bits of it, in (0, 1)."""
    return Fraction((bits % 2**62) << 128 | more << 64 | last, 2**190)


def draws() -> list[tuple[int, int, int]]:
    """Bits of the lower side, where R is large: m of every length below 2^48, then m = 0 with zeros after it, as many
    as leave t within the table."""
    rng = np.random.default_rng(31)

    def word() -> int:
        return int(rng.integers(2**64, dtype=np.uint64))

    lengths = [word() >> 64 - length | 1 << length - 1 for length in (1, 2, 3, 10, 20, 30, 40, 45, 46, 47, 48)]
    short = [(1 << 62 | m | word() >> 63 << 63, word(), word()) for m in lengths]
    ends = [(1 << 62 | (1 << 48) - 1, 2**64 - 1, 0), (1 << 62, 0, 2**64 - 1), (1 << 62, 1, 0)]
    return [*short, *((1 << 62, word() >> zeros | 1 << 63 - zeros, word()) for zeros in range(0, 64, 3)), *ends]


@pytest.mark.parametrize("bits", draws())
def test_r_is_right_however_small_t_is(bits: tuple[int, int, int]) -> None:
    """A t below 2^-126 is moved up by that much, and R is that of the t it was moved to."""
    t, least = uniform(*bits), Fraction(1, 2**126)
    t += least if t < least else 0
    r = -fine_magnitude(ENTROPY, *bits)
    exact = quantile(mpf(t.numerator) / t.denominator / 2, r)
    assert abs(exact - mpf(r)) <= 0.4 * MOST_OFF * (1.0 + abs(r))


def test_without_more_bits_r_would_be_wrong() -> None:
    """What 62 bits give for the same draws: 2m + 1, in units of 2^-63."""
    worst = 0.0
    for bits in draws():
        r = -fine_magnitude(ENTROPY, *bits)
        coarse = quantile(mpf(2 * (bits[0] % 2**62) + 1) / mpf(2) ** 64, r)
        worst = max(worst, abs(float(coarse) - r) / (1.0 + abs(r)))
    assert worst > 1e12 * MOST_OFF


def test_bits_that_ask_for_no_more() -> None:
    for side in (0, LOWER):
        with pytest.raises(ValueError, match="ask for no more"):
            fine_magnitude(ENTROPY, side << 62 | 1 << 48, 0, 0)
        assert math.isfinite(fine_magnitude(ENTROPY, side << 62 | (1 << 48) - 1, 0, 0))
    assert deep_octaves(ENTROPY) == (0, 63)


@cache
def keys_with_large_r() -> list[int]:
    """Keys with a draw on the lower side whose m is below 2^48, among 4,000: one draw in 2^15 is one. Fixed bits."""
    keys = np.random.default_rng(32).integers(0, 2**64, 4_000, dtype=np.uint64)
    bits = entry_bits(KEY, DOMAIN, keys.tolist(), SIZE)
    small = (bits & np.uint64(0x7FFF << 48)) == np.uint64(1 << 62)
    return [int(key) for key in keys[small.any(axis=1)]]


@pytest.mark.parametrize("tier", tier_names())
@pytest.mark.parametrize("weight", [1, 3_000, -7, 2**40])
def test_every_tier_continues_them(tier: str, weight: int) -> None:
    keys = keys_with_large_r()
    assert len(keys) > 3
    weights = np.full(len(keys), weight)
    accumulator, entries = Accumulator(ENTROPY, SIZE, KEY, DOMAIN, 0, tier), Entries(ENTROPY, SIZE)
    accumulator.add(np.array(keys, np.uint64), weights, False)
    entries.absorb([accumulator])
    table, found = ReferenceTable.of(ENTROPY), integer_entries(entries)
    assert found == sum_entries(table, variates(KEY, DOMAIN, keys, SIZE, ENTROPY), weights.tolist())
    bits, more = (entry_bits(KEY, domain, keys, SIZE) for domain in (DOMAIN, DOMAIN ^ CONTINUATION))
    assert found != sum_entries(table, Variates.of(bits, more), weights.tolist())  # of a law that is not continued


# --- what the proof takes ---


def test_a_t_beyond_the_table_hardly_ever_matters() -> None:
    """One draw in 2^127 is moved, from t up to t + 2^-126, and R with it: by 2 ln 2 times its slope on average. By
    Markov's inequality an entry is off by more than 2^-42 with a probability of at most 2^-90, on either stream."""
    with mpmath.workdps(45):
        end = mpf(2) ** -126
        uniforms = [(k + mpf("0.5")) / 12 for k in range(12)]
        moved = [quantile(end * u / 2, 5.5) - quantile(end * (1 + u) / 2, 5.5) for u in uniforms]
        mean = float(sum(moved) / 12)
    assert mean == pytest.approx(2.0 * math.log(2.0) / 87.0, rel=0.05)
    assert 0.4 * entropy_shares._BEYOND_TABLE < 2.0 * 2.0**-127 * mean * 2.0**42 < entropy_shares._BEYOND_TABLE


@pytest.mark.parametrize("z", [0.0, 1.0, 50.0, 500.0])
def test_eta_has_room_for_all_of_it(z: float) -> None:
    """R, and y_j rounded to two units; the exponential mean; and 2^-42 for a t beyond the table."""
    assert (MOST_OFF + 5e-16) * (100.0 + z) + 4e-14 + 1e-15 * z + 2.0**-42 < error(z)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0, 50.0])
@pytest.mark.parametrize("delta", [1e-4, 1e-9, 1e-15])
@pytest.mark.parametrize(("size", "buckets"), LAYOUTS)
def test_delta_covers_what_can_go_wrong(size: int, buckets: int, delta: float, epsilon: float) -> None:
    """What is charged holds 2^-89 for each entry and, for every number of keys, AES: 2 (blocks)²/2^129."""
    noise = EntropyNoise(Privacy(epsilon, delta), size, buckets=buckets)
    entries = size // buckets
    blocks = noise.most_keys * ((entries + 1) // 2 + (buckets > 1))
    charged = [one.delta for one in noise.charge().charges if one.kind == "other"]
    assert charged == [noise.mishap]
    assert entries * 2.0**-89 + 2.0 * float(blocks) ** 2 / 2.0**129 <= noise.mishap < 0.05 * delta
    assert noise.most_keys == 2**53 or noise._repeated(2 * noise.most_keys) > delta / 32.0
    assert noise.largest_total == noise.most_keys  # every pair counts 1
    assert noise.charge().basic("add_remove") == (epsilon, delta)


def test_totals_of_large_values_are_released() -> None:
    """A billion rows of 1,500 bytes, say, at a small δ."""
    noise = EntropyNoise(Privacy(1.0, 1e-14, max_value=1_500), 19_968, buckets=312)
    assert noise.largest_total == 1_500 * noise.most_keys > 10**9 * 1_500
    assert EntropyNoise(Privacy(1.0, 1e-9, max_value=2**40), 64).largest_total == 2**53


def test_a_delta_that_covers_short_streams_alone_is_refused() -> None:
    with pytest.raises(ArgumentError, match="delta must be larger for 64 entries per key"):
        EntropyNoise(Privacy(1.0, 1e-24), 64)
    with pytest.raises(PlanInfeasible, match=r"covers totals of up to 2,147,483,648"):
        plan(Shannon(), Privacy(1.0, 1e-15, pairs=10**10), mechanism="sketch")


def test_where_values_vary_a_delta_must_cover_more_keys_than_streams_have() -> None:
    """A total of large values does not show how many keys there are, so nothing would notice too many."""
    with pytest.raises(ArgumentError, match=r"it would cover streams of up to 2,147,483,648 keys"):
        EntropyNoise(Privacy(1.0, 1e-15, max_value=2), 19_968, buckets=312)
    assert EntropyNoise(Privacy(1.0, 1e-15), 19_968, buckets=312).most_keys == 2**31
    assert EntropyNoise(Privacy(1.0, 1e-14, max_value=2), 19_968, buckets=312).most_keys >= 2**32


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-9), (50.0, 1e-9), (1.0, 1e-15), (50.0, 1e-15)])
def test_noise_grows_with_the_logarithm_of_the_total(epsilon: float, delta: float) -> None:
    noise = EntropyNoise(Privacy(epsilon, delta), 19_968, buckets=312)
    grown = [float(noise.change(10 * total) - noise.change(total)) for total in (10**4, 10**6, 10**8)]
    assert grown == pytest.approx([math.log(10) / 2] * 3, rel=3e-3)
