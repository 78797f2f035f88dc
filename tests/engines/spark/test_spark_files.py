"""Files read by Spark, as `--engine spark` reads them: the columns, the state and the words of one machine."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from engine_streams import secret
from odd_values import ASKED, ODD, check_fast

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.engines.local.release import LocalSource
from stablesketch.engines.spark import files
from stablesketch.engines.spark.frame import in_spark
from stablesketch.engines.spark.release import SparkSource
from stablesketch.reading.duckdb import DuckDB
from stablesketch.reading.found import Input
from stablesketch.release.decide import decide
from stablesketch.release.question import Question
from stablesketch.spark import SecretFrom

pytestmark = pytest.mark.slow

# Quotes, delimiters and quotes within quotes, empty cells, spaces, letters, leading zeros, and enough to be cut up.
CSV = 'app,n,"more, or less"\n007,1,x\n7,2,\n"a,b",3,"q ""x"""\nx"y,1,\n  spaced  ,2,z\né😀,1,"#"\n" """,1,\\N\n\n'
CSV += "".join(f'"app {i % 7}",{i % 5 + 1:03},NULL\n' for i in range(40))
JSON = '{"app":"a\\u00e9\\n","n":1,"more":[1]}\n{"n":2,"app":7}\r\n\n{"app":true,"n":"3","x":{"app":4.5}}\n'
JSON += '{"n":4,"app":"007"}\n'


@pytest.fixture
def session(spark: Any) -> Iterator[Any]:
    """As the command line makes one, beside that of the other tests; files are cut into blocks of some lines."""
    with files._session("local[2]") as own:
        own.conf.set("spark.sql.files.maxPartitionBytes", "150")
        own.conf.set("spark.sql.shuffle.partitions", "2")
        yield own


class Both:
    """The same question here and there, under the same secret."""

    def __init__(self, session: Any, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._session, self.folder, self._patch = session, folder, patch
        self._key = folder / "s.key"
        secret().save(self._key)
        patch.setattr("stablesketch.engines.spark.job.secrets.token_hex", lambda count: "0" * 32)

    def written(self, name: str, content: str | bytes) -> str:
        raw = content.encode() if isinstance(content, str) else content
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        packed = {".gz": gzip.compress, ".zst": zstandard.compress}.get(path.suffix, bytes)
        path.write_bytes(packed(raw))
        return str(path)

    def same(self, paths: str | list[str], key: Any = "app", value: str | None = "n", **more: Any) -> int:
        """The number of pairs, after a look at states and skipped rows."""
        question, there = self._there(paths, key, value, more)
        own = there.secret._living()._together()
        self._patch.setattr(ss.Secret, "generate", lambda: ss.Secret.from_bytes(own))
        with DuckDB() as engine:
            here = LocalSource(engine, question, paths)
            chosen = decide(question).plan
            state, other = (next(source.collected(chosen)) for source in (here, there))
            assert state._held().to_bytes() == other._held().to_bytes()
            assert state.pairs == other.pairs
            if question.on_bad == "skip":
                assert here.skipped() == there.skipped()
        return state.pairs

    def told(self, paths: str | list[str], key: Any = "app", value: str | None = "n", **more: Any) -> str:
        """What Spark says of them."""
        with pytest.raises(ss.DataError) as caught:
            self._collected(paths, key, value, more)
        return str(caught.value)

    def _collected(self, paths: str | list[str], key: Any, value: str | None, more: Any) -> None:
        question, there = self._there(paths, key, value, more)
        there.collected(decide(question).plan)

    def told_alike(self, path: str, key: Any = "app", value: str | None = "n", **more: Any) -> str:
        """What both say."""
        there = self.told(path, key, value, **more)
        question = self._question(key, value, more)
        with DuckDB() as engine, pytest.raises(ss.DataError) as caught:
            LocalSource(engine, question, path).collected(decide(question).plan)
        assert str(caught.value) == there
        return there

    def _there(self, paths: str | list[str], key: Any, value: str | None, more: Any) -> tuple[Question, SparkSource]:
        question = self._question(key, value, more)
        frame = files._frame(self._session, [paths] if isinstance(paths, str) else paths, question)
        return question, SparkSource(question, frame, SecretFrom.file(self._key))

    def _question(self, key: Any, value: str | None, more: dict[str, Any]) -> Question:
        largest = 5 if value else 1
        bound = {"pairs_per_person": 4} if "person" in more else {}
        privacy = ss.Privacy(2.0, 1e-6, 0, max_value=largest, relation="add_remove", **bound)  # type: ignore[arg-type]
        asked = ss.question(ss.Moment(0.5), privacy, key=key, value=value, person=more.pop("person", None), size=20)
        return replace(asked, **more)


@pytest.fixture
def both(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    return Both(session, tmp_path, monkeypatch)


def test_csv_has_the_same_state(both: Both) -> None:
    whole = [both.written("1.csv", CSV), both.written("2.csv.gz", "\ufeff" + CSV)]
    whole.append(both.written("3 of 3.csv", CSV.replace("\n", "\r\n").removesuffix("\r\n")))
    whole.append(both.written("4.csv.zst", CSV))
    assert both.same(whole) == 4 * 47
    # People are bounded under the secret; rows without a third cell are no pairs.
    assert both.same(whole[0], person="more, or less", on_bad="skip") == 9
    headless = Input(header=False, delimiter=";", format="csv")
    assert both.same(both.written("4", 'a;1\n"b;";2\n'), "column0", "column1", input=headless) == 2


def test_json_lines_and_plain_lines_have_the_same_state(both: Both) -> None:
    more = "".join(f'{{"app": "app {i % 7}", "n": {i % 5 + 1}}}\n' for i in range(40))
    assert both.same([both.written("1.jsonl", JSON), both.written("2.ndjson.gz", more)]) == 44
    assert both.same(both.written("1.txt", "one\ntwo, three\none\n"), "line", None) == 3


def test_folders_are_columns_of_text(both: Both) -> None:
    for country in ("FR", "007"):
        both.written(f"country={country}/e.csv", "app\na\nb\n")
        pq.write_table(pa.table({"app": ["a", "b"]}), both.folder / f"country={country}" / "e.parquet")
    for kind in ("csv", "parquet"):
        assert both.same(str(both.folder / "*" / f"e.{kind}"), ["app", "country"], None) == 4


def test_what_is_wrong_is_told_as_on_one_machine(both: Both) -> None:
    alike = {
        "app,n\na,1\nb,x7\n": "row 3, column n is not a whole number",
        "app,n\na,1\n,2\n": "row 3, column app is empty or null",
        "app,n\na,1\nb,6\n": "row 3, column n is above the promised max_value=5",
        "app,n\na,1\nb,1,2\n": "row 3: expected 2 fields, got more",
        "app,n\na,1\n\xff\n": "row 3: expected 2 fields, got 1",
        "app,app\na,1\n": "column names in the header are repeated or empty",
        "alice,3\nbob,1\n": "column app: no such column among the 2 of this file. Their names are not shown",
        '"app"x,n\na,1\n': "row 1: text after the closing quote of a field in the first row",
        "key,n\na,1\n": "column app: no such column. The columns are: key, n.",
    }
    for number, (content, words) in enumerate(alike.items()):
        assert words in both.told_alike(both.written(f"{number}.csv", content))
    far = both.told(both.written("far.csv", CSV + "late,9,\n"))
    assert re.search(r"far.csv, after byte \d{3}, row \d, column n is above the promised", far)  # in a later block
    assert "listed twice" in both.told([both.written("a.csv", "app,n\na,1\n")] * 2)
    assert "or all are empty" in both.told(both.written("empty.csv", ""))
    assert "no file has this name" in both.told(str(both.folder / "none.csv"))
    named = [both.written("a.csv", "app,n\na,1\n"), both.written("b.csv", "n,app\n1,a\n")]
    assert "the columns differ from those of the other files" in both.told(named)


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_odd_texts_are_the_values_that_they_are_on_one_machine(session: Any, ansi: str) -> None:
    session.conf.set("spark.sql.ansi.enabled", ansi)
    texts = [*ODD, None]
    frame = session.createDataFrame(list(enumerate(texts)), "i int, v string")

    def asked(*expressions: str) -> list[tuple[Any, ...]]:
        spelled = [f"{one} as c{i}" for i, one in enumerate(expressions)]
        return [tuple(row)[1:] for row in frame.selectExpr("i", *map(in_spark, spelled)).orderBy("i").collect()]

    for zeros, largest in ASKED:
        check_fast(texts, asked, zeros, largest)


def test_what_one_machine_would_read_otherwise_is_refused(both: Both) -> None:
    refused = {
        "1.csv": ('app,n\n"two\nlines",1\n', "row 2: a quoted field is unterminated on its line"),
        "2.csv": ('app,n\n "a",1\n', "row 2: a quoted field is unterminated on its line"),
        "1.json": ('{"app": 1.50, "n": 1}\n', "app is not a whole number"),
        "2.json": ('[{"app": 1, "n": 1}]\n', "no line is a JSON object"),
    }
    for name, (content, words) in refused.items():
        assert words in both.told(both.written(name, content), on_bad="skip")


def test_the_command_reads_csv_on_spark(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "e.csv"
    path.write_text("app,n\n" + "".join(f"app {i % 50},{i % 5 + 1}\n" for i in range(2000)))
    asked = ["--key", "app", "--value", "n", "--max-value", "5", "--p", "0.5", "--epsilon", "1", "--delta", "1e-6"]
    asked += ["--relation", "replace", "--size", "50", "--json", "--engine", "spark", "--master", "local[2]"]
    assert run(["release", str(path), *asked]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 2000
    packed = tmp_path / "e.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes())[:-40])
    assert run(["release", str(packed), *asked]) == 3
    assert "the file cannot be read: it is damaged" in capsys.readouterr().err
    assert run(["release", "-", *asked]) == 2
    assert "cannot be standard input on Spark" in capsys.readouterr().err
    assert spark.range(3).count() == 3  # the session that was there is there


class Told:
    """A progress that remembers."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int | None]] = []
        self.steps = 0

    def begin(self, what: str, total: int | None) -> None:
        self.begun.append((what, total))

    def advance(self, steps: int) -> None:
        self.steps += steps


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")  # mapInArrow of the test
def test_tasks_are_shown_until_something_else_is(spark: Any) -> None:
    def slow(batches: Any) -> Any:
        import time

        time.sleep(0.5)  # for some looks
        yield from batches

    progress = Told()
    with files.stages_shown(spark, progress) as shown:
        assert spark.range(0, 6, 1, 6).mapInArrow(slow, "id bigint").count() == 6
        assert shown is not None
        shown.begin("releasing", 3)
        spark.range(3).count()
        shown.advance(2)
    assert progress.begun[0] == ("running on Spark", None)
    assert progress.begun[-1] == ("releasing", 3)
    assert any("tasks of stage" in what and total == 6 for what, total in progress.begun)
    assert 2 <= progress.steps <= 2 + 6 + 1
