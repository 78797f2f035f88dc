"""Arrow beyond what libraries usually hand out: random slices, uncounted bitmaps, producers that break the rules."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from arrow_producer import FailingStream, HandMade, extension_metadata
from hypothesis import given
from hypothesis import strategies as st
from key_reference import Fingerprints, fingerprint, hashed

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.sketch.columns import Fingerprinter

PLAIN_TYPES = [
    pa.int8(),
    pa.uint16(),
    pa.int64(),
    pa.uint64(),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.binary(5),
    pa.date32(),
    pa.timestamp("ms"),
    pa.timestamp("us", "Europe/Paris"),
]


def random_values(rng: random.Random, type: pa.DataType, count: int) -> list[object]:
    """Few distinct values, so that dictionaries repeat, of lengths on both sides of a view's twelve bytes."""
    import datetime

    def one() -> object:
        i = rng.randrange(20)
        if pa.types.is_integer(type):
            return i if type != pa.uint64() else i * 2**59
        if pa.types.is_date(type):
            return datetime.date(1960 + i, 2, 3)
        if pa.types.is_timestamp(type):
            return datetime.datetime(1960 + i, 2, 3, 4, 5, 6, tzinfo=datetime.UTC if type.tz else None)
        if pa.types.is_fixed_size_binary(type):
            return bytes([i] * 5)
        text = "é" * (i % 11) + "x" * i
        return text if "string" in str(type) else text.encode()

    return [one() for _ in range(count)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("type", PLAIN_TYPES, ids=str)
def test_random_slices_of_random_chunks(fingerprinter: Fingerprinter, type: pa.DataType, seed: int) -> None:
    """A model of rows as a Python list (None is null) against the column, asked for random ranges."""
    rng = random.Random(f"{type} {seed}")
    rows: list[object] = []
    chunks = []
    encoded = rng.random() < 0.4
    for _ in range(rng.randrange(1, 6)):
        values = random_values(rng, type, rng.randrange(0, 200))
        if rng.random() < 0.3:
            values = [None if rng.random() < 0.02 else value for value in values]
        array = pa.array(values, type)
        array = array.dictionary_encode() if encoded else array
        start = rng.randrange(0, len(values) + 1)
        stop = rng.randrange(start, len(values) + 1)
        chunks.append(array[start:stop])
        rows += values[start:stop]
    column = fingerprinter.column(pa.chunked_array(chunks))
    assert len(column) == len(rows)
    for _ in range(30):
        start = rng.randrange(0, len(rows) + 1)
        stop = rng.randrange(start, len(rows) + 1)
        wanted = rows[start:stop]
        if None in wanted:
            with pytest.raises(ArgumentError, match=rf"must not be null \(row {start + wanted.index(None) + 1}\)"):
                column.fingerprints(start, stop)
        else:
            known = {key: fingerprint(key) for key in set(wanted)}
            assert column.fingerprints(start, stop).tolist() == [known[key] for key in wanted]


@given(st.lists(st.text(max_size=30)), st.data())
def test_any_text_in_any_slices(fingerprints: Fingerprints, texts: list[str], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=4)))
    type = data.draw(st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]))
    array = pa.array(texts, type)
    pieces = [array[a:b] for a, b in zip([0, *cuts], [*cuts, len(texts)], strict=True)]
    assert fingerprints(pa.chunked_array(pieces)) == [fingerprint(text) for text in texts]


def int64s(*values: int) -> bytes:
    return struct.pack(f"={len(values)}q", *values)


def int32s(*values: int) -> bytes:
    return struct.pack(f"={len(values)}i", *values)


def long_view(length: int, buffer: int, offset: int) -> bytes:
    return struct.pack("=i4sii", length, b"????", buffer, offset)


@pytest.mark.parametrize("null_count", [-1, 0, 1])
@pytest.mark.parametrize("offset", [0, 3, 64])
def test_the_bitmap_is_read_whatever_the_count_says(fingerprinter: Fingerprinter, null_count: int, offset: int) -> None:
    rows = 200
    bits = np.ones(offset + rows, np.uint8)
    bits[offset + 131] = 0
    bitmap = np.packbits(bits, bitorder="little").tobytes()
    made = HandMade("l", rows, [bitmap, int64s(*range(offset + rows))], null_count=null_count, offset=offset)
    column = fingerprinter.column(made)
    assert column.fingerprints(0, 131).tolist() == list(range(offset, offset + 131))
    assert column.fingerprints(132, 200).tolist() == list(range(offset + 132, offset + 200))
    with pytest.raises(ArgumentError, match=r"must not be null \(row 132\)"):
        column.fingerprints(7, 200)


def test_an_array_is_released_exactly_once(fingerprinter: Fingerprinter) -> None:
    made = HandMade("l", 2, [None, int64s(1, 2)])
    column = fingerprinter.column(made)
    view = column.fingerprints(0, 2)
    del column
    assert made.released == 0  # the view still looks at its memory
    assert view.tolist() == [1, 2]
    del view
    assert made.released == 1


def test_an_array_that_is_refused_is_released_too(fingerprinter: Fingerprinter) -> None:
    for made in (HandMade("g", 1, [None, int64s(0)]), HandMade("l", 1, [None])):
        with pytest.raises(ArgumentTypeError):
            fingerprinter.column(made)
        assert made.released == 1


def test_an_array_consumed_already_is_refused(fingerprinter: Fingerprinter) -> None:
    made = HandMade("l", 1, [None, int64s(1)])
    fingerprinter.column(made)
    with pytest.raises(ArgumentTypeError, match="consumed already"):
        fingerprinter.column(made)


def test_what_is_no_capsule_is_refused(fingerprinter: Fingerprinter) -> None:
    class Liar:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return "a stream"

    class Empty:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return ()

    for producer in (Liar(), Empty()):
        with pytest.raises(ArgumentTypeError, match="cannot be read"):
            fingerprinter.column(producer)


def test_an_error_inside_a_stream_is_passed_on(fingerprinter: Fingerprinter) -> None:
    for message, shown in ((b"damaged file", "code 5: damaged file"), (None, "code 5")):
        failing = FailingStream(message)
        with pytest.raises(ArgumentTypeError, match=shown):
            fingerprinter.column(failing)
        assert failing.released == 1


def test_a_table_is_refused_before_any_batch_is_asked_for(fingerprinter: Fingerprinter) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        raise AssertionError("asked for a batch")
        yield

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
    with pytest.raises(ArgumentTypeError, match="tables"):
        fingerprinter.column(reader)


BROKEN = {
    "too few buffers": HandMade("l", 1, [None]),
    "too many buffers": HandMade("l", 1, [None, int64s(1), None]),
    "no offsets": HandMade("u", 1, [None, None, b""]),
    "no data": HandMade("l", 1, [None, None]),
    "no views": HandMade("vu", 1, [None, None, int64s()]),
    "negative length": HandMade("l", -1, [None, int64s(1)]),
    "negative offset": HandMade("l", 1, [None, int64s(1)], offset=-1),
    "huge length": HandMade("l", 2**62, [None, int64s(1)]),
    "children": HandMade("l", 1, [None, int64s(1)], n_children=1),
    "dictionary only in the schema": HandMade(
        "l", 1, [None, int64s(0)], dictionary=HandMade("l", 1, [None, int64s(1)]), claims_dictionary=True
    ),
    "broken dictionary": HandMade("l", 1, [None, int64s(0)], dictionary=HandMade("l", 1, [None])),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_arrays_are_refused_when_opened(fingerprinter: Fingerprinter, name: str) -> None:
    with pytest.raises(ArgumentTypeError, match="cannot be read"):
        fingerprinter.column(BROKEN[name])


MALFORMED = {
    "offsets that fall": HandMade("u", 2, [None, int32s(0, 3, 1), b"abc"]),
    "negative offsets": HandMade("U", 2, [None, int64s(0, 0, -5), b"abc"]),
    "offsets without data": HandMade("u", 2, [None, int32s(0, 0, 3), None]),
    "view in no buffer": HandMade("vu", 2, [None, bytes(16) + long_view(13, 1, 0), b"x" * 20, int64s(20)]),
    "view of a negative buffer": HandMade("vu", 2, [None, bytes(16) + long_view(13, -1, 0), b"x" * 20, int64s(20)]),
    "view past the end": HandMade("vz", 2, [None, bytes(16) + long_view(13, 0, 8), b"x" * 20, int64s(20)]),
    "view before the start": HandMade("vz", 2, [None, bytes(16) + long_view(13, 0, -1), b"x" * 20, int64s(20)]),
    "view of negative length": HandMade("vz", 2, [None, bytes(16) + long_view(-1, 0, 0), b"x" * 20, int64s(20)]),
    "index past the dictionary": HandMade("l", 2, [None, int64s(0, 1)], dictionary=HandMade("l", 1, [None, int64s(1)])),
    "negative index": HandMade("c", 2, [None, b"\0\xff"], dictionary=HandMade("l", 1, [None, int64s(1)])),
    "huge index": HandMade("L", 2, [None, int64s(0, -1)], dictionary=HandMade("l", 1, [None, int64s(1)])),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_rows_are_refused_when_read(fingerprinter: Fingerprinter, name: str) -> None:
    column = fingerprinter.column(MALFORMED[name])
    if name != "offsets that fall":  # whose row 0 reads "abc", within its data
        assert column.fingerprints(0, 1).size == 1
    with pytest.raises(ArgumentError, match="row 2 points outside its buffers"):
        column.fingerprints(0, 2)


def test_empty_rows_need_no_data_buffer(fingerprints: Fingerprints) -> None:
    assert fingerprints(HandMade("u", 2, [None, int32s(0, 0, 0), None])) == [hashed("text", b"")] * 2
    assert fingerprints(HandMade("w:0", 2, [None, None])) == [hashed("bytes", b"")] * 2
    assert fingerprints(HandMade("u", 0, [None, None, None])) == []


def test_extension_types_are_known_by_name(fingerprinter: Fingerprinter, fingerprints: Fingerprints) -> None:
    uuids = HandMade("w:16", 1, [None, bytes(16)], metadata=extension_metadata("arrow.uuid"))
    assert fingerprints(uuids) == [hashed("uuid", bytes(16))]
    for format, name in (("w:8", "arrow.uuid"), ("w:16", "arrow.other"), ("l", "my.money")):
        made = HandMade(format, 1, [None, bytes(16)], metadata=extension_metadata(name))
        with pytest.raises(ArgumentTypeError, match=f"{name}.*storage"):
            fingerprinter.column(made)


def test_uuids_in_a_dictionary_are_uuids(fingerprints: Fingerprints) -> None:
    dictionary = HandMade("w:16", 1, [None, bytes(16)], metadata=extension_metadata("arrow.uuid"))
    assert fingerprints(HandMade("c", 2, [None, b"\0\0"], dictionary=dictionary)) == [hashed("uuid", bytes(16))] * 2


@pytest.mark.parametrize("format", ["w:", "w:x", "w:-1", "w:3x", "ts", "tsx:", "tsn", "", "zz", "ll"])
def test_formats_that_do_not_exist_are_refused(fingerprinter: Fingerprinter, format: str) -> None:
    with pytest.raises(ArgumentTypeError, match="cannot be values of this type"):
        fingerprinter.column(HandMade(format, 1, [None, bytes(64)]))


def test_unaligned_buffers_are_read_and_not_viewed(fingerprints: Fingerprints) -> None:
    raw = pa.py_buffer(b"x" + int64s(1, -2, 3))[1:]
    array = pa.Array.from_buffers(pa.int64(), 3, [None, raw])
    assert fingerprints(array) == [fingerprint(key) for key in (1, -2, 3)]
