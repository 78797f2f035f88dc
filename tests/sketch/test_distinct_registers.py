"""Registers that count distinct keys: against a second implementation, as a function of the set, and as bytes."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_update import aes128_encrypt
from sketch_helpers import numbered_secret

from stablesketch import (
    ArgumentError,
    ArgumentTypeError,
    BlobError,
    ForeignBlob,
    MergeError,
    SecretMismatch,
    SecretMissing,
    UnsupportedVersion,
)
from stablesketch._native import registers_add, tier_names
from stablesketch.sketch.distinct import FEWEST, DistinctRegisters, blob_bytes

SECRET = numbered_secret(1)
KEY = bytes(range(100, 116))
GOLDEN = Path(__file__).parents[1] / "data" / "registers" / "words-64.ssk"
WORDS = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question", "naïve", "Ω"]


def counted(*columns: object, registers: int = 256, phantoms: int = 0) -> DistinctRegisters:
    made = DistinctRegisters(registers, SECRET)
    for column in columns:
        made.add(column)
    made.add_phantoms(phantoms)
    return made


def drawn_by(fingerprints: Iterable[int], domain: int, registers: int) -> Iterator[tuple[int, int]]:
    """(register, value) of each key as native/registers.hpp specifies it, in Python's integers."""
    blocks = b"".join(x.to_bytes(8, "little") + bytes(4) + domain.to_bytes(4, "little") for x in fingerprints)
    out = aes128_encrypt(KEY, np.frombuffer(blocks, np.uint8).reshape(-1, 16)).tobytes()
    for at in range(0, len(out), 16):
        first, second = int.from_bytes(out[at : at + 8], "little"), int.from_bytes(out[at + 8 : at + 16], "little")
        zeros = 62 - (second >> 2).bit_length()
        yield first * registers >> 64, 4 * zeros + (second & 3) + 1


def word_of(values: Iterable[int]) -> int:
    """A register from the whole set of its values."""
    held = set(values)
    if not held:
        return 0
    largest = max(held)
    return largest << 24 | sum(1 << (24 - i) for i in range(1, 25) if largest - i in held)


@pytest.mark.parametrize("tier", tier_names())
@pytest.mark.parametrize(("keys", "registers"), [(0, 64), (1, 64), (7, 64), (3000, 64), (1100, 1000)])
def test_every_tier_is_the_specification(tier: str, keys: int, registers: int) -> None:
    rng = np.random.default_rng(keys)
    fingerprints = rng.integers(0, 2**64, keys, dtype=np.uint64)
    fingerprints[: keys // 2] = np.arange(keys // 2)
    domain = 2**31 + 5
    found = np.zeros(registers, np.uint32)
    registers_add(found, fingerprints, KEY, domain, tier)
    sets: list[set[int]] = [set() for _ in range(registers)]
    for register, value in drawn_by(fingerprints.tolist(), domain, registers):
        sets[register].add(value)
    assert found.tolist() == [word_of(values) for values in sets]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40), min_size=1, max_size=4), st.randoms())
def test_the_state_is_a_function_of_the_set_of_keys(columns: list[list[int]], random: object) -> None:
    """Order, repetition, batches and merges leave no trace."""
    together = sorted({key for column in columns for key in column})
    shuffled = together * 2
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    whole = counted(shuffled, registers=FEWEST).to_bytes()
    parts = [counted(column, registers=FEWEST) for column in columns]
    parts[0].merge(parts[0])
    for other in reversed(parts[1:]):
        parts[0].merge(other)
    assert parts[0].to_bytes() == counted(*columns, registers=FEWEST).to_bytes() == whole


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_and_merges_of_many_keys_give_the_same_bytes(threads: int) -> None:
    keys = np.random.default_rng(3).integers(0, 10**6, 300_000)
    whole = counted(keys)
    shared = DistinctRegisters(256, SECRET)
    assert shared.add(keys[::-1], threads=threads) == len(keys)
    first, second = counted(keys[:1000]), counted(keys[1000:])
    first.merge(DistinctRegisters.from_bytes(second.to_bytes()))
    assert shared.to_bytes() == whole.to_bytes() == first.to_bytes()
    assert abs(whole.estimate() / len(np.unique(keys)) - 1.0) < 0.1  # four and a half deviations


def test_phantoms_are_keys_that_no_stream_has() -> None:
    """Once is as twice, and fewer are part of more; the integers of the same numbers are other keys."""
    assert counted(phantoms=300).to_bytes() != counted(range(300)).to_bytes()
    both = counted(range(300), phantoms=300)
    assert both.estimate() == pytest.approx(600, rel=0.1)
    both.add_phantoms(300)
    both.merge(counted(range(300), phantoms=20))
    assert both.to_bytes() == counted(range(300), phantoms=300).to_bytes()
    many = counted(phantoms=70_000)
    many.add_phantoms(65_537)
    assert many.to_bytes() == counted(phantoms=70_000).to_bytes()


def test_another_secret_gives_other_registers() -> None:
    other = DistinctRegisters(256, numbered_secret(2))
    other.add(range(100))
    assert other.to_bytes()[24:-8] != counted(range(100)).to_bytes()[24:-8]
    with pytest.raises(MergeError, match="different secrets"):
        counted().merge(other)
    with pytest.raises(SecretMismatch):
        DistinctRegisters.from_bytes(other.to_bytes(), SECRET)


def test_the_bytes_are_those_of_the_first_version() -> None:
    """Held to a file that is never rewritten: a change of the bytes is a new version of the wire format."""
    made = counted(WORDS, range(-50, 50), registers=64, phantoms=3)
    blob = GOLDEN.read_bytes()
    assert made.to_bytes() == blob
    assert len(blob) == blob_bytes(64) == 288
    read = DistinctRegisters.from_bytes(blob, SECRET)
    read.add(WORDS)
    assert read.to_bytes() == blob
    assert read.estimate() == pytest.approx(113, rel=0.1)


def test_without_the_secret_it_merges_and_estimates() -> None:
    made = counted(range(1000))
    for read in (DistinctRegisters.from_bytes(made.to_bytes()), pickle.loads(pickle.dumps(made))):
        read.merge(counted(range(2000)))
        assert read.estimate() == counted(range(2000)).estimate()
        assert "without its secret" in repr(read)
        with pytest.raises(SecretMissing, match="add needs the secret"):
            read.add([1])
        with pytest.raises(SecretMissing, match="add_phantoms needs"):
            read.add_phantoms(1)


def broken(blob: bytes, at: int, replacement: bytes) -> bytes:
    body = bytearray(blob[:-8])
    body[at : at + len(replacement)] = replacement
    return bytes(body) + hashlib.sha256(body).digest()[:8]


def test_bytes_that_nothing_writes_are_refused() -> None:
    blob = counted(range(1000), registers=64).to_bytes()
    with pytest.raises(ForeignBlob):
        DistinctRegisters.from_bytes(b"registers")
    with pytest.raises(BlobError, match="checksum"):
        DistinctRegisters.from_bytes(blob[:-9] + blob[-8:])
    with pytest.raises(UnsupportedVersion):
        DistinctRegisters.from_bytes(broken(blob, 8, b"\x02"))
    with pytest.raises(BlobError, match="kind 1"):
        DistinctRegisters.from_bytes(broken(blob, 10, b"\x01"))
    with pytest.raises(BlobError, match="cannot be 65 registers"):
        DistinctRegisters.from_bytes(broken(blob, 12, b"\x41"))
    for impossible in (253 << 24, 1, 1 << 24 | 1 << 23, 24 << 24 | 1):
        with pytest.raises(BlobError, match="impossible value of a register"):
            DistinctRegisters.from_bytes(broken(blob, 24, impossible.to_bytes(4, "little")))
    for possible in (0, 252 << 24 | 0xFFFFFF, 1 << 24, 2 << 24 | 1 << 23, 25 << 24 | 1):
        DistinctRegisters.from_bytes(broken(blob, 24, possible.to_bytes(4, "little")))
    with pytest.raises(ArgumentTypeError):
        DistinctRegisters.from_bytes("text")  # type: ignore[arg-type]


def test_arguments_are_checked_and_an_error_changes_nothing() -> None:
    for registers in (63, 2**22 + 1, -1):
        with pytest.raises(ArgumentError, match="registers"):
            DistinctRegisters(registers, SECRET)
    for odd in (True, 64.0, "64"):
        with pytest.raises(ArgumentTypeError, match="registers"):
            DistinctRegisters(odd, SECRET)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="secret"):
        DistinctRegisters(64, bytes(32))  # type: ignore[arg-type]
    made = counted(["ape"])
    before = made.to_bytes()
    for keys in (["bee", None], [1.5], "word"):
        with pytest.raises(ArgumentError, match="keys"):
            made.add(keys)
    with pytest.raises(ArgumentError, match="count"):
        made.add_phantoms(-1)
    with pytest.raises(ArgumentTypeError, match="count"):
        made.add_phantoms(2.0)  # type: ignore[arg-type]
    with pytest.raises(MergeError, match="256 and 64"):
        made.merge(counted(registers=64))
    with pytest.raises(ArgumentTypeError, match="other"):
        made.merge(before)  # type: ignore[arg-type]
    assert made.to_bytes() == before
    with pytest.raises(ValueError, match="registers"):
        registers_add(np.zeros(0, np.uint32), np.zeros(1, np.uint64), KEY, 0, "plain")
    with pytest.raises(ValueError, match="16 bytes"):
        registers_add(np.zeros(1, np.uint32), np.zeros(1, np.uint64), b"short", 0, "plain")
