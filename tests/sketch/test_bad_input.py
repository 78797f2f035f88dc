"""A catalogue of wrong calls: the error of each, what it says, and that the sketch is as it was before.

Columns of keys and values have catalogues of their own in columns/; here is what a user of `Sketch` meets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stablesketch as ss

SECRET = ss.Secret.from_bytes(bytes(range(32)))


@dataclass(frozen=True)
class Wrong:
    """A wrong call, the type of its error, and what its message must contain."""

    call: Callable[[Any], object]
    error: type[Exception]
    says: tuple[str, ...]


def check(wrong: Wrong, argument: Any = None) -> None:
    with pytest.raises(wrong.error) as caught:
        wrong.call(argument)
    assert type(caught.value) is wrong.error
    assert isinstance(caught.value, ss.StablesketchError)
    for part in wrong.says:
        assert part in str(caught.value)


VALUE, TYPE = ss.ArgumentError, ss.ArgumentTypeError

MAKING: dict[str, Wrong] = {
    "p below the least": Wrong(lambda _: ss.Sketch(0.0499, 5), VALUE, ("got 0.0499", "between 0.05 and 2")),
    "p zero": Wrong(lambda _: ss.Sketch(0, 5), VALUE, ("got 0", "between 0.05 and 2")),
    "p negative": Wrong(lambda _: ss.Sketch(-0.5, 5), VALUE, ("got -0.5", "between 0.05 and 2")),
    "p just above 2": Wrong(lambda _: ss.Sketch(math.nextafter(2, 3), 5), VALUE, ("got 2.0000000000000004",)),
    "p just below 0.05": Wrong(lambda _: ss.Sketch(math.nextafter(0.05, 0), 5), VALUE, ("got 0.049999999999999996",)),
    "p three": Wrong(
        lambda _: ss.Sketch(3, 5), VALUE, ("p must be between 0.05 and 2, got 3", "between 0.05 and 2", "Pass p=0.5")
    ),
    "p NaN": Wrong(lambda _: ss.Sketch(math.nan, 5), VALUE, ("got nan",)),
    "p infinite": Wrong(lambda _: ss.Sketch(math.inf, 5), VALUE, ("got inf",)),
    "p text": Wrong(lambda _: ss.Sketch("0.5", 5), TYPE, ("got '0.5'", "number")),  # type: ignore[arg-type]
    "p None": Wrong(lambda _: ss.Sketch(None, 5), TYPE, ("got None",)),  # type: ignore[arg-type]
    "p bool": Wrong(lambda _: ss.Sketch(True, 5), TYPE, ("got True",)),
    "p complex": Wrong(lambda _: ss.Sketch(0.5 + 0j, 5), TYPE, ("got (0.5+0j)",)),  # type: ignore[arg-type]
    "p Decimal": Wrong(lambda _: ss.Sketch(Decimal("0.5"), 5), TYPE, ("Decimal",)),  # type: ignore[arg-type]
    "p Fraction": Wrong(lambda _: ss.Sketch(Fraction(1, 2), 5), TYPE, ("Fraction(1, 2)",)),  # type: ignore[arg-type]
    "p array": Wrong(lambda _: ss.Sketch(np.array([0.5]), 5), TYPE, ("got array",)),  # type: ignore[arg-type]
    "size zero": Wrong(
        lambda _: ss.Sketch(0.5, 0), VALUE, ("got 0", "between 1 and 2147483647", "500 for an error of about 5%")
    ),
    "size negative": Wrong(lambda _: ss.Sketch(0.5, -1), VALUE, ("got -1",)),
    "size huge": Wrong(lambda _: ss.Sketch(0.5, 2**31), VALUE, ("got 2147483648",)),
    "size float": Wrong(lambda _: ss.Sketch(0.5, 50.0), TYPE, ("got 50.0", "integer")),  # type: ignore[arg-type]
    "size text": Wrong(lambda _: ss.Sketch(0.5, "50"), TYPE, ("got '50'", "integer")),  # type: ignore[arg-type]
    "size None": Wrong(lambda _: ss.Sketch(0.5, None), TYPE, ("got None",)),  # type: ignore[arg-type]
    "size bool": Wrong(lambda _: ss.Sketch(0.5, True), TYPE, ("got True",)),
    "size numpy bool": Wrong(lambda _: ss.Sketch(0.5, np.True_), TYPE, ("size must be an integer",)),  # type: ignore[arg-type]
    "secret bytes": Wrong(lambda _: ss.Sketch(0.5, 5, bytes(32)), TYPE, ("secret", "bytes", "Secret.generate()")),  # type: ignore[arg-type]
    "secret text": Wrong(lambda _: ss.Sketch(0.5, 5, "hunter2"), TYPE, ("secret", "str", "Secret.load(path)")),  # type: ignore[arg-type]
    "law p": Wrong(lambda _: ss.StableLaw(1.5), VALUE, ("got 1.5",)),
    "blob text": Wrong(lambda _: ss.Sketch.from_bytes("blob"), TYPE, ("blob", "str", "to_bytes()")),  # type: ignore[arg-type]
    "blob None": Wrong(lambda _: ss.Sketch.from_bytes(None), TYPE, ("blob", "NoneType")),  # type: ignore[arg-type]
    "blob sketch": Wrong(lambda _: ss.Sketch.from_bytes(ss.Sketch(0.5, 5, law="symmetric")), TYPE, ("blob", "Sketch")),  # type: ignore[arg-type]
    "blob empty": Wrong(lambda _: ss.Sketch.from_bytes(b""), ss.ForeignBlob, ("0 bytes", "not a sketch")),
    "blob foreign": Wrong(lambda _: ss.Sketch.from_bytes(b"PK\3\4"), ss.ForeignBlob, ("not a sketch",)),
}


@pytest.mark.parametrize("name", MAKING)
def test_nothing_is_made_of_wrong_arguments(name: str) -> None:
    check(MAKING[name])


LARGE = 2**53 + 1
A, AB = ["a"], ["a", "b"]

CALLS: dict[str, Wrong] = {
    # values
    "value 0": Wrong(lambda s: s.update(AB, [1, 0]), VALUE, ("row 2", "must be positive", "Leave out rows of value 0")),
    "value negative": Wrong(lambda s: s.update(AB, [-1, 1]), VALUE, ("row 1", "must be positive", "delete")),
    "value fractional": Wrong(lambda s: s.update(AB, [1, 2.5]), TYPE, ("row 2", "whole number", "float")),
    "value a whole float": Wrong(lambda s: s.update(A, [2.0]), TYPE, ("row 1", "float", "int(value)")),
    "value NaN": Wrong(lambda s: s.update(A, [math.nan]), TYPE, ("row 1", "NaN", "Drop")),
    "value infinite": Wrong(lambda s: s.update(A, [math.inf]), TYPE, ("row 1", "whole number")),
    "value above 2^53": Wrong(lambda s: s.update(A, [LARGE]), VALUE, ("row 1", "2^53", "coarser unit")),
    "value None": Wrong(lambda s: s.update(A, [None]), VALUE, ("got None", "row 1", "null")),
    "value bool": Wrong(lambda s: s.update(A, [True]), TYPE, ("row 1", "bool")),
    "value text": Wrong(lambda s: s.update(A, ["1"]), TYPE, ("row 1", "str")),
    "values floats": Wrong(lambda s: s.update(AB, np.ones(2)), TYPE, ("values", "float64", "astype(np.int64)")),
    "values with NaN": Wrong(lambda s: s.update(AB, np.array([1, np.nan])), TYPE, ("row 2", "NaN")),
    "values bools": Wrong(lambda s: s.update(AB, np.ones(2, bool)), TYPE, ("values", "bool", "integers")),
    "values 0 in an array": Wrong(lambda s: s.update(AB, np.array([3, 0])), VALUE, ("row 2", "must be positive")),
    "values large in uint64": Wrong(lambda s: s.update(A, np.array([2**64 - 1], "u8")), VALUE, ("row 1", "2^53")),
    "values null in Arrow": Wrong(lambda s: s.update(AB, pa.array([1, None])), VALUE, ("values", "row 2", "null")),
    "one value 0": Wrong(lambda s: s.update(A, 0), VALUE, ("must be positive", "Leave out")),
    "one value negative": Wrong(lambda s: s.update(A, -7), VALUE, ("must be positive", "delete")),
    "one value fractional": Wrong(lambda s: s.update(A, 0.5), TYPE, ("whole number",)),
    "one value large": Wrong(lambda s: s.update(A, LARGE), VALUE, ("2^53",)),
    "fewer values": Wrong(lambda s: s.update(AB, [1]), VALUE, ("values", "each of the 2 keys", "one value for each")),
    "more values": Wrong(lambda s: s.update(A, [1, 1]), VALUE, ("values", "each of the 1 keys")),
    "no values": Wrong(lambda s: s.update(A, []), VALUE, ("values", "each of the 1 keys")),
    "values 2-d": Wrong(lambda s: s.update(A, np.ones((1, 1), int)), VALUE, ("values", "one dimension")),
    "delete 0": Wrong(lambda s: s.delete(A, [0]), VALUE, ("row 1", "must be positive")),
    "delete negative": Wrong(lambda s: s.delete(A, [-1]), VALUE, ("row 1", "must be positive")),
    "delete of other length": Wrong(lambda s: s.delete(A, [1, 2]), VALUE, ("each of the 1 keys",)),
    # keys
    "key None": Wrong(lambda s: s.update(["a", None]), VALUE, ("got None", "row 2", "null", "Drop")),
    "key NaN": Wrong(lambda s: s.update([math.nan]), TYPE, ("row 1", "NaN")),
    "key float": Wrong(lambda s: s.update([1.0]), TYPE, ("row 1", "float", "cast to an integer")),
    "key bool": Wrong(lambda s: s.update([True]), TYPE, ("row 1", "booleans")),
    "key too large": Wrong(lambda s: s.update([2**64]), VALUE, ("row 1", "str or bytes")),
    "key surrogate": Wrong(lambda s: s.update(["\ud800"]), VALUE, ("keys", "row 1", "surrogate")),
    "keys floats": Wrong(lambda s: s.update(np.zeros(2)), TYPE, ("keys", "float64", "cast to an integer")),
    "keys one text": Wrong(lambda s: s.update("abc"), TYPE, ("got str", "single value", "list")),
    "keys one number": Wrong(lambda s: s.update(7), TYPE, ("got int", "single value", "list")),
    "keys None": Wrong(lambda s: s.update(None), TYPE, ("got NoneType",)),
    "keys a set": Wrong(lambda s: s.update({"a"}), TYPE, ("keys", "list(keys)")),
    "keys a generator": Wrong(lambda s: s.update(k for k in AB), TYPE, ("keys", "list(keys)")),
    "keys of unequal columns": Wrong(lambda s: s.update((A, AB)), VALUE, ("got [1, 2]", "same length")),
    "keys a tuple of text": Wrong(lambda s: s.update(("a", "b")), TYPE, ("keys", "composite key", "list")),
    "delete key None": Wrong(lambda s: s.delete([None]), VALUE, ("got None", "row 1")),
    # threads
    "threads 0": Wrong(lambda s: s.update(A, threads=0), VALUE, ("got 0", "Leave it out")),
    "threads negative": Wrong(lambda s: s.update(A, threads=-1), VALUE, ("got -1",)),
    "threads float": Wrong(lambda s: s.update(A, threads=2.0), TYPE, ("got 2.0", "integer")),
    "threads bool": Wrong(lambda s: s.delete(A, threads=True), TYPE, ("got True",)),
    # merging
    "merge bytes": Wrong(lambda s: s.merge(s.to_bytes()), TYPE, ("other", "bytes", "from_bytes")),
    "merge None": Wrong(lambda s: s.merge(None), TYPE, ("other", "NoneType")),
    "merge other p": Wrong(
        lambda s: s.merge(ss.Sketch(0.4, 9, SECRET, law="symmetric")), ss.MergeError, ("p = 0.5 and 0.4",)
    ),
    "merge other size": Wrong(
        lambda s: s.merge(ss.Sketch(0.5, 8, SECRET, law="symmetric")), ss.MergeError, ("size = 9 and 8",)
    ),
    "merge other secret": Wrong(
        lambda s: s.merge(ss.Sketch(0.5, 9, law="symmetric")), ss.MergeError, ("different secrets",)
    ),
    # estimating
    "no such method": Wrong(lambda s: s.estimate(method="mean"), VALUE, ("got 'mean'", "pitman", "median")),
    "method None": Wrong(lambda s: s.estimate(method=None), VALUE, ("got None", "pitman")),
    "method a list": Wrong(lambda s: s.estimate(method=["median"]), VALUE, ("got ['median']", "pitman")),
    "harmonic mean": Wrong(lambda s: s.estimate(method="harmonic_mean"), VALUE, ("got 0.5", "below 1/2", "pitman")),
    "confidence 0": Wrong(lambda s: s.estimate(confidence=0.0), VALUE, ("got 0.0", "between 0 and 1")),
    "confidence 1": Wrong(lambda s: s.estimate(confidence=1), VALUE, ("got 1", "between 0 and 1")),
    "confidence percent": Wrong(lambda s: s.estimate(confidence=95), VALUE, ("got 95", "0.95")),
    "confidence NaN": Wrong(lambda s: s.estimate(confidence=math.nan), VALUE, ("got nan",)),
    "confidence text": Wrong(lambda s: s.estimate(confidence="95%"), TYPE, ("got '95%'", "0.95")),
    "confidence None": Wrong(lambda s: s.estimate(confidence=None), TYPE, ("got None",)),
}


@pytest.mark.parametrize("full", [True, False], ids=["full", "empty"])
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_changes_nothing(name: str, full: bool) -> None:
    sketch = ss.Sketch(0.5, 9, SECRET, law="symmetric")
    if full:
        sketch.update(["a", "b", "a"], [1, 2, 3])
    before = sketch.to_bytes()
    check(CALLS[name], sketch)
    assert sketch.to_bytes() == before
    sketch.update(["good"])  # and it goes on working
    assert sketch.pairs == (4 if full else 1)


LONG = 300_000  # rows: more than one thread takes at a time, so that much is done before the wrong row is met


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("row", [0, 150_000, LONG - 1])
def test_a_wrong_row_far_down_changes_nothing(row: int, threads: int) -> None:
    sketch = ss.Sketch(0.5, 2, SECRET, law="symmetric")
    sketch.update(["a"])
    before = sketch.to_bytes()
    keys = list(range(LONG))
    values = np.ones(LONG, np.int64)
    values[row] = -5
    with pytest.raises(ss.ArgumentError, match=rf"values must be positive \(row {row + 1}\)\. "):
        sketch.update(keys, values, threads=threads)
    assert sketch.to_bytes() == before
    keys[row] = None  # type: ignore[call-overload]
    with pytest.raises(ss.ArgumentError, match=rf"keys must not be null \(row {row + 1}\), got None"):
        sketch.update(keys, threads=threads)
    with pytest.raises(ss.ArgumentError, match=rf"keys must not be null \(row {row + 1}\), got None"):
        sketch.delete(pa.array(keys), threads=threads)
    assert sketch.to_bytes() == before


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_of_several_wrong_rows_is_the_one_named(threads: int) -> None:
    keys: list[object] = list(range(LONG))
    keys[70_000] = keys[250_000] = None
    sketch = ss.Sketch(0.5, 2, SECRET, law="symmetric")
    with pytest.raises(ss.ArgumentError, match=r"must not be null \(row 70001\)"):
        sketch.update(keys, threads=threads)


def test_errors_are_also_the_built_in_ones() -> None:
    """Code that knows nothing of this library catches them as it would expect to."""
    with pytest.raises(ValueError, match=r"p must be between 0.05 and 2, got 3"):
        ss.Sketch(3, 5, law="symmetric")
    with pytest.raises(TypeError, match=r"size must .*got '5'"):
        ss.Sketch(0.5, "5", law="symmetric")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a sketch"):
        ss.Sketch.from_bytes(b"x")
    error = ss.ArgumentError("p", 3, "must be 2", "Take less")
    assert (error.argument, error.value, str(error)) == ("p", 3, "p must be 2, got 3. Take less.")


def test_a_huge_argument_does_not_fill_the_screen() -> None:
    with pytest.raises(ss.ArgumentError) as caught:
        ss.Sketch(0.5, 5, law="symmetric").update(["x" * 10_000, None], [1] * 3)
    assert len(str(caught.value)) < 400
    with pytest.raises(ss.ArgumentError) as caught:
        ss.Sketch("x" * 10_000, 5, law="symmetric")  # type: ignore[arg-type]
    assert len(str(caught.value)) < 400


def test_a_sketch_without_its_secret_says_how_to_get_one_with() -> None:
    blind = ss.Sketch.from_bytes(ss.Sketch(0.5, 5, law="symmetric").to_bytes())
    for call in (lambda: blind.update(["a"]), lambda: blind.delete(["a"])):
        with pytest.raises(ss.SecretMissing, match=r"Sketch\.from_bytes\(blob, secret\)"):
            call()
    assert blind.pairs == 0


def test_more_deleted_than_updated_is_refused_at_estimate_alone() -> None:
    sketch = ss.Sketch(0.5, 5, SECRET, law="symmetric")
    sketch.delete(["a"], [2])
    before = sketch.to_bytes()
    with pytest.raises(ss.NegativeTotal, match="-1 pairs of total -2"):
        sketch.estimate()
    assert sketch.to_bytes() == before
