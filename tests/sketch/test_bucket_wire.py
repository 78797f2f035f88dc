"""Sketches in buckets as bytes: kind 6, which older readers refuse, read back to the byte, or refused."""

from __future__ import annotations

import hashlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sketch_helpers import SECRET, entries_of

from stablesketch import BlobError, Sketch, StablesketchError
from stablesketch._native import Entries, integers_end
from stablesketch.format.framing import MAGIC, Kind, encode_integer, unframed, unpacked_integers
from stablesketch.sketch.entropy_sketch import EntropySketch
from stablesketch.sketch.entry_law import EntryLaw

HEAD = 12 + 22 + 4  # bytes: magic, version and kind; p, size, resolution and fingerprint; buckets


COUNTS = b"\x01\x01\x01\x07"  # one pair, of value 7
LARGE = b"\x10" + b"\x7f" * 16 + b"\x10" + b"\x88" + b"\x80" * 15  # two totals beyond 2^120 that sum to 7


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()[:8]


def entropy_blob() -> bytes:
    sketch = EntropySketch(8, SECRET, 4)
    sketch.update(["a", "b", "c"], [1, 300, 5])
    return sketch.to_bytes()


def forged(
    p: float = -1.0,
    size: int = 4,
    resolution: int = 54,
    buckets: int = 2,
    integers: bytes = COUNTS + b"\x01\x05" * 4 + b"\x01\x03\x01\x04",
    kind: int = 6,
) -> bytes:
    """Spelt out field by field; the default is accepted: one pair of value 7, four entries, totals 3 and 4."""
    head = struct.pack("<8sHHdIH8sI", MAGIC, 1, kind, p, size, resolution, bytes(8), buckets)
    return sealed(head + integers)


def test_the_layout_is_as_documented() -> None:
    blob = entropy_blob()
    assert struct.unpack("<HH", blob[8:12]) == (1, 6)
    assert struct.unpack("<dIH8sI", blob[12:HEAD]) == (-1.0, 8, 54, SECRET.fingerprint, 4)
    at, integers = HEAD, []
    while at < len(blob) - 8:
        integers.append(int.from_bytes(blob[at + 1 : at + 1 + blob[at]], "little", signed=True))
        at += 1 + blob[at]
    sketch = EntropySketch.from_bytes(blob)
    assert integers == [3, 306, *entries_of(sketch), *sketch.bucket_totals().tolist()]
    assert blob == sealed(blob[:-8])


def test_moments_have_no_totals_and_an_empty_entry_takes_a_byte() -> None:
    assert len(Sketch(0.5, 1_000, SECRET, buckets=50).to_bytes()) == HEAD + 2 + 1_000 + 8
    assert len(EntropySketch(1_000, SECRET, 50).to_bytes()) == HEAD + 2 + 1_000 + 50 + 8


def test_what_reads_sketches_without_buckets_refuses_the_kind() -> None:
    with pytest.raises(BlobError, match="kind 6"):
        unframed(entropy_blob(), Kind.SKETCH)


def test_the_forger_of_these_tests_writes_good_blobs() -> None:
    sketch = EntropySketch.from_bytes(forged())
    assert (sketch.buckets, sketch.total, entries_of(sketch)) == (2, 7, [5] * 4)
    assert sketch.bucket_totals().tolist() == [3, 4]
    assert sketch.to_bytes() == forged()


@pytest.mark.parametrize(
    ("blob", "message"),
    [
        (forged(buckets=1), "1 buckets"),
        (forged(buckets=0), "0 buckets"),
        (forged(buckets=3), "same even number|ends before"),
        (forged(buckets=4, integers=COUNTS + b"\x01\x05" * 4 + b"\x01\x03\x01\x04\0\0"),
        "must divide size = 4 into equal even numbers of entries"),
        (forged(buckets=5), "5 buckets"),
        (forged(buckets=2**32 - 1), "4294967295 buckets"),
        (forged(size=2**22 + 2, buckets=2**21 + 1), "cannot hold"),
        (forged(size=6), "ends before"),
        (forged(resolution=53), "resolution 53 instead of 54"),
        (forged(p=0.5, resolution=53, integers=COUNTS + b"\x01\x05" * 4), "must be 1 for a sketch of entropy"),
        (forged(integers=COUNTS + b"\x01\x05" * 4), "ends before"),
        (forged(integers=COUNTS + b"\x01\x05" * 4 + b"\x01\x03"), "ends before"),
        (forged(integers=COUNTS + b"\x01\x05" * 4 + b"\x01\x03\x01\x05"), "totals of the buckets"),
        (forged(integers=COUNTS + b"\x01\x05" * 4 + b"\x02\x03\0\x01\x04"), "shortest"),
        (forged(integers=COUNTS + b"\x01\x05" * 4 + b"\x01\x03\x01\x04\0"), "1 bytes after"),
        (forged(integers=COUNTS + b"\x01\x05" * 4 + LARGE), "impossible entry"),
        (forged(kind=1), "."),
        (forged(kind=7), "kind 7"),
        (sealed(forged()[: HEAD - 2]), "ends too early"),
    ],
)  # fmt: skip
def test_forged_blobs_are_refused(blob: bytes, message: str) -> None:
    with pytest.raises(BlobError, match=message):
        EntropySketch.from_bytes(blob)


def test_symmetric_entries_in_buckets_are_refused() -> None:
    blob = forged(p=0.5, resolution=53, integers=COUNTS + b"\x01\x05" * 4)
    with pytest.raises(BlobError, match="cannot be used with symmetric entries"):
        Sketch.from_bytes(blob)


def test_a_cut_and_a_flip_are_refused() -> None:
    blob = entropy_blob()
    for length in range(len(blob)):
        with pytest.raises(BlobError):
            EntropySketch.from_bytes(blob[:length])
    for bit in range(8 * len(blob)):
        flipped = bytearray(blob)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(BlobError):
            EntropySketch.from_bytes(bytes(flipped))


@settings(deadline=None, max_examples=200)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, 400), st.sampled_from(["set", "insert", "remove"]), st.integers(0, 255)), max_size=4
    )
)
def test_blobs_with_bytes_set_inserted_and_removed(edits: list[tuple[int, str, int]]) -> None:
    """Either a typed error, or a sketch that writes these very bytes."""
    body = bytearray(entropy_blob()[:-8])
    for at, edit, value in edits:
        at = 20 + at % (len(body) - 20)
        if edit == "set":
            body[at] = value
        elif edit == "insert":
            body.insert(at, value)
        elif len(body) > HEAD:
            del body[at]
    try:
        sketch = EntropySketch.from_bytes(sealed(bytes(body)))
    except StablesketchError:
        return
    assert sketch.to_bytes() == sealed(bytes(body))


@settings(deadline=None)
@given(st.lists(st.integers(-(2**400), 2**400), min_size=1, max_size=8))
def test_the_compiled_core_writes_integers_as_python_does(values: list[int]) -> None:
    entries = Entries(EntryLaw("one-sided", 0.05), len(values))
    entries.load(b"".join(value.to_bytes(4 * entries.digits, "little", signed=True) for value in values))
    packed = b"".join(map(encode_integer, values))
    assert entries.packed() == packed
    assert integers_end(packed, 0, len(values)) == (len(packed), "")
    again = Entries(EntryLaw("one-sided", 0.05), len(values))
    again.load_packed(packed)
    assert again.state() == entries.state()
    assert unpacked_integers(packed) == values


@pytest.mark.parametrize(
    "value", [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**31, -(2**31), 2**32 - 1, 2**63, -(2**63)]
)
def test_integers_at_the_edges_of_a_byte(value: int) -> None:
    entries = Entries(EntryLaw("one-sided", 0.5), 1)
    entries.load(value.to_bytes(4 * entries.digits, "little", signed=True))
    assert entries.packed() == encode_integer(value)
