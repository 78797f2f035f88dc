"""The one frame of all blobs: what is written is read, and everything else is refused in the same words for all."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stablesketch import BlobError, ForeignBlob, UnsupportedVersion
from stablesketch.format.framing import FRAME_BYTES, NAMES, Kind, Reader, encode_integer, framed, unframed

KEPT = sorted((Path(__file__).parents[1] / "data").rglob("*.ssk"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_kept_blob_is_its_fields_in_a_frame(path: Path) -> None:
    """Of sketches, collectors and registers of every version so far."""
    blob = path.read_bytes()
    kind, reader = unframed(blob, *Kind)
    assert reader.left == len(blob) - FRAME_BYTES
    assert framed(kind, reader.rest()) == blob


@given(st.sampled_from(Kind), st.lists(st.binary(max_size=20)))
def test_what_is_framed_is_opened(kind: Kind, fields: list[bytes]) -> None:
    found, reader = unframed(framed(kind, *fields), kind)
    assert found is kind
    assert [reader.take(len(field)) for field in fields] == fields
    reader.end()


@pytest.mark.parametrize("kind", Kind)
def test_what_is_wrong_is_said_of_what_it_should_be(kind: Kind) -> None:
    what, blob = NAMES[kind][0], framed(kind, b"fields")
    for foreign in (b"", b"PNG", blob[1:], blob.hex().encode()):
        with pytest.raises(ForeignBlob, match=f"not {what}: unrecognised header"):
            unframed(foreign, kind)
    for cut in (blob[:5], blob[:-1], blob[:15], blob[:-7] + b"x" + blob[-7:]):
        with pytest.raises(BlobError, match=f"{what} (is truncated|does not match)"):
            unframed(cut, kind)
    with pytest.raises(UnsupportedVersion, match=f"{what} has wire format 2.*Upgrade"):
        unframed(blob[:8] + b"\x02" + blob[9:], kind)  # before its checksum, of which a later version may know better
    body = blob[:8] + b"\0\0" + blob[10:-8]
    with pytest.raises(BlobError, match="version 0"):
        unframed(body + hashlib.sha256(body).digest()[:8], kind)
    for other in Kind:
        if other != kind:
            with pytest.raises(BlobError, match=f"expected .* kind {kind} .{what}, read by {NAMES[kind][1]}"):
                unframed(blob, other)


def test_a_kind_that_nobody_knows() -> None:
    with pytest.raises(BlobError, match=r"expected a sketch, got a blob of kind 99 \(unknown\)"):
        unframed(framed(99, b""), Kind.SKETCH, Kind.BUCKETED_SKETCH)  # type: ignore[arg-type]


def test_a_reader_takes_fields_and_says_where_they_end() -> None:
    number = struct.Struct("<H")
    body = number.pack(3) + b"abc" + b"".join(map(encode_integer, (5, -300, 0))) + b"rest"
    reader = Reader("a thing", body)
    assert reader.sized(number) == b"abc"
    assert reader.counts() == (5, -300)
    assert reader.integer() == 0
    with pytest.raises(BlobError, match="4 bytes after the end of a thing"):
        reader.end()
    with pytest.raises(BlobError, match="a thing ends too early: corrupt data"):
        reader.take(5)
    assert reader.rest() == b"rest"
    reader.end()
    with pytest.raises(BlobError, match="a thing ends before its last integer"):
        reader.integer()


@pytest.mark.parametrize("counts", [(2**256 + 1, 0), (0, -(2**256) - 1)])
def test_counts_that_no_stream_has(counts: tuple[int, int]) -> None:
    with pytest.raises(BlobError, match="impossible number of pairs or total in a thing"):
        Reader("a thing", b"".join(map(encode_integer, counts))).counts()
