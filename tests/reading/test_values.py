"""Values written as text: what is a whole number, what the others are called, and that exactly those are skipped."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import stablesketch as ss
from stablesketch.engines.local.collect import collected_shard
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import checked_columns
from stablesketch.reading.found import Input
from stablesketch.reading.values import digits, is_zero_text, whole, wrong_text, wrong_texts, zero

WHOLE = {"3": 3, "03": 3, "3.0": 3, "3.000": 3, " 3": 3, "3 ": 3, " 12.0 ": 12, "0": 0, "0.0": 0, "00": 0, "100": 100}
WRONG = {
    "": "is empty or null", " ": "is empty or null",
    "NA": "is a missing value", "nan": "is a missing value", "NULL": "is a missing",
    "-3": "is negative", "-3.0": "is negative", "-1.5": "is negative", " -7": "is negative",
    "1.5": "is a number with decimals", "0.25 ": "is a number with decimals", "10.50": "is a number with decimals",
    "x": "is not a whole number", "1e3": "is not a whole number", "0x10": "is not a whole number",
    "1,5": "is not a whole number", "3 4": "is not a whole number", "-": "is not a whole number",
    "+3": "is not a whole number", "\u00a03": "is not a whole number", "\t3": "is not a whole number",
}  # fmt: skip


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
