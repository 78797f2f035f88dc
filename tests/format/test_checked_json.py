"""The block of a JSON object: what is left at its end is refused, and an error within it stays what it was."""

from __future__ import annotations

import pytest

from stablesketch.format.checked_json import MOST_WHOLE, Fields, JsonError, is_count


def taken(content: object) -> int:
    with Fields(content, "the thing") as fields:
        return fields.whole("number")


def test_a_block_takes_every_field() -> None:
    assert taken({"number": 3}) == 3
    with pytest.raises(JsonError, match=r"^the thing has unknown fields: 'a, b'$"):
        taken({"b": 1, "number": 3, "a": 2})
    with pytest.raises(JsonError, match=r"^the thing is not an object$"):
        taken([3])


def test_an_error_within_the_block_is_the_one_that_is_raised() -> None:
    with pytest.raises(JsonError, match=r"^number of the thing must be a whole number"):
        taken({"number": True, "other": 1})
    with pytest.raises(ZeroDivisionError), Fields({"other": 1}, "the thing"):
        raise ZeroDivisionError


def test_a_count_is_a_whole_number_in_range() -> None:
    assert all(map(is_count, (0, 1, MOST_WHOLE)))
    assert not any(map(is_count, (-1, MOST_WHOLE + 1, True, 1.0, "1", None)))
    assert is_count(2, 2, 2)
    assert not is_count(1, 2)
    assert not is_count(3, most=2)
