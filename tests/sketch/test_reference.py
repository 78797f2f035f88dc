"""Every tier of the compiled core gives what the plain reference gives, to the last bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_update import (
    ReferenceTable,
    aes128_encrypt,
    entry_bits,
    reference_entries,
    sum_entries,
    uniforms,
    variates,
)
from sketch_helpers import SECRET, compiled, entries_of, numbered_secret

from stablesketch import Sketch
from stablesketch._native import aes128_encrypt as native_aes128_encrypt
from stablesketch._native import tier_names
from stablesketch.sketch.entry_law import EntryLaw

KEY = bytes(range(16))
TIERS = tier_names()
INDICES = [0.05, 0.0731, 0.1, 0.25, 0.3333, 0.5, 0.77, 0.9, 0.999, 1.0, 1.3, 1.99, 2.0]
SIZES = [1, 2, 3, 7, 8, 50, 63]


def reference(
    p: float, size: int, key: bytes, fingerprints: np.ndarray, weights: list[int], domain: int = 0
) -> list[int]:
    law = EntryLaw("symmetric", p)
    return sum_entries(ReferenceTable.of(law), variates(key, domain, fingerprints, size, law), weights)


def folded(fingerprints: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Equal keys added up, in Python integers: the reference is slow, and by linearity this changes nothing."""
    totals: dict[int, int] = defaultdict(int)
    for fingerprint, weight in zip(fingerprints.tolist(), weights.tolist(), strict=True):
        totals[fingerprint] += weight
    return np.array(list(totals), np.uint64), list(totals.values())


def random_fingerprints(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(0, 2**64, count, dtype=np.uint64)


# FIPS 197, appendices B and C.1, and the first blocks of AESAVS's known answers for a zero key and a zero block.
VECTORS = [
    ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
    ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("00000000000000000000000000000000", "f34481ec3cc627bacd5dc3fb08f273e6", "0336763e966d92595a567cc9ce537f5e"),
    ("00000000000000000000000000000000", "80000000000000000000000000000000", "3ad78e726c1ec02b7ebfe92b23d9ec34"),
    ("10a58869d74be5a374cf867cfb473859", "00000000000000000000000000000000", "6d251e6944b051e04eaa6fb4dbf78465"),
    ("80000000000000000000000000000000", "00000000000000000000000000000000", "0edd33d3c621e546455bd8ba1418bec8"),
]


@pytest.mark.parametrize(("key", "block", "encrypted"), VECTORS)
def test_aes_known_answers(key: str, block: str, encrypted: str) -> None:
    rows = np.frombuffer(bytes.fromhex(block), np.uint8).reshape(1, 16)
    assert aes128_encrypt(bytes.fromhex(key), rows).tobytes().hex() == encrypted
    assert native_aes128_encrypt(bytes.fromhex(key), bytes.fromhex(block)).hex() == encrypted


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_aes_of_anything(key: bytes, block: bytes) -> None:
    rows = np.frombuffer(block, np.uint8).reshape(1, 16)
    assert aes128_encrypt(key, rows).tobytes() == native_aes128_encrypt(key, block)


def test_the_block_is_fingerprint_pair_domain() -> None:
    """The layout of native/entries.hpp, spelt out: eight, four and four bytes, little-endian, two entries a block."""
    fingerprint, domain = 0x0123456789ABCDEF, 0xFEEDBEEF
    bits = entry_bits(KEY, domain, [fingerprint], 5)
    for pair in range(3):
        block = fingerprint.to_bytes(8, "little") + pair.to_bytes(4, "little") + domain.to_bytes(4, "little")
        encrypted = native_aes128_encrypt(KEY, block)
        halves = [int.from_bytes(encrypted[:8], "little"), int.from_bytes(encrypted[8:], "little")]
        assert bits[0, 2 * pair : 2 * pair + 2].tolist() == halves[: 5 - 2 * pair]


def test_a_small_uniform_has_a_full_mantissa() -> None:
    """By exact fractions. Upper side only: bit 62 is 0."""
    for bits, more, t in (
        (1 << 48, 2**64 - 1, 2**49 + 1),  # just large enough to do without
        (2**48 - 1, 0, 2**49 - 2 + Fraction(1, 2**14)),
        (2**47 + 1, 1 << 63, 2**48 + 3 + Fraction(1, 2**14)),
        (5, 3 << 62, 11 + Fraction(1, 2) + Fraction(1, 2**59)),
        (1 << 63 | 1, 2**64 - 1, 4),  # rounded up to the next octave
        (0, 1 << 63, 1),
        (0, 3 << 62, Fraction(3, 2)),
        (0, 1 << 62, Fraction(3, 2)),  # 1/2, which is below the lowest octave, and moved up
        (1 << 62, 1 << 63, 1),  # the lower side is not continued
        (1 << 62 | 5, 1 << 63, 11),
    ):
        (drawn,) = uniforms(np.array([bits], np.uint64), np.array([more], np.uint64))
        assert drawn == float(t)


def test_continued_or_not_t_is_uniform() -> None:
    """Small m come up so rarely that they are made: the mean and the variance of t/2^50 for m uniform below 2^49.

    Five standard errors are exceeded with probability 6e-7 each; the seed is fixed.
    """
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 2**49, 200_000, dtype=np.uint64)
    t = uniforms(bits, rng.integers(0, 2**64, bits.size, dtype=np.uint64)) / 2.0**50
    assert abs(t.mean() - 0.5) < 5 * (1 / 12 / bits.size) ** 0.5
    assert abs(t.var() - 1 / 12) < 5 * (1 / 180 / bits.size) ** 0.5


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("p", INDICES)
def test_a_sketch_is_its_reference(p: float, size: int) -> None:
    """From the secret to the bytes on the wire: updates, deletes, values of every magnitude."""
    rng = np.random.default_rng([int(1e6 * p), size])
    secret = numbered_secret(size)
    keys = rng.integers(-(2**63), 2**63 - 1, 40)
    values = np.concatenate([np.ones(10), 2.0 ** rng.uniform(0, 53, 30)]).astype(np.int64)
    sketch = Sketch(p, size, secret, law="symmetric")
    sketch.update(keys, values)
    sketch.delete(keys[5:15], values[5:15])
    weights = [0 if 5 <= i < 15 else value for i, value in enumerate(values.tolist())]
    # The integers from -2^63 to 2^63 - 1 are their own fingerprints.
    assert entries_of(sketch) == reference_entries(
        EntryLaw("symmetric", p), size, secret, keys.view(np.uint64), weights
    )


WEIGHTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "ones": lambda rng, n: np.ones(n, np.int64),
    "small": lambda rng, n: rng.integers(1, 100, n),
    "signed": lambda rng, n: rng.integers(1, 100, n) * rng.choice([-1, 1], n),
    "negative": lambda rng, n: -rng.integers(1, 1000, n),
    "around 2^23": lambda rng, n: 2**23 + rng.integers(-2, 3, n),
    "around 2^31": lambda rng, n: (2**31 + rng.integers(-2, 3, n)) * rng.choice([-1, 1], n),
    "around 2^46": lambda rng, n: (2**46 + rng.integers(-2, 3, n)) * rng.choice([-1, 1], n),
    "largest": lambda rng, n: np.full(n, 2**53),
    "largest, negative": lambda rng, n: np.full(n, -(2**53)),
    "all magnitudes": lambda rng, n: (2.0 ** rng.uniform(0, 53, n)).astype(np.int64) * rng.choice([-1, 1], n),
}


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("p", [0.05, 0.5, 1.0])
def test_weights_of_every_size(p: float, kind: str, tier: str) -> None:
    rng = np.random.default_rng(list(kind.encode()))
    for size, count in ((1, 3), (7, 300), (50, 30)):
        fingerprints, weights = random_fingerprints(rng, count), WEIGHTS[kind](rng, count)
        expected = reference(p, size, KEY, fingerprints, weights.tolist())
        assert compiled(EntryLaw("symmetric", p), size, KEY, fingerprints, weights, tier=tier) == expected


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("p", INDICES)
def test_every_index_and_size(p: float, size: int, tier: str) -> None:
    rng = np.random.default_rng([int(1e6 * p), size])
    fingerprints = random_fingerprints(rng, 70)
    assert compiled(EntryLaw("symmetric", p), size, KEY, fingerprints, tier=tier) == reference(
        p, size, KEY, fingerprints, [1] * 70
    )


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 15, 16, 17, 255, 256, 257, 511, 513, 1025])
def test_every_length_of_a_batch(count: int, tier: str) -> None:
    """Whatever the width of its vectors and the length of its blocks, a tier treats the last keys like the first."""
    rng = np.random.default_rng(count)
    fingerprints, weights = random_fingerprints(rng, count), rng.integers(1, 2**25, count)
    expected = reference(0.3333, 3, KEY, fingerprints, weights.tolist())
    assert compiled(EntryLaw("symmetric", 0.3333), 3, KEY, fingerprints, weights, tier=tier) == expected


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("distinct", [1, 2, 5, 300])
def test_equal_keys_with_totals_beyond_64_bits(distinct: int, tier: str) -> None:
    """Keys are added up before they cost anything; their totals must not be cut to the width of a machine word."""
    rng = np.random.default_rng(distinct)
    fingerprints = random_fingerprints(rng, distinct)[rng.integers(0, distinct, 5_000 * min(distinct, 5))]
    for weights in (np.full(len(fingerprints), 2**53), rng.integers(1, 2**53, len(fingerprints)) * -1):
        keys, totals = folded(fingerprints, weights)
        assert max(map(abs, totals)) > 2**63 or distinct > 5
        expected = reference(0.5, 4, KEY, keys, totals)
        assert compiled(EntryLaw("symmetric", 0.5), 4, KEY, fingerprints, weights, tier=tier) == expected


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("fingerprint", [0, 1, 2**63, 2**64 - 1])
def test_fingerprints_that_look_like_nothing(fingerprint: int, tier: str) -> None:
    """The key 0 is a key, in whatever way a table of keys marks a place as free."""
    fingerprints = np.array([fingerprint, fingerprint, 5, fingerprint], np.uint64)
    weights = np.array([1, 2, 1, 10])
    expected = reference(0.5, 3, KEY, fingerprints, weights.tolist())
    assert compiled(EntryLaw("symmetric", 0.5), 3, KEY, fingerprints, weights, tier=tier) == expected


@pytest.mark.parametrize("tier", TIERS)
def test_a_long_skewed_batch(tier: str) -> None:
    """Enough rows for any fold to fill, to overflow and to be by-passed; few enough distinct keys for the reference."""
    rng = np.random.default_rng(8)
    rare, common = random_fingerprints(rng, 12_000), random_fingerprints(rng, 40)
    fingerprints = np.concatenate([rare, common[rng.integers(0, 40, 60_000)], rare[::-1]])
    rng.shuffle(fingerprints)
    weights = rng.integers(1, 2**30, len(fingerprints))
    keys, totals = folded(fingerprints, weights)
    assert compiled(EntryLaw("symmetric", 0.2), 2, KEY, fingerprints, weights, tier=tier) == reference(
        0.2, 2, KEY, keys, totals
    )


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_that_threads_share(threads: int) -> None:
    rng = np.random.default_rng(9)
    keys = rng.integers(-500, 500, 300_000)
    values = rng.integers(1, 2**53, 300_000)
    sketch = Sketch(0.5, 3, SECRET, law="symmetric")
    sketch.update(keys, values, threads=threads)
    distinct, totals = folded(keys.view(np.uint64), values)
    assert entries_of(sketch) == reference_entries(EntryLaw("symmetric", 0.5), 3, SECRET, distinct, totals)


# (fingerprint, domain, entry, bits): what AES under KEY makes of the block of this fingerprint, domain and entry is
# `bits`. They were found by decrypting blocks that hold `bits` until the number of the pair came out below 32. No
# random test would ever meet them: the outermost and innermost X, t rounded up to 1, to the next octave or to even.
CORNERS = [
    (0x14575ECEFCE19588, 0xA003A675, 42, 0x0000000000000000),
    (0x7E1BD1F667574656, 0xDD0D936F, 53, 0x8000000000000001),
    (0x6EFB3072241D5E3C, 0x52C19E13, 27, 0x3FFFFFFFFFFFFFFF),
    (0x07A835B4512876CF, 0xDBC2F9BC, 62, 0xBFFFFFFFFFFFFF00),
    (0xD7502DF541E2D4E0, 0xEFEA42D2, 18, 0x3FFFFFFFFFFFFEFF),
    (0x3668276642E1C404, 0x0BC18AC9, 61, 0x8000008000000000),
    (0x3D1308874C1BC5CC, 0x68C94DD9, 43, 0x0000007FFFFFFFFF),
    (0xBE2236C21B1B69D5, 0x569AE388, 42, 0x8010000000000000),
    (0x7E3653C7FE150D6A, 0xCB841F2C, 46, 0x0010000000000001),
    (0xD7C81C13AFEA49DD, 0xF1C96FCE, 53, 0x8020000000000001),
    (0x7883A8F32464EDCB, 0x00194467, 57, 0x2000000000000000),
    (0x606DB734C3431157, 0x9995A001, 8, 0x9FFFFFFFFFFFFFFF),
    (0xAE1DC2B291D501E7, 0x02F50816, 18, 0x1FFFFFFFFFFFFEFF),
    (0x42762D46B8C2F2D4, 0xD70F9AE2, 23, 0x8000000000100000),
    (0x35B736CC7FDCDBB3, 0x9CA6BD28, 31, 0x0155555555555555),
    (0x9D60862BFABF36A9, 0x30A6F460, 58, 0xC000000000000000),
    (0x8E2AB443D92F2773, 0xA52284C3, 58, 0x4000000000000001),
    (0x6FF8053B9C958A58, 0xF659B7C5, 45, 0xFFFFFFFFFFFFFFFF),
    (0x82DD45B09601A57B, 0xA96EB94A, 3, 0x7FFFFFFFFFFFFF00),
    (0xA848EF863DC6850E, 0x10D570CD, 6, 0xFFFFFFFFFFFFFEFF),
    (0x417BB4A830FA1DB1, 0x017D9574, 32, 0x4000008000000000),
    (0x48EF1AFB16A29EDB, 0x77AF8264, 15, 0xC000007FFFFFFFFF),
    (0x1287B1DE3E86ACC6, 0x37E1D23B, 33, 0x4010000000000000),
    (0x5DC91E99C4A11822, 0x978F5161, 26, 0xC010000000000001),
    (0xE8C763E1BAE19E37, 0x88045913, 14, 0x4020000000000001),
    (0x61C2F9CFE4731DDA, 0xDABF78AA, 61, 0xE000000000000000),
    (0x7F54D7F5ACBCC455, 0x23B4F553, 47, 0x5FFFFFFFFFFFFFFF),
    (0x9517B0B29B3CA52F, 0xA224DD1E, 44, 0xDFFFFFFFFFFFFEFF),
    (0xC11F8FAE3A01FCF3, 0x86E8B516, 32, 0x4000000000100000),
    (0xBF14631DFF29144E, 0x99EBACF6, 1, 0xC155555555555555),
    (0x6E0C401FD66C23FD, 0x6E666ADC, 36, 0x0000FFFFFFFFFFFF),
    (0x910F09F9C5C03D8D, 0x2470CC4A, 14, 0x8001000000000000),
    (0xAA19F00166FCDE2E, 0xC6A7E338, 12, 0x0000000000000000),
    (0x80B07F012A8350C1, 0xC420841D, 16, 0x8000000000000002),
    (0x929CDB268659E4C5, 0x3A79C465, 36, 0x0000800000000001),
    (0x76E500027CC6B783, 0x54004E74, 2, 0x4000FFFFFFFFFFFF),
    (0x3D3558AF8D0A9EDC, 0xDC57F595, 20, 0x0000FFFF00000000),
    (0x1083740D3E80A076, 0x639A3EBC, 42, 0x8000FFFFFFFFFFF0),
]


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("p", [0.05, 0.1, 0.5, 0.9, 1.0])
def test_bits_that_chance_would_not_find(p: float, tier: str) -> None:
    for fingerprint, domain, entry, bits in CORNERS:
        one = np.array([fingerprint], np.uint64)
        assert int(entry_bits(KEY, domain, one, 64)[0, entry]) == bits
        for weight in (1, -3, 2**23, -(2**53)):
            expected = reference(p, 64, KEY, one, [weight], domain)
            assert (
                compiled(EntryLaw("symmetric", p), 64, KEY, one, np.array([weight]), domain=domain, tier=tier)
                == expected
            )


@settings(deadline=None)
@given(
    p=st.floats(0.05, 1.0).map(lambda p: round(p, 2)),
    size=st.integers(1, 70),
    key=st.binary(min_size=16, max_size=16),
    domain=st.integers(0, 2**32 - 1),
    pairs=st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(-(2**53), 2**53).filter(bool)), max_size=20),
    tier=st.sampled_from(TIERS),
)
def test_anything(p: float, size: int, key: bytes, domain: int, pairs: list[tuple[int, int]], tier: str) -> None:
    fingerprints = np.array([fingerprint for fingerprint, _ in pairs], np.uint64)
    weights = np.array([weight for _, weight in pairs], np.int64)
    expected = reference(p, size, key, fingerprints, weights.tolist(), domain)
    assert compiled(EntryLaw("symmetric", p), size, key, fingerprints, weights, domain=domain, tier=tier) == expected
