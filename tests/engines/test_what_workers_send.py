"""What workers of a cluster send to each other is read with care: corrupt data are a typed error, and nothing else."""

from __future__ import annotations

import json

import pytest

import stablesketch as ss
from stablesketch.engines.beam.travelled import Travelled
from stablesketch.engines.failure import from_text
from stablesketch.engines.spark.work import group_of, place_of


def test_an_accumulator_travels() -> None:
    sent = Travelled(("eu", "é\n"), 3, ["text"], b"state\nwith lines")
    assert Travelled.from_bytes(sent.to_bytes()) == sent


@pytest.mark.parametrize(
    "raw",
    [
        b"no line", b"\n", b"null\nstate", b"[[], 0]\nstate", b"[[1], 0, []]\nstate", b"[[], -1, []]\nstate",
        b"[[], true, []]\nstate", b"[[], 0, [null]]\nstate", b"[[], 1e3, []]\nstate", b"[" * 100_000 + b"\n",
        b"\xff\n", b"[[], 9" + b"9" * 30 + b", []]\n",
    ],
)  # fmt: skip
def test_an_accumulator_that_is_none(raw: bytes) -> None:
    """Some were once accepted; others ended in ValueError, TypeError or RecursionError."""
    with pytest.raises(ss.BlobError, match=r"unreadable accumulator of a pipeline: corrupt data"):
        Travelled.from_bytes(raw)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"type": "MergeError"}', '{"type": 1, "message": "x"}'])
def test_an_error_of_a_worker_that_cannot_be_read(text: str) -> None:
    assert isinstance(from_text(text), ss.BlobError)


@pytest.mark.parametrize("name", ["HIDDEN", "shortened", "Path", "nothing", "__doc__"])
def test_names_that_are_no_errors_are_none(name: str) -> None:
    """The module of errors has functions and constants, too."""
    error = from_text(json.dumps({"type": name, "message": "it failed"}))
    assert type(error) is ss.StablesketchError
    assert str(error) == "it failed"


def test_names_of_groups() -> None:
    assert group_of("null") is None
    assert (group_of("7"), place_of("7")) == (7, 7)
    assert group_of('["a", "b"]') == ("a", "b")


@pytest.mark.parametrize("name", [None, "", "-1", "1.5", "true", "[1]", "{}", '"a"', "[" * 100_000])
def test_names_of_groups_that_are_none(name: object) -> None:
    with pytest.raises(ss.BlobError, match="unreadable name of a group"):
        group_of(name)
    with pytest.raises(ss.BlobError, match="unreadable name of a group"):
        place_of(name or '["a"]')
