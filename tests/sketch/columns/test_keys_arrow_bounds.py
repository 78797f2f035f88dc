"""Numbers of an Arrow array that no array can have: refused before a position is computed from them."""

from __future__ import annotations

import struct

import pytest
from arrow_producer import HandMade

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.sketch.columns import Fingerprinter

DATA = bytes(64)
HUGE = [2**63 - 1, 2**62, 2**61, 2**60, 2**59]
WIDTHS = {"w:0": 1, "c": 1, "S": 2, "w:16": 16}  # at least 4 elsewhere
FORMATS = ["c", "S", "i", "l", "L", "u", "U", "z", "Z", "vu", "vz", "w:16", "w:0", "tdD", "tdm", "tsn:", "tss:UTC"]


def buffers_of(format: str) -> list[bytes | None]:
    return [None, DATA, DATA] if format[0] in "uUzZv" else [None, DATA]


@pytest.mark.parametrize("width", [2**31, 2**32, 2**62, 2**62 + 1, 2**63 - 1, 2**63, 2**64, 10**30, -1])
def test_a_width_that_no_row_has_is_refused(fingerprinter: Fingerprinter, width: int) -> None:
    """2^62 bytes a row: the place of the fourth row is beyond 64 bits."""
    made = HandMade(f"w:{width}", 4, [None, DATA], offset=3)
    with pytest.raises(ArgumentTypeError):
        fingerprinter.column(made)
    assert made.released == 1


@pytest.mark.parametrize(("format", "huge"), [(f, h) for f in FORMATS for h in HUGE if h * WIDTHS.get(f, 4) >= 2**62])
def test_a_length_or_offset_beyond_memory_is_refused(fingerprinter: Fingerprinter, format: str, huge: int) -> None:
    for length, offset in ((huge, 0), (1, huge), (huge // 2 + 1, huge // 2 + 1)):
        made = HandMade(format, length, buffers_of(format), offset=offset)
        with pytest.raises(ArgumentTypeError, match="impossible length or offset"):
            fingerprinter.column(made)
        assert made.released == 1


def test_the_widest_rows_there_are_are_addressed_without_overflow(fingerprinter: Fingerprinter) -> None:
    made = HandMade(f"w:{2**31 - 1}", 2**32, [None, DATA])
    with pytest.raises(ArgumentTypeError, match="impossible length or offset"):
        fingerprinter.column(made)


@pytest.mark.parametrize("end", [2**62, 2**63 - 1, -1, -(2**63)])
def test_offsets_that_lead_out_of_memory_are_refused(fingerprinter: Fingerprinter, end: int) -> None:
    for begin in (0, end):
        made = HandMade("U", 1, [None, struct.pack("=qq", begin, end), DATA])
        with pytest.raises(ArgumentError, match="row 1"):
            fingerprinter.column(made).fingerprints(0, 1)


@pytest.mark.parametrize(
    ("length", "index", "offset"),
    [(13, 2**31 - 1, 0), (13, 2**29, 0), (13, -1, 0), (2**31 - 1, 0, 2**31 - 1), (13, 0, -1), (-1, 0, 0)],
)
def test_views_that_lead_out_of_their_buffers_are_refused(
    fingerprinter: Fingerprinter, length: int, index: int, offset: int
) -> None:
    view = struct.pack("=iiii", length, 0, index, offset)
    made = HandMade("vu", 1, [None, view, DATA, struct.pack("=q", len(DATA))])
    with pytest.raises(ArgumentError, match="row 1"):
        fingerprinter.column(made).fingerprints(0, 1)


@pytest.mark.parametrize("count", [2**31, 2**62, -1])
def test_a_number_of_buffers_that_no_array_has_is_refused(fingerprinter: Fingerprinter, count: int) -> None:
    made = HandMade("vu", 1, [None, DATA, DATA])
    made.array.n_buffers = count
    with pytest.raises(ArgumentTypeError, match="buffers"):
        fingerprinter.column(made)


@pytest.mark.parametrize("length", [2**59, 2**58, 2**57])
def test_a_dictionary_longer_than_memory_is_refused(fingerprinter: Fingerprinter, length: int) -> None:
    """Its fingerprints, 8 bytes each, are what does not fit."""
    inner = HandMade("c", length, [None, DATA])
    with pytest.raises(ArgumentTypeError, match="dictionary is longer"):
        fingerprinter.column(HandMade("i", 1, [None, DATA], dictionary=inner))


def test_a_null_count_that_lies_changes_nothing(fingerprinter: Fingerprinter) -> None:
    for count in (-(2**63), -1, 5, 2**63 - 1):
        made = HandMade("l", 2, [b"\x03", struct.pack("=qq", 1, 2)], null_count=count)
        assert fingerprinter.column(made).fingerprints(0, 2).tolist() == [1, 2]
        made = HandMade("l", 2, [b"\x01", struct.pack("=qq", 1, 2)], null_count=count)
        with pytest.raises(ArgumentError, match=r"must not be null \(row 2\)"):
            fingerprinter.column(made).fingerprints(0, 2)
