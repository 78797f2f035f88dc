"""JSON lines: malformed ones skipped or named, byte order marks, and names with dots that lead into objects."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import checked_columns
from stablesketch.reading.found import Input

GOOD = ['{"app": "a", "n": 1}', '{"app": "b", "n": 2}', '{"app": "c", "n": 3}']
MALFORMED = [
    '{"app": "somebody", broken',
    '{"app": "somebody',
    '{"app": "a"} {"app": "b"}',
    '{"app": "a"},',
    "somebody",
    "3",
    '["somebody"]',
    '"',
    "}",
    '{"app": "\\ud800"}',
]
COUNTED = ss.Privacy(1.0, 1e-9, 0, relation="replace")


def exact(data: object, key: str = "app", **more: Any) -> ss.Exact:
    return ss.exact(data, ss.Hill(0.0), key=key, **more)


@pytest.mark.parametrize("bad", MALFORMED)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_line_that_is_no_object_is_skipped_by_itself(tmp_path: Path, bad: str, place: int) -> None:
    """Wherever it is: the other lines are read as they would be without it, and only it is counted as skipped."""
    lines = [*GOOD[:place], bad, *GOOD[place:]]
    path = tmp_path / "e.jsonl"
    path.write_text("\n".join(lines) + "\n")
    if not (place == 0 and bad.startswith("[")):
        assert exact(path, on_bad="skip").groups == exact(write(tmp_path / "g.jsonl", GOOD)).groups
        assert exact(path, value="n", on_bad="skip").groups[0].pairs == 3
        found = ss.release(path, ss.Hill(0.5), COUNTED, key="app", on_bad="skip")
        assert found.skipped == 1
        assert found.release.pairs == 3
    if place > 0:  # a first line that is none leads DuckDB to look for objects between lines
        with pytest.raises(ss.DataError) as refused:
            exact(path)
        assert refused.value.row == place + 1
        assert "somebody" not in str(refused.value)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_malformed_lines_of_a_pipe_are_skipped_too(tmp_path: Path) -> None:
    raw = "\n".join([GOOD[0], MALFORMED[0], *GOOD[1:]]).encode()
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0), size=20)
    secret, columns = ss.Secret.from_bytes(bytes(32)), checked_columns("app")
    read = Reading(columns, Input("json", stdin=io.BytesIO(raw)), "skip")
    piped = collected_shard("-", plan, secret, "a", read)
    good = collected_shard(write(tmp_path / "g.jsonl", GOOD), plan, secret, "a", Reading(columns))
    assert piped.to_bytes() == good.to_bytes()


def test_the_reason_and_the_way_out_are_said(tmp_path: Path) -> None:
    path = write(tmp_path / "e.jsonl", [*GOOD, MALFORMED[0]])
    with pytest.raises(ss.DataError, match=r"row 4: malformed JSON: .*, or skip such lines .*\(on_bad='skip'\)"):
        exact(path)


@pytest.mark.parametrize(
    "text",
    ['[{"app": "a"},\n{"app": "b"}]\n', '[\n{"app": "a"},\n{"app": "b"}\n]\n', '{\n"app": "a"\n}\n{"app": "b"}\n'],
)
def test_objects_that_are_not_a_line_each_are_refused_where_rows_are_skipped(tmp_path: Path, text: str) -> None:
    """They are read without skipping: otherwise all of them, or all but the last, would be dropped silently."""
    path = tmp_path / "e.json"
    path.write_text(text)
    assert exact(path).value == 2
    with pytest.raises(ss.DataError, match="rows can be skipped only if each is on one line"):
        exact(path, on_bad="skip")


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join([*GOOD, "x"]).encode())
    assert exact(path, on_bad="skip").groups[0].pairs == 3


def test_a_field_that_first_appears_late_is_found_among_lines_that_are_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "e.jsonl", ["x"] * 30_000 + GOOD)
    assert exact(path, on_bad="skip").groups[0].pairs == 3
    with pytest.raises(ss.DataError, match="no such column"):
        exact(path, "other", on_bad="skip")


NESTED: list[dict[str, Any]] = [
    {"id": {"orig_h": "a", "port": 7}, "proto": "tcp"},
    {"id": {"orig_h": "b", "port": 7}, "proto": "udp"},
    {"id.orig_h": "a", "id": {"orig_h": "not this one", "port": 8}},
    {"id.orig_h": "c", "id": "a text", "proto": "tcp"},
]


def test_a_name_with_dots_leads_into_objects(tmp_path: Path) -> None:
    """As in `monitor`: a field of that name first, in every record by itself."""
    path = write(tmp_path / "conn.jsonl", list(map(json.dumps, NESTED)))
    assert exact(path, "id.orig_h").groups[0][2:4] == (4, 3)
    found = ss.exact(path, ss.Hill(0.0), key="id.orig_h", value="id.port", by="proto", on_bad="skip")
    assert [(one.group, one.pairs, one.keys) for one in found] == [(("tcp",), 1, 1), (("udp",), 1, 1)]
    assert exact(path, "id").groups[0].pairs == 4
    both = ss.exact(path, ss.Hill(0.0), key=["id", "id.orig_h"])
    assert both.groups[0].pairs == 4
    with pytest.raises(ss.DataError, match=r"row 4, column id\.port is empty or null"):
        exact(path, "id.port")
    for more in ({}, {"on_bad": "skip"}):
        path = write(tmp_path / "conn.jsonl", list(map(json.dumps, NESTED[:2])))
        with pytest.raises(ss.DataError, match=r"column id\.resp_h: no such column"):
            exact(path, "id.resp_h", **more)


def test_a_name_with_dots_may_be_deep_and_in_an_array(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text(json.dumps([{"a": {"b": {"c/d": "x"}}}, {"a": {"b": {"c/d": 'quote"s and {braces}'}}}]))
    assert exact(path, "a.b.c/d").value == 2
    released = ss.release(path, ss.Hill(0.5), COUNTED, key="a.b.c/d")
    assert released.release.pairs == 2


def test_every_door_takes_names_with_dots(tmp_path: Path) -> None:
    path = write(tmp_path / "conn.jsonl", list(map(json.dumps, NESTED)))
    flat = write(tmp_path / "flat.jsonl", [json.dumps({"k": key}) for key in "abac"])
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0), size=20)
    secret = ss.Secret.from_bytes(bytes(32))
    nested = collected_shard(path, plan, secret, "a", Reading(checked_columns("id.orig_h")))
    assert nested.to_bytes() == collected_shard(flat, plan, secret, "a", Reading(checked_columns("k"))).to_bytes()


def test_a_folder_that_is_a_column_stays_one_where_lines_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "country=FR").mkdir()
    path = write(tmp_path / "country=FR" / "e.jsonl", [*GOOD, MALFORMED[0]])
    for more in ({"key": "app"}, {"key": ["app", "country"]}):
        found = ss.exact(path, ss.Hill(0.0), by="country", on_bad="skip", **more)
        assert [(one.group, one.pairs) for one in found] == [(("FR",), 3)]
