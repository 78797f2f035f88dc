"""What each key becomes, one type after another: a tutorial of docs/keys.md."""

from __future__ import annotations

import datetime
import enum
import uuid
import zoneinfo

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from key_reference import Fingerprints, fingerprint, hashed, timestamp

UTC = datetime.UTC


def test_an_integer_is_its_own_fingerprint(fingerprints: Fingerprints) -> None:
    assert fingerprints([0, 1, 2**63 - 1]) == [0, 1, 2**63 - 1]
    assert fingerprints([-1, -(2**63)]) == [2**64 - 1, 2**63]


def test_an_integer_too_large_for_that_is_hashed(fingerprints: Fingerprints) -> None:
    assert fingerprints([2**63, 2**64 - 1]) == [hashed("big", b"\0" * 7 + b"\x80"), hashed("big", b"\xff" * 8)]


def test_all_integer_classes_are_one(fingerprints: Fingerprints) -> None:
    class Colour(enum.IntEnum):
        RED = 3

    assert fingerprints([3, np.int8(3), np.uint64(3), np.int64(3), Colour.RED]) == [3] * 5


def test_text_is_hashed_as_utf8(fingerprints: Fingerprints) -> None:
    texts = ["", "a", "café", "π", "日本", "𝛼", "\0", "a\0", "x" * 1000]
    assert fingerprints(texts) == [hashed("text", t.encode()) for t in texts]
    assert fingerprints([np.str_("a")]) == fingerprints(["a"])


def test_bytes_of_any_class_are_one(fingerprints: Fingerprints) -> None:
    same = [b"ab", bytearray(b"ab"), memoryview(b"ab"), memoryview(b"a-b-")[::2], np.bytes_(b"ab")]
    assert fingerprints(same) == [hashed("bytes", b"ab")] * 5


def test_a_date_is_its_day_number(fingerprints: Fingerprints) -> None:
    days = [datetime.date(1970, 1, 2), np.datetime64("1970-01-02"), datetime.date.max, datetime.date.min]
    assert fingerprints(days[:2]) == [hashed("date", b"\1" + b"\0" * 7)] * 2
    assert fingerprints(days[2:]) == [fingerprint(day) for day in days[2:]]


def test_a_timestamp_is_its_nanoseconds_whatever_the_class(fingerprints: Fingerprints) -> None:
    same = [
        datetime.datetime(1970, 1, 1, 1),
        np.datetime64("1970-01-01T01", "h"),
        np.datetime64("1970-01-01T01:00", "m"),
        np.datetime64("1970-01-01T01:00:00", "s"),
        np.datetime64("1970-01-01T01:00:00", "ns"),
        pd.Timestamp("1970-01-01T01:00:00"),
    ]
    assert fingerprints(same) == [timestamp("naive", 3600 * 10**9)] * 6
    assert fingerprints([pd.Timestamp(7)]) == [timestamp("naive", 7)]
    assert fingerprints([datetime.datetime.min]) == [fingerprint(datetime.datetime.min)]


def test_an_instant_is_one_in_every_zone(fingerprints: Fingerprints) -> None:
    noon = datetime.datetime(2024, 7, 1, 12, tzinfo=UTC)
    tokyo, kolkata = zoneinfo.ZoneInfo("Asia/Tokyo"), zoneinfo.ZoneInfo("Asia/Kolkata")
    same = [
        noon,
        noon.astimezone(tokyo),
        noon.astimezone(kolkata),
        pd.Timestamp(noon),
        pd.Timestamp(noon).tz_convert(tokyo),
    ]
    assert fingerprints(same) == [fingerprint(noon)] * 5


def test_the_repeated_hour_of_autumn_is_two_instants(fingerprints: Fingerprints) -> None:
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    twice = [datetime.datetime(2024, 10, 27, 2, 30, tzinfo=berlin, fold=fold) for fold in (0, 1)]
    early, late = fingerprints(twice)
    assert early == fingerprint(twice[0].astimezone(UTC))
    assert late == fingerprint(twice[1].astimezone(UTC))
    assert early != late


def test_a_uuid_is_its_sixteen_bytes(fingerprints: Fingerprints) -> None:
    key = uuid.UUID(int=2**100 + 7)
    assert fingerprints([key]) == [hashed("uuid", key.bytes)]


def test_a_composite_key_hashes_the_fingerprints_of_its_parts(fingerprints: Fingerprints) -> None:
    assert fingerprints((["a", "b"], [1, 2])) == [fingerprint(("a", 1)), fingerprint(("b", 2))]
    assert fingerprints((["a"],)) == [fingerprint(("a",))] != fingerprints(["a"])
    assert fingerprints((["a"], ["b"])) != fingerprints((["b"], ["a"]))


def test_keys_of_different_types_that_look_alike_stay_apart(fingerprints: Fingerprints) -> None:
    alike = [49, "1", b"1", datetime.date(1970, 2, 19), datetime.datetime(1970, 2, 19), uuid.UUID(bytes=b"1" * 16)]
    assert len(set(fingerprints([*alike, datetime.datetime(1970, 2, 19, tzinfo=UTC), b"1" * 16]))) == 8


KEYS = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.text(),
    st.binary(),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.timezones()),
    st.uuids(),
)


@given(st.lists(KEYS))
def test_mixed_lists_agree_with_the_reference(fingerprints: Fingerprints, keys: list[object]) -> None:
    expected = [fingerprint(key) for key in keys]
    assert fingerprints(keys) == expected
    objects = np.empty(len(keys), object)
    objects[:] = keys
    assert fingerprints(objects) == expected


@given(st.lists(st.tuples(KEYS, KEYS), min_size=1))
def test_composite_lists_agree_with_the_reference(
    fingerprints: Fingerprints, keys: list[tuple[object, object]]
) -> None:
    first, second = zip(*keys, strict=True)
    assert fingerprints((list(first), list(second))) == [fingerprint(key) for key in keys]
