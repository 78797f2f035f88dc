"""Lines become the cells that DuckDB reads from the same file, or are refused: hundreds of odd files, without Spark."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from stablesketch.engines.spark.line_formats import Malformed, json_reader_of_spark
from stablesketch.engines.spark.text_files import Lines
from stablesketch.reading.lines import LONGEST_LINE

Rows = list[tuple[str | None, ...]]


def ours(data: bytes, lines: Lines, *, skip: bool = False, batch: int = 2) -> Rows | None:
    """What workers make of a file, in batches of a few lines; None if they refuse it."""
    every = data.split(b"\n")
    every = every[:-1] if every[-1] == b"" else every
    same = pa.array([7] * len(every)), pa.array([0] * len(every))
    texts = pa.StringArray.from_buffers(*_buffers(every))  # not looked at: not all of it is UTF-8
    table = pa.RecordBatch.from_arrays([texts, *same], names=["value", "file", "start"])
    batches = (table.slice(i, batch) for i in range(0, len(every), batch))
    found: Rows = []
    for made in lines.cells(batches):
        *cells, wrong, fatal = (column.to_pylist() for column in made.columns)
        for row in zip(*cells, wrong, fatal, strict=True):
            if row[-2] is None:
                found.append(row[:-2])
            elif not skip or row[-1]:
                return None
    return found


def _buffers(lines: list[bytes]) -> tuple[int, Any, Any, Any]:
    column = pa.array(lines, pa.binary())
    return len(lines), column.buffers()[1], column.buffers()[2] or pa.py_buffer(b""), None


def duck(connection: duckdb.DuckDBPyConnection, query: str) -> Rows | None:
    try:
        return connection.sql(query).fetchall()
    except duckdb.Error:
        return None


def odd_csv(dice: random.Random, delimiter: str, count: int) -> bytes:
    odd = [
        "a",
        '"',
        delimiter,
        " ",
        "\r",
        "é",
        "\\",
        "#",
        '""',
        "\n",
        '"a"',
        '\n"',
        '"\n',
        f'"{delimiter}"',
        "\x00",
        "\t",
    ]
    some = ["a", '"a"', '"a""b"', "007", f'"a{delimiter}b"', "", 'x"y', '""', " ", '" "', "é"]
    scraps: Callable[[int], str] = lambda most: "".join(dice.choice(odd) for _ in range(dice.randint(0, most)))  # noqa: E731
    row: Callable[[], str] = lambda: delimiter.join(dice.choice(some) for _ in range(count))  # noqa: E731
    if dice.random() < 0.3:
        text = scraps(9)
    else:
        end = dice.choice(["\n", "\n", "\r\n"])
        rows = [dice.choice([row, row, row, lambda: scraps(4)])() for _ in range(dice.randint(1, 5))]
        text = end.join(rows) + dice.choice(["", end])
    data = text.encode()
    return data.replace(b"a", b"\xff") if dice.random() < 0.03 else data


@pytest.mark.slow
def test_csv_is_read_as_duckdb_reads_it_or_refused(tmp_path: Path) -> None:
    """Where rows are skipped, a file whose last line alone ends with \\n is left out: DuckDB drops that line."""
    dice = random.Random(11)
    path = tmp_path / "odd.csv"
    agreed = refused = 0
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        for _ in range(300):
            count, delimiter, skip = dice.choice([1, 2, 3]), dice.choice(",;\t"), dice.random() < 0.3
            data = odd_csv(dice, delimiter, count)
            path.write_bytes(data)
            columns = ", ".join(f"'column{i}': 'VARCHAR'" for i in range(count))
            lenient = ", ignore_errors=true, store_rejects=true" if skip else ""
            there = duck(
                connection,
                f"select * from read_csv(['{path}'], auto_detect=false, header=false, delim='{delimiter}', quote='\"', "
                f"escape='\"', nullstr='', columns={{{columns}}}{lenient})",
            )
            names = tuple(f"column{i}" for i in range(count))
            here = ours(data, Lines("csv", names, names, delimiter=delimiter), skip=skip)
            if skip and b"\r\n" in data and data.endswith(b"\n") and not data.endswith(b"\r\n"):
                continue
            if here is not None and there is not None:
                assert here == there, (data, delimiter, skip)
                agreed += 1
            refused += here is None and there is not None
    assert agreed > 100
    assert refused < agreed / 2  # most of what nobody would write


def test_plain_lines_a_column_at_a_time_are_what_they_are_one_by_one() -> None:
    dice = random.Random(12)
    names = ("a", "b", "c")
    for _ in range(100):
        rows = [",".join(dice.choice(["x", "", "007", "é", " "]) for _ in names) for _ in range(9)]
        rows[dice.randrange(9)] = dice.choice(["x,y,z", "", "1,2", "1,2,3,4", '"q",1,2', "a,b,c,", "1,2,3\r"])
        data = "\n".join(rows).encode()
        lines = Lines("csv", names, ("c", "a"))
        assert ours(data, lines, skip=True) == ours(data, lines, skip=True, batch=100)


def test_headers_are_those_of_the_first_file_and_bytes_before_them_are_no_part_of_them() -> None:
    lines = Lines("csv", ("a", "b"), ("b",), header=True)
    assert ours(b"\xef\xbb\xbfa,b\r\n1,2\r\n", lines) == [("2",)]
    assert ours(b'"a",b\na,b\n', lines) == [("b",)]  # the header alone is one, not what looks like it
    assert ours(b"b,a\n1,2\n", lines) is None
    assert ours(b"b,a\n1,2\n", lines, skip=True) is None


def test_an_empty_cell_between_tabs_is_no_space_before_a_quote() -> None:
    lines = Lines("tsv", ("a", "b", "c"), ("a", "b", "c"), delimiter="\t")
    assert ours(b'1\t\t"x y"\n\t"2"\t3\n', lines) == [("1", None, "x y"), (None, "2", "3")]
    assert ours(b'1\t\t "x y"\n', lines) is None


def test_what_follows_an_open_quote_is_never_taken_for_a_row() -> None:
    """Its middle line would be a good one by itself."""
    lines = Lines("csv", ("a", "b"), ("a", "b"))
    for data in (b'x,"1\n2,3\n4",5\n', b'"x"y,"1\n2,3\n4"\n', b'"\xff,1\n2,3\n"\n'):
        assert ours(data, lines, skip=True) is None


def odd_json(dice: random.Random) -> str:
    items = ["1", "-7", "0", "12345678901234567890123", "true", "false", "null", "1.5", "-0", "1e5", "NaN", "01"]
    items += ['"x"', '"007"', '""', '"a\\u00e9\\n\\"\\/"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\t"', "'x'"]
    items += ["[1, 2]", '{"a": 3}']
    names = [dice.choice(["a", "b", "A", "\\u0061", "c"]) for _ in range(dice.randint(0, 3))]
    fields = ", ".join(f'"{name}": {dice.choice(items)}' for name in names)
    return f'{{"z": 1{"," if fields else ""} {fields}}}' + dice.choice(["", "", " ", "\r", "x"])


@pytest.mark.slow
def test_json_is_read_as_duckdb_reads_it_or_refused(tmp_path: Path) -> None:
    dice = random.Random(13)
    path = tmp_path / "odd.json"
    agreed = 0
    with duckdb.connect() as connection:
        for _ in range(300):
            text = "\n".join([*(odd_json(dice) for _ in range(dice.randint(1, 2))), '{"a": "last", "b": 1}'])
            path.write_text(text)
            query = f"select * from read_json(['{path}'], columns={{'a': 'VARCHAR', 'b': 'VARCHAR'}})"
            here, there = ours(text.encode(), Lines("json", ("a", "b"), ("a", "b"))), duck(connection, query)
            if here is not None and there is not None:
                assert here == there, text
                agreed += 1
    assert agreed > 60


@pytest.mark.parametrize(
    "line", ["[]", "3", '"x"', "null", '{"a": 1', '{"a": 1} {"a": 2}', '{"a": 1, "a": 2}', "{'a': 1}"]
)
def test_what_is_no_object_of_json_is_refused(line: str) -> None:
    with pytest.raises(Malformed) as caught:
        json_reader_of_spark(["a"])(line)
    assert not caught.value.skipped


def test_a_name_with_dots_leads_into_objects_of_json() -> None:
    """As tests/reading/test_json.py has it of the same lines on one machine."""
    lines = Lines("json", ("id", "id.orig_h"), ("id.orig_h",))
    data = b"""{"id": {"orig_h": "a"}}
{"id.orig_h": "b", "id": {"orig_h": "c"}}
{"id.orig_h": null, "id": {"orig_h": 7}}
{"id": "text"}
{"id": {"other": "x"}}
"""
    assert ours(data, lines) == [("a",), ("b",), ("7",), (None,), (None,)]


def test_lines_are_keys() -> None:
    lines = Lines("lines", ("line",), ("line",))
    assert ours('one\r\ntwo, "three"\r\n\r\n é'.encode(), lines) == [("one",), ('two, "three"',), (None,), (" é",)]
    assert ours(b"one\ntwo\x1f\n", lines) == [("one",), ("two\x1f",)]
    assert ours(b"one\rtwo\n", lines, skip=True) is None
    assert ours(b"one\n" + b"x" * (LONGEST_LINE - 1) + b"\n", lines) == [("one",), ("x" * (LONGEST_LINE - 1),)]
    assert ours(b"one\n" + b"x" * LONGEST_LINE + b"\n", lines) is None
