"""The wire format: what is written is read, what was written must stay readable, and nothing else is let in."""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sketch_helpers import SECRET, entries_of
from wire_fixtures import EXPECTED, FIXTURES, FOLDER, describe, make, read

from stablesketch import (
    BlobError,
    ForeignBlob,
    Sketch,
    StablesketchError,
    UnsupportedVersion,
)
from stablesketch.format.framing import MAGIC, encode_integer
from stablesketch.sketch import wire

PREFIX, HEADER, CHECKSUM = 12, 22, 8  # bytes: magic, version and kind; p, size, resolution and fingerprint; the end


def small_blob() -> bytes:
    sketch = Sketch(0.5, 3, SECRET, law="symmetric")
    sketch.update(["a", "b"], [1, 300])
    return sketch.to_bytes()


def sealed(body: bytes) -> bytes:
    """`body` with a checksum that fits: what a forger, or a bug in another writer, would send."""
    return body + hashlib.sha256(body).digest()[:CHECKSUM]


def forged(
    p: float = 0.5,
    size: int = 1,
    resolution: int = 53,
    fingerprint: bytes = bytes(8),
    integers: bytes = b"\x01\x01\x01\x01\x01\x05",
    version: int = 1,
    kind: int = 1,
    magic: bytes = MAGIC,
) -> bytes:
    """A blob spelt out field by field, by struct and not by the encoder; the default is one that is accepted."""
    head = struct.pack("<8sHH", magic, version, kind) + struct.pack("<dIH8s", p, size, resolution, fingerprint)
    return sealed(head + integers)


# --- what is written ---


def test_the_layout_is_as_documented() -> None:
    """Read by hand: magic, version, kind, p, size, resolution, fingerprint; then integers; then the checksum."""
    blob = small_blob()
    assert blob[:8] == b"\x89SSK\r\n\x1a\n"
    assert struct.unpack("<HH", blob[8:12]) == (1, 1)
    assert struct.unpack("<dIH", blob[12:26]) == (0.5, 3, 53)
    assert blob[26:34] == SECRET.fingerprint
    assert blob[34:36] == b"\x01\x02"  # 2 pairs
    assert blob[36:39] == b"\x02\x2d\x01"  # total 301
    at, entries = 39, []
    for _ in range(3):
        length = blob[at]
        entries.append(int.from_bytes(blob[at + 1 : at + 1 + length], "little", signed=True))
        at += 1 + length
    assert entries == entries_of(Sketch.from_bytes(blob))
    assert blob[at:] == hashlib.sha256(blob[:at]).digest()[:8]


@settings(deadline=None)
@given(
    pairs=st.integers(-(2**200), 2**200),
    total=st.integers(-(2**200), 2**200),
    entries=st.lists(st.integers(-(2**1500), 2**1500), min_size=1, max_size=9),
)
def test_any_frame_comes_back(pairs: int, total: int, entries: list[int]) -> None:
    frame = wire.Frame(0.05, len(entries), 111, bytes(range(8)), pairs, total, b"".join(map(encode_integer, entries)))
    assert wire.decode(wire.encode(frame)) == frame


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (1, "0101"),
        (-1, "01ff"),
        (127, "017f"),
        (128, "028000"),
        (-128, "0180"),
        (-129, "027fff"),
        (255, "02ff00"),
        (2**15 - 1, "02ff7f"),
        (2**15, "03008000"),
    ],
)
def test_integers_take_the_fewest_bytes(value: int, encoded: str) -> None:
    blob = wire.encode(wire.Frame(0.5, 1, 53, bytes(8), value, 0, encode_integer(0)))
    assert blob[PREFIX + HEADER : -CHECKSUM].hex() == encoded + "0000"


def test_bytearrays_and_memoryviews_are_read_too() -> None:
    blob = small_blob()
    for held in (bytearray(blob), memoryview(blob), memoryview(bytearray(blob))):
        assert Sketch.from_bytes(held).to_bytes() == blob  # type: ignore[arg-type]


# --- what was written before ---


@pytest.mark.parametrize("name", FIXTURES)
def test_old_blobs_are_read(name: str) -> None:
    blob = (FOLDER / f"{name}.ssk").read_bytes()
    sketch = read(name, blob, SECRET)
    expected, found = json.loads(EXPECTED.read_text())[name], describe(sketch)
    moment = expected.pop("geometric_mean")
    assert found.pop("geometric_mean") == (None if moment is None else pytest.approx(moment, rel=1e-9))
    assert found == expected


@pytest.mark.parametrize("name", FIXTURES)
def test_format_1_is_written_as_it_was(name: str) -> None:
    """The same stream under the same secret gives the same bytes as when the fixture was made, on any machine."""
    blob = (FOLDER / f"{name}.ssk").read_bytes()
    assert make(name).to_bytes() == blob
    assert read(name, blob).to_bytes() == blob


@pytest.mark.parametrize("name", [name for name, (p, _, _) in FIXTURES.items() if p < 1.0])
def test_an_old_blob_takes_updates_and_merges(name: str) -> None:
    old = read(name, (FOLDER / f"{name}.ssk").read_bytes(), SECRET)
    new = make(name)
    old.update(["later"], [9])
    new.update(["later"], [9])
    assert old.to_bytes() == new.to_bytes()
    assert (old + new).pairs == 2 * new.pairs


def test_no_fixture_is_left_out() -> None:
    names = {path.stem for path in FOLDER.glob("*.ssk") if not path.stem.startswith("collector-")}
    assert names == set(FIXTURES) == set(json.loads(EXPECTED.read_text()))


# --- how long it is ---


def bytes_an_entry(sketch: Sketch) -> float:
    """All of the blob, header and checksum included, shared out among the entries."""
    return len(sketch.to_bytes()) / sketch.size


def test_thirty_two_bytes_an_entry_at_a_billion_distinct_keys() -> None:
    """At p = 1/2 the law of an entry depends on the stream through F alone, and a billion pairs of value 1 have F at
    most 10^9, when all keys are distinct. One key of total 10^18 has that F too, so its entries have the very same law.

    Below 2^64 the scale and 53 bits behind the point make 15 bytes; the tail |X| > 2^k has probability 2^{-k/2}. With
    fixed secrets nothing here is left to chance; with random ones 32 bytes would be exceeded once in 2^60.
    """
    sketch = Sketch(0.5, 500, SECRET, law="symmetric")
    sketch.update(["one"] * 111, 2**53)
    sketch.update(["one"], 10**18 - 111 * 2**53)
    assert sketch.total == 10**18
    assert bytes_an_entry(sketch) < 19


def test_thirty_two_bytes_an_entry_with_many_keys_doubled_beyond_a_billion_pairs() -> None:
    """A hundred thousand distinct keys, merged with itself until more than 10^9 pairs are in."""
    sketch = Sketch(0.5, 200, SECRET, law="symmetric")
    sketch.update(np.arange(100_000))
    while sketch.pairs < 10**9:
        sketch.merge(sketch)
    assert bytes_an_entry(sketch) < 19


def test_thirty_two_bytes_an_entry_with_the_largest_values() -> None:
    """A billion pairs of the largest value, 2^53: the scale grows by 53 bits, and there is still room."""
    sketch = Sketch(0.5, 200, SECRET, law="symmetric")
    sketch.update(np.arange(100_000), 2**53)
    while sketch.pairs < 10**9:
        sketch.merge(sketch)
    assert sketch.total > 2**82
    assert bytes_an_entry(sketch) < 26


def test_an_empty_sketch_takes_a_byte_an_entry() -> None:
    assert len(Sketch(0.5, 1_000, SECRET, law="symmetric").to_bytes()) == PREFIX + HEADER + 2 + 1_000 + CHECKSUM


# --- what is refused ---


def test_a_blob_cut_anywhere_is_refused() -> None:
    blob = small_blob()
    for length in range(len(blob)):
        with pytest.raises(BlobError):
            Sketch.from_bytes(blob[:length])
    with pytest.raises(BlobError, match="truncated"):
        Sketch.from_bytes(blob[:-1])
    with pytest.raises(BlobError):
        Sketch.from_bytes(blob + b"\0")


def test_a_flip_of_any_bit_is_refused() -> None:
    blob = small_blob()
    for bit in range(8 * len(blob)):
        flipped = bytearray(blob)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(BlobError):
            Sketch.from_bytes(bytes(flipped))


def test_later_versions_are_refused_as_such() -> None:
    for version in (2, 3, 255, 256, 65535):
        with pytest.raises(UnsupportedVersion, match=f"wire format {version}.*reads only up to 1.*Upgrade"):
            Sketch.from_bytes(forged(version=version))
    # Nothing else is known of a later version, not even where its checksum is.
    with pytest.raises(UnsupportedVersion):
        Sketch.from_bytes(MAGIC + b"\x02\x00whatever it is")


@pytest.mark.parametrize(
    "foreign",
    [
        b"",
        b"\0",
        b"hello",
        b"\x89PNG\r\n\x1a\n" + bytes(50),
        small_blob()[1:],
        b"\x89SSK\n\x1a\n" + small_blob()[8:],  # carried as text: the carriage return is gone
        small_blob().replace(b"\x89", b"\xef\xbf\xbd", 1),  # decoded and encoded again
        small_blob().hex().encode(),
    ],
)
def test_foreign_bytes_are_refused_as_such(foreign: bytes) -> None:
    with pytest.raises(ForeignBlob, match="not a sketch"):
        Sketch.from_bytes(foreign)


def test_the_forger_of_these_tests_writes_good_blobs() -> None:
    """So that what follows is refused for the reason given, and not for another."""
    sketch = Sketch.from_bytes(forged())
    assert (sketch.p, sketch.size, sketch.pairs, sketch.total, entries_of(sketch)) == (0.5, 1, 1, 1, [5])


@pytest.mark.parametrize(
    ("blob", "message"),
    [
        (forged(version=0), "version 0"),
        (forged(kind=2), "kind 2"),
        (forged(kind=0), "kind 0"),
        (forged(p=0.049), "p must .*got 0.049"),
        (forged(p=1.0000000000000002), "p = 1.0000000000000002"),
        (forged(p=float("nan")), "p must .*got nan"),
        (forged(p=float("inf")), "p must .*got inf"),
        (forged(p=-0.5), "one-sided sketch of p = 0.5 has resolution 53 instead of 56"),
        (forged(p=-0.049), "p must .*got 0.049"),
        (forged(p=-1.0), "entropy"),
        (forged(p=-0.9995), "p must .*got 0.9995"),
        (forged(size=0, integers=b"\x01\x01\x01\x01"), "size must .*got 0"),
        (forged(resolution=52), "resolution 52 instead of 53"),
        (forged(p=0.05), "resolution 53 instead of 111"),
        (forged(size=2), "ends before"),
        (forged(size=2**31), "cannot hold"),
        (forged(size=2**32 - 1), "cannot hold"),
        (forged(integers=b"\x01\x01\x01\x01\x01\x05\x00"), "1 bytes after"),
        (forged(integers=b"\x01\x01\x01\x01\x02\x05"), "ends in the middle of"),
        (forged(integers=b"\x01\x01\x01\x01\xff\x05"), "ends in the middle of"),
        (forged(integers=b"\x01\x01\x01\x01"), "ends before"),
        (forged(integers=b""), "ends before|cannot hold"),
        (forged(integers=b"\x01\x01\x01\x01\x02\x05\x00"), "shortest"),
        (forged(integers=b"\x01\x01\x01\x01\x02\xff\xff"), "shortest"),
        (forged(integers=b"\x01\x01\x01\x01\x01\x00"), "shortest"),
        (forged(integers=b"\x02\x01\x00\x01\x01\x01\x05"), "shortest"),
        (forged(integers=b"\x01\x01\x02\x01\x00\x01\x05"), "shortest"),
        (forged(integers=b"\x01\x01\x01\x01\xff" + b"\x7f" * 255), "impossible entry"),
        (forged(integers=b"\x01\x01\x01\x01\xff" + b"\x80" * 255), "impossible entry"),
        (sealed(forged()[:PREFIX]), "ends too early"),
        (sealed(forged()[: PREFIX + HEADER]), "ends before|cannot hold"),
    ],
)
def test_forged_blobs_are_refused_though_their_checksum_fits(blob: bytes, message: str) -> None:
    with pytest.raises(BlobError, match=message) as error:
        Sketch.from_bytes(blob)
    assert type(error.value) is BlobError


def test_a_blob_that_claims_many_entries_costs_no_memory() -> None:
    """The size is held against the length of the blob before anything is allocated for it."""
    for size in (1_000, 10**6, 2**31 - 1, 2**32 - 1):
        with pytest.raises(BlobError, match="cannot hold"):
            Sketch.from_bytes(forged(size=size))


# --- whatever comes in ---


def survives(blob: bytes) -> None:
    """Either a typed error, or a sketch that writes exactly these bytes: nothing in between."""
    try:
        sketch = Sketch.from_bytes(blob)
    except StablesketchError:
        return
    assert sketch.to_bytes() == blob


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200))
def test_random_bytes(blob: bytes) -> None:
    survives(blob)
    survives(MAGIC + blob)
    survives(sealed(MAGIC + b"\x01\x00\x01\x00" + blob))
    survives(sealed(forged()[: PREFIX + HEADER] + blob))


BLOBS = [
    (FOLDER / f"{name}.ssk").read_bytes() for name in ("words-0.05", "every-type-0.3333", "owed-0.9", "nothing-0.5")
]


@settings(deadline=None, max_examples=300)
@given(
    blob=st.sampled_from(BLOBS),
    edits=st.lists(
        st.tuples(st.integers(0, 400), st.sampled_from(["set", "insert", "remove"]), st.integers(0, 255)), max_size=4
    ),
)
def test_blobs_with_bytes_set_inserted_and_removed(blob: bytes, edits: list[tuple[int, str, int]]) -> None:
    """With a checksum that fits, so that the fuzz gets past it."""
    body = bytearray(blob[:-CHECKSUM])
    for at, edit, value in edits:
        # The p of a blob picks a table of some megabytes, kept for good: 8 bytes of it are left alone.
        at = PREFIX + 8 + at % (len(body) - PREFIX - 8) if at % 5 else at % PREFIX
        if edit == "set":
            body[at] = value
        elif edit == "insert" and at >= PREFIX:
            body.insert(at, value)
        elif at >= PREFIX + 8 and len(body) > PREFIX + HEADER:
            del body[at]
    survives(bytes(body))
    survives(sealed(bytes(body)))


@settings(deadline=None, max_examples=50)
@given(first=st.sampled_from(BLOBS), second=st.sampled_from(BLOBS), at=st.integers(0, 300), to=st.integers(0, 300))
def test_blobs_spliced(first: bytes, second: bytes, at: int, to: int) -> None:
    survives(first[:at] + second[to:])
    survives(sealed(first[:-CHECKSUM][:at] + second[:-CHECKSUM][to:]))
