"""Values written as text: what is a whole number, what the others are called, and that exactly those are skipped."""

from __future__ import annotations

import io
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_values import ASKED, ODD, WHOLE, WRONG, check_fast

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns, checked_columns, selection
from stablesketch.reading.found import Input
from stablesketch.reading.values import digits, is_zero_text, plain, whole, wrong_text, wrong_texts, zero


@pytest.mark.parametrize("text", [*WHOLE, *WRONG, ".", "..", "1.0.0", "1.5.0", "-0", ".0", "3.", "0.", "٣"])
def test_sql_and_python_agree(text: str) -> None:
    def asked(condition: str) -> Any:
        return duckdb.execute(f"select {condition} from (select ? as v)", [text]).fetchall()[0][0]

    assert asked(whole("v")) is (wrong_text(text, "") is None)
    assert asked(f"coalesce({zero('v')}, false)") is is_zero_text(text)
    if text in WHOLE:
        assert asked(f"cast({digits('v')} as bigint)") == WHOLE[text] == Decimal(text.strip())
    elif text in WRONG:
        problem = next(wrong.problem for wrong in wrong_texts("v", "") if asked(wrong.condition))
        assert problem.startswith(WRONG[text])
        assert (wrong_text(text, "") or ("",))[0] == problem
    else:
        assert any(asked(wrong.condition) for wrong in wrong_texts("v", "")) is not asked(whole("v"))


def odd_texts() -> st.SearchStrategy[str | None]:
    """Texts that are nearly values."""
    digits = [*"0123456789", "00", ".0", "9007199254740992", "٣", "９"]
    pieces = st.sampled_from([*digits, *".- +,\t\n\0_e", "na", "null", "\u00a0"])
    return st.none() | st.sampled_from(ODD) | st.lists(pieces, max_size=6).map("".join)


def asked_of_all(texts: Sequence[str | None], *expressions: str) -> list[tuple[Any, ...]]:
    """SQL of each text, beside each other in one table: a vector in which the usual and the others are mixed."""
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"i": range(len(texts)), "v": pa.array(texts, pa.string())}))
        found = connection.sql(f"select {', '.join(expressions)} from t order by i").fetchall()
    return found


@pytest.mark.parametrize(("zeros", "largest"), ASKED)
def test_the_fast_test_says_what_the_full_rules_say(zeros: Any, largest: int | None) -> None:
    texts = [*ODD, None]
    check_fast(texts, partial(asked_of_all, texts), zeros, largest)


@given(texts=st.lists(odd_texts(), min_size=1, max_size=200), asked=st.sampled_from(ASKED))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_fast_test_says_what_the_full_rules_say_of_any(texts: list[str | None], asked: tuple[Any, Any]) -> None:
    check_fast(texts, partial(asked_of_all, texts), *asked)


def test_the_usual_texts_pass_the_fast_test() -> None:
    """Otherwise it would save nothing. Leading zeros do not, and are values by the full rules."""
    passed = [row for (row,) in asked_of_all([*WHOLE], plain("v", 0, 2**53))]
    assert passed == [text not in ("03", "00") for text in WHOLE]
    columns = Columns((), "v")
    read = asked_of_all([*WHOLE], selection(columns, text=True, checked=True))
    assert [row for (row,) in read] == list(WHOLE.values())


@pytest.mark.parametrize("text", ["3", "x"])
def test_the_first_bad_row_of_many_is_named(tmp_path: Path, text: str) -> None:
    """Among more rows than DuckDB reads at once, of several files, with another bad row behind it and one before."""
    rows = [f"a{i % 7},{i % 5 + 1}" for i in range(300_000)]
    for where, bad in ((0, "1.5"), (122_881, text), (122_882, "-1"), (250_000, "na"), (299_999, "6")):
        changed = [*rows]
        changed[where] = f"a,{bad}"
        changed[where + 1 :: 1_000] = [f"b,{6 if text == '3' else 'y'}"] * len(changed[where + 1 :: 1_000])
        for name, content in (("a.csv", rows), ("b.csv", changed)):
            (tmp_path / name).write_text("app,n\n" + "\n".join(content) + "\n")
        first = where + 2 if bad != "3" else where + 3
        with pytest.raises(ss.DataError, match=f"b.csv, row {first:,}, column n "):
            ss.release(
                [tmp_path / "a.csv", tmp_path / "b.csv"], ss.Hill(1.0), ss.Privacy(1.0, 1e-9, 0, max_value=5),
                key="app", value="n",
            )  # fmt: skip


def csv(values: list[str]) -> str:
    return "app,n\n" + "".join(f'a{i % 7},"{value}"\n' for i, value in enumerate(values))


@pytest.mark.parametrize("written", ["{}", "{}.0", " {}"])
def test_blanks_among_values_are_skipped_and_nothing_else_is(tmp_path: Path, written: str) -> None:
    """pandas writes a column with blanks with .0: its other rows are values nevertheless."""
    values = ["" if i % 10 == 0 else written.format(i % 5 + 1) for i in range(200)]
    (tmp_path / "e.csv").write_text(csv(values))
    (tmp_path / "good.csv").write_text(
        "app,n\n" + "".join(f"a{i % 7},{i % 5 + 1}\n" for i in range(200) if i % 10)
    )  # fmt: skip
    found = ss.exact(tmp_path / "e.csv", ss.Hill(1.0), key="app", value="n", on_bad="skip")
    assert found.value == pytest.approx(ss.exact(tmp_path / "good.csv", ss.Hill(1.0), key="app", value="n").value)
    assert found.groups[0].pairs == 180
    privacy = ss.Privacy(1.0, 1e-9, 0, max_value=5, relation="replace")
    released = ss.release(tmp_path / "e.csv", ss.Hill(1.0), privacy, key="app", value="n", on_bad="skip")
    assert (released.skipped, released.release.pairs) == (20, 180)


@pytest.mark.parametrize("on_bad", ["error", "skip"])
def test_a_file_and_a_pipe_count_the_same(tmp_path: Path, on_bad: Any) -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0, max_value=200), size=20)
    secret, columns = ss.Secret.from_bytes(bytes(32)), checked_columns("app", "n")
    plain = "app,n\n" + "".join(f"a{i % 7},{n}\n" for i, n in enumerate(WHOLE.values()))
    states = set()
    for text in (plain, csv(list(WHOLE))):
        (tmp_path / "e.csv").write_text(text)
        for data, how in ((tmp_path / "e.csv", Input()), ("-", Input("csv", stdin=io.BytesIO(text.encode())))):
            states.add(collected_shard(data, plan, secret, "a", Reading(columns, how, on_bad)).to_bytes())
    assert len(states) == 1


@pytest.mark.parametrize(("text", "problem"), WRONG.items())
def test_the_error_says_what_is_there_and_not_its_value(tmp_path: Path, text: str, problem: str) -> None:
    """For files, pipes and wide tables, where the column is that of the key; zeros before it do not matter."""
    raw = csv(["0", "2", text, "-9"])
    (tmp_path / "e.csv").write_text(raw)
    (tmp_path / "w.csv").write_text(f'site,ash,elm\na,1,2\nb,3,"{text}"\n')
    privacy = ss.Privacy(1.0, 1e-9, 0, max_value=5)
    for data, how, where in (
        (tmp_path / "e.csv", {"key": "app", "value": "n"}, "row 4, column n"),
        (tmp_path / "w.csv", {"wide": True, "by": "site", "groups": ["a", "b"]}, "row 3, column elm"),
    ):
        with pytest.raises(ss.DataError) as refused:
            ss.release(data, ss.Hill(1.0), privacy, **how)  # type: ignore[arg-type]
        assert f"{where} {problem}" in str(refused.value)
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, 0, max_value=5), size=20)
    with pytest.raises(ss.DataError, match=f"row 4, column n {problem}"):
        collected_shard(
            "-", plan, ss.Secret.from_bytes(bytes(32)), "a",
            Reading(checked_columns("app", "n"), Input("csv", stdin=io.BytesIO(raw.encode()))),
        )  # fmt: skip
