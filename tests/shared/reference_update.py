"""The whole update again, in plain numpy and Python integers: what the compiled entries must equal, bit for bit.

It says in readable form what native/entries.hpp and native/variate.hpp specify, and
the tests hold every compiled tier to it:

    fingerprint, entry → AES-128 → 64 bits → t → table → |X| as a float → integer multiple of 2^-resolution → exact sum

The rows of the table are the compiled ones (`_native.table`): tests hold those to the law itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stablesketch._native import deep_octaves, deep_rows
from stablesketch._native import table as native_table
from stablesketch.numbers.arrays import Array
from stablesketch.secret import Secret
from stablesketch.sketch.entry_law import EntryLaw
from stablesketch.sketch.projection import STREAM

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

CAUCHY = EntryLaw("symmetric", 1.0)


def reference_entries(
    law: EntryLaw,
    size: int,
    secret: Secret,
    fingerprints: Sequence[int],
    weights: Iterable[int],
    domain: int = STREAM,
    buckets: int = 1,
) -> list[int]:
    """Entry j is sum_k weight_k X(fingerprint_k, j), in units of 2^-resolution; weights are integers of either sign.

    With buckets there are g = size/buckets entries for each, and those of bucket b, entries bg to bg + g - 1, are the g
    entries of a sketch of its keys alone.
    """
    key = secret.derive(f"entries/p={law.number.hex()}", 16)
    if buckets == 1:
        return sum_entries(ReferenceTable.of(law), variates(key, domain, fingerprints, size, law), weights)
    held: list[tuple[list[int], list[int]]] = [([], []) for _ in range(buckets)]
    for bucket, fingerprint, weight in zip(
        buckets_of(key, domain, fingerprints, buckets), fingerprints, weights, strict=True
    ):
        held[bucket][0].append(int(fingerprint))
        held[bucket][1].append(int(weight))
    entries: list[int] = []
    for some, own in held:
        drawn = variates(key, domain, some, size // buckets, law)
        entries += sum_entries(ReferenceTable.of(law), drawn, own)
    return entries


def buckets_of(key: bytes, domain: int, fingerprints: Sequence[int], buckets: int) -> list[int]:
    """floor(word · buckets / 2^64), word the first 64 bits of the block 0 in a domain of its own."""
    words = entry_bits(key, domain ^ BUCKET, fingerprints, 1)[:, 0]
    return [int(word) * buckets >> 64 for word in words]


def sum_entries(table: ReferenceTable, drawn: Variates, weights: Iterable[int]) -> list[int]:
    """The column sums of weight × X, X from what was drawn, (keys, entries). Python integers: nothing can overflow."""
    sums = [0] * drawn.t.shape[1]
    for weight, row in zip(weights, multiples(table, drawn), strict=True):
        for j, x in enumerate(row):
            sums[j] += int(weight) * x
    return sums


# --- 64 bits, and where they do not suffice 64 more, to X ---


@dataclass(frozen=True, eq=False)
class Variates:
    """What determines X: its sign, the side of the median (0 above, 1 below), and t, uniform in (0, 2^63]."""

    negative: NDArray[np.bool_]
    side: NDArray[np.intp]
    t: Array

    @classmethod
    def of(cls, bits: Words, more: Words, last: Words | None = None, law: EntryLaw = CAUCHY) -> Variates:
        side = (bits >> np.uint64(62)).astype(np.intp) & 1
        return cls((bits >> np.uint64(63)).astype(np.bool_), side, uniforms(bits, more, last, law))


def uniforms(bits: Words, more: Words, last: Words | None = None, law: EntryLaw = CAUCHY) -> Array:
    """t, in units of 2^-63: the lower 62 bits are m, and t = 2m + 1, rounded to a float.

    On the upper side, where a small t is a large X, an m below 2^48 is continued by the 64 bits `more`, so that t has a
    full mantissa: t = 2m + 2 more/2^64, cut to 63 significant bits, the last of them set, then rounded. Where m = 0 a
    unit is added if that leaves t below 1.

    Of the law of entropy an m below 2^48 is continued on both sides, of a one-sided law one below 2^52. Where the table
    of this law has deep octaves, d of them on that side, and m = 0, the bits `last` follow those of `more`: t goes down
    to 2^-d, and that much is added to what is below.
    """
    t = ((bits << np.uint64(1) | np.uint64(1)) & np.uint64(2**63 - 1)).astype(np.int64).astype(np.float64)
    coarse = {"one-sided": 0x3FF0 << 48, "entropy": 0x3FFF << 48, "symmetric": 0x7FFF << 48}[law.kind]
    deep = deep_octaves(law)
    for where in np.argwhere(bits & np.uint64(coarse) == 0):
        at = tuple(where)
        m, side = int(bits[at]) & (2**62 - 1), int(bits[at]) >> 62 & 1
        exact = m << 129 | int(more[at]) << 65 | (0 if last is None else int(last[at]) << 1)  # t 2^128
        least = 1 << 128 - deep[side]
        if exact < least:
            exact += least
        cut = exact.bit_length() - 63
        t[at] = np.ldexp(float(exact >> cut | 1), cut - 128)
    return t


@dataclass(frozen=True, eq=False)
class ReferenceTable:
    """The rows of one law, with what is needed to read them: `rows[side, row]` are the coefficients of one polynomial.

    `deep[row]` are those of the octaves of t below 1, upper side, then lower side, from the smallest t on.
    """

    rows: Array
    bin_bits: int
    resolution: int
    shift: int
    deep: Array
    deep_octaves: tuple[int, int] = (0, 0)
    symmetric: bool = True

    @classmethod
    def of(cls, law: EntryLaw) -> ReferenceTable:
        """The table of this law; unless it is symmetric, rows hold X with its sign."""
        return cls(*native_table(law), deep_rows(law), deep_octaves(law), symmetric=law.kind == "symmetric")


def position(bin_bits: int, t: Array) -> tuple[NDArray[np.intp], Array]:
    """The row of the table that t falls into, and the place s in [-1/2, 1/2) within it.

    The binary exponent of t and the first `bin_bits` bits of its mantissa are the row; the rest of it is s + 1/2. Of a
    t below 1 the row is negative, -1 for the one next to it.
    """
    raw = t.view(np.uint64)
    row = (raw >> np.uint64(52 - bin_bits)).astype(np.int64) - (1023 << bin_bits)
    rest = (raw << np.uint64(bin_bits)) & np.uint64(2**52 - 1)
    one_to_two = (rest | np.uint64(0x3FF0_0000_0000_0000)).view(np.float64)
    return row.astype(np.intp), one_to_two - 1.5


def magnitudes(table: ReferenceTable, side: int | NDArray[np.intp], t: Array) -> Array:
    """|X| 2^-shift by a polynomial of degree 7. The order of the operations is part of the definition, and each of them
    rounds once."""
    row, s = position(table.bin_bits, t)
    coefficients = table.rows[side, np.maximum(row, 0)]
    if np.any(row < 0):
        ends = np.cumsum(table.deep_octaves)[side] << table.bin_bits
        coefficients = np.where((row < 0)[..., np.newaxis], table.deep[np.minimum(ends + row, ends - 1)], coefficients)
    c = np.moveaxis(coefficients, -1, 0)
    s2 = s * s
    low = (c[0] + c[1] * s) + (c[2] + c[3] * s) * s2
    high = (c[4] + c[5] * s) + (c[6] + c[7] * s) * s2
    total: Array = low + high * (s2 * s2)
    return total


def multiples(table: ReferenceTable, drawn: Variates) -> list[list[int]]:
    """X 2^resolution rounded to the nearest integer, ties to even.

    A float is an integer of 53 bits times a power of two. If that power is one of at least 2^0 the multiple is exact
    as it stands; else the float, scaled, is below 2^53 and numpy rounds it.
    """
    fraction, exponent = np.frexp(magnitudes(table, drawn.side, drawn.t))
    whole = (fraction * 2.0**53).astype(np.int64)
    power = exponent.astype(np.int64) - 53 + table.shift + table.resolution
    small = power < 0
    # frexp and this ldexp undo each other: far from the least float, so exactly.
    whole[small] = np.rint(np.ldexp(fraction[small], exponent[small] + table.shift + table.resolution)).astype(np.int64)
    power[small] = 0
    signed = np.where(drawn.negative & table.symmetric, -whole, whole)
    return [
        [integer << left for integer, left in zip(*row, strict=True)]
        for row in zip(signed.tolist(), power.tolist(), strict=True)
    ]


# --- the pseudorandom function ---


# Turned in the domain of the block whose bits continue another's, and of the one whose bits continue those.
CONTINUATION, LAST_CONTINUATION = 1 << 31, 3 << 30
# And of the block that says the bucket of a key.
BUCKET = 1 << 30


def variates(key: bytes, domain: int, fingerprints: Sequence[int], size: int, law: EntryLaw = CAUCHY) -> Variates:
    """What is drawn for each fingerprint (rows) and entry (columns) of a table of this law."""
    more = entry_bits(key, domain ^ CONTINUATION, fingerprints, size)
    last = entry_bits(key, domain ^ LAST_CONTINUATION, fingerprints, size) if any(deep_octaves(law)) else None
    return Variates.of(entry_bits(key, domain, fingerprints, size), more, last, law)


def entry_bits(key: bytes, domain: int, fingerprints: Sequence[int], size: int) -> Words:
    """64 bits for each fingerprint (rows) and entry (columns).

    One block of AES-128 for two entries: the fingerprint (8 bytes), the number of the pair of entries (4 bytes) and the
    domain (4 bytes), little-endian; the two halves of what comes out are the bits of the two entries.
    """
    keys, pairs = len(fingerprints), (size + 1) // 2
    blocks = np.zeros((keys, pairs), dtype=[("fingerprint", "<u8"), ("pair", "<u4"), ("domain", "<u4")])
    blocks["fingerprint"] = np.array([int(f) for f in fingerprints], np.uint64)[:, np.newaxis]
    blocks["pair"] = np.arange(pairs, dtype=np.uint32)
    blocks["domain"] = domain
    encrypted = aes128_encrypt(key, blocks.view(np.uint8).reshape(-1, 16))
    return encrypted.view("<u8").astype(np.uint64).reshape(keys, 2 * pairs)[:, :size]


def aes128_encrypt(key: bytes, blocks: Bytes) -> Bytes:
    """AES-128 (FIPS 197) of each row of 16 bytes. Byte i of a block is row i % 4, column i // 4 of the state."""
    round_keys = _expand_key(key)
    state = blocks ^ round_keys[0]
    for round_key in round_keys[1:-1]:
        state = _mix_columns(_SBOX[state][:, _SHIFT_ROWS]) ^ round_key
    encrypted = _SBOX[state][:, _SHIFT_ROWS] ^ round_keys[-1]
    return np.ascontiguousarray(encrypted)


def _times2(a: int) -> int:
    """a times x in GF(2^8), the polynomials modulo x^8 + x^4 + x^3 + x + 1."""
    return (a << 1) ^ (0x11B if a & 0x80 else 0)


def _times(a: int, b: int) -> int:
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = _times2(a), b >> 1
    return product


def _substitute(a: int) -> int:
    """The S-box: the inverse of a in GF(2^8) (0 for 0), its bits mixed by an affine map."""
    b = next((b for b in range(256) if _times(a, b) == 1), 0)
    five = [(b << k | b >> (8 - k)) & 0xFF for k in range(5)]
    return five[0] ^ five[1] ^ five[2] ^ five[3] ^ five[4] ^ 0x63


_SBOX = np.array([_substitute(a) for a in range(256)], np.uint8)
_TIMES2 = np.array([_times2(a) for a in range(256)], np.uint8)
_SHIFT_ROWS = np.array([(i + 4 * (i % 4)) % 16 for i in range(16)])  # row r moves r columns to the left


def _mix_columns(state: Bytes) -> Bytes:
    """Each column times the circulant matrix of (2, 3, 1, 1)."""
    a = state.reshape(-1, 4, 4)
    after, second, third = (np.roll(a, -k, axis=2) for k in (1, 2, 3))
    mixed: Bytes = _TIMES2[a] ^ _TIMES2[after] ^ after ^ second ^ third
    return mixed.reshape(-1, 16)


def _expand_key(key: bytes) -> list[Bytes]:
    """The eleven round keys."""
    words = [np.frombuffer(key[i : i + 4], np.uint8) for i in range(0, 16, 4)]
    constant = 1
    for i in range(4, 44):
        word = words[i - 1]
        if i % 4 == 0:
            word = _SBOX[np.roll(word, -1)] ^ np.array([constant, 0, 0, 0], np.uint8)
            constant = _times2(constant)
        words.append(words[i - 4] ^ word)
    return [np.concatenate(words[i : i + 4]) for i in range(0, 44, 4)]
