"""docs/performance.md says what docs/performance.csv says, and the benchmark's own arithmetic is right."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from speed_race import race  # noqa: E402
from speed_table import Row, between, markdown, paste, read, write  # noqa: E402

PAGE, TABLE = ROOT / "docs" / "performance.md", ROOT / "docs" / "performance.csv"


def test_the_page_has_the_table_of_the_csv() -> None:
    assert between(PAGE, "results").startswith(markdown(read(TABLE)) + "\n\n")


def test_the_table_has_a_row_for_every_target() -> None:
    targets = {row.name: row.target for row in read(TABLE) if row.target is not None}
    assert sorted(targets.values()) == pytest.approx(
        sorted([10, 6, 1.5, 1.7, 1 / 1.3, 1 / 0.8, 1 / 0.6, 1 / 1.2, 1 / 0.8, 1, 1, 2, 2, 1 / 0.6, 1 / 0.6]),
        rel=1e-5,  # six digits are written
    )


def test_ratios_and_verdicts(tmp_path: Path) -> None:
    """Their time over ours; the AVX2 tier has to reach half of the target."""
    reached = Row("a", "peer", "ns", theirs=20.0, ours=2.0, avx2=5.0, target=9.0, stretch=11.0)
    beyond = Row("b", "peer", "ms", theirs=22.0, ours=2.0, avx2=5.0, target=9.0, stretch=11.0)
    missed = Row("c", "peer", "ms", theirs=1.0, ours=2.0, theirs_avx2=3.0, avx2=3.0, target=1.7, share_avx2=1.0)
    informal = Row("d", "peer", "ms", theirs=1.0, ours=2.0)
    rows = [reached, beyond, missed, informal]
    assert [row.ratio for row in rows] == [10.0, 11.0, 0.5, 0.5]
    assert [row.verdict for row in rows] == ["pass", "stretch", "miss", ""]
    assert [row.ratio_avx2 for row in rows] == [4.0, 4.4, 1.0, None]
    assert [row.target_avx2 for row in rows] == [4.5, 4.5, 1.7, None]
    assert [row.verdict_avx2 for row in rows] == ["miss", "miss", "miss", ""]
    write(rows, tmp_path / "table.csv")
    assert read(tmp_path / "table.csv") == rows


def test_paste_replaces_a_block_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- x: made by make bench -->\n\n<!-- end of x -->\nafter\n", encoding="utf-8")
    for text in ("one", "two\nlines"):
        paste(page, "x", text)
        assert between(page, "x") == text
        assert page.read_text(encoding="utf-8").startswith("before\n<!-- x")
        assert page.read_text(encoding="utf-8").endswith("<!-- end of x -->\nafter\n")


def test_a_race_takes_turns_and_keeps_the_best() -> None:
    """A clock that contestants push: the warming round is not counted, slow rounds do not matter."""
    now, order = [0], []

    def contestant(name: str, durations: Iterator[int]) -> None:
        order.append(name)
        now[0] += next(durations)

    slow, fast = iter([1, 9_000_000_000, 7_000_000_000]), iter([1, 2_000_000_000, 3_000_000_000])
    contestants = {"slow": lambda: contestant("slow", slow), "fast": lambda: contestant("fast", fast)}
    assert race("test", contestants, 2, lambda: now[0]) == {"slow": 7.0, "fast": 2.0}
    assert order == ["slow", "fast"] * 3
