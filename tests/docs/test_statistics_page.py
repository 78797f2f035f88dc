"""What docs/statistics.md says of plans and defaults is so, and its tables are those of their files.

`python tests/docs/test_statistics_page.py` writes the plan into the page.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from test_snippets import ROOT, blocks, prose

import stablesketch as ss
from stablesketch.statistic import STATISTICS

PAGE = ROOT / "docs" / "statistics.md"
MATHS = ROOT / "docs" / "math-statistics.md"


def made() -> str:
    return str(ss.plan(ss.Hill(0.5), ss.Privacy(epsilon=1.0, delta=1e-9, max_value=100)))


def test_the_plan_shown_is_the_plan_made() -> None:
    (shown,) = [block.text for block in blocks(PAGE) if block.language == "text"]
    assert shown.strip() == made()


@pytest.mark.parametrize(
    ("script", "page"),
    [("statistics_on_streams", "statistics.md"), ("real_streams", "accuracy.md"), ("layouts", "accuracy.md")],
)
def test_the_tables_of_real_streams_are_those_of_the_files(script: str, page: str) -> None:
    command = [sys.executable, f"benchmarks/{script}.py", ".", "--markdown"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for table in shown.strip().split("\n\n"):
        assert table in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_every_statistic_is_there_with_its_usual_error() -> None:
    rows = re.findall(
        r"^\| `ss\.(\w+)\(.*?\)` \| `(\w+).*\| ([\d.]+)(%?)[^|]*\|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert {name for _, name, _, _ in rows} == set(STATISTICS) - {"total"}
    for kind, name, error, percent in rows:
        assert getattr(ss, kind) is STATISTICS[name]
        assert STATISTICS[name].default_error == pytest.approx(float(error) / (100 if percent else 1)), name
        absolute = name in ("shannon", "renyi", "atkinson", "generalised_entropy")
        assert STATISTICS[name].relative == bool(percent) == (not absolute), name


def test_errors_of_default_plans_in_buckets() -> None:
    """If every key is rare, at the orders that the page names; Atkinson's index is in the table of real streams."""
    privacy = ss.Privacy(1.0, 1e-9)
    moments = {p: 100.0 * ss.plan(ss.Moment(p), privacy).error for p in (0.05, 0.25, 0.75)}
    hills = {q: 100.0 * ss.plan(ss.Hill(q), privacy).error for q in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)}
    least, most = min(hills.values()), max(error for q, error in hills.items() if q >= 0.1)
    words = prose(PAGE)
    assert f"orders 0.25 to 0.75 by {moments[0.25]:.2f} to {moments[0.75]:.2f}%" in words
    assert f"Hill numbers of orders 0.1 to 1 by {least:.1f} to {most:.1f}%" in words
    assert f"entropy by {ss.plan(ss.Shannon(), privacy).error:.3f}" in words
    assert f"at order 0.05 moments err by {moments[0.05]:.1f}% and Hill numbers by {hills[0.05]:.1f}%" in words


def test_the_example_of_dividing_by_the_total() -> None:
    """Two streams of n pairs whose sums of shares differ by the factor that is stated, and the stated bound."""
    n, most, q = 104_578, 1_177_685, 0.5
    even = n * (1 / n) ** q
    lopsided = (n - 2 + (1 + most) ** q) / (n - 1 + most) ** q
    bound = ((n - 1) ** q + most**q) * (n - 1 + most) ** q / n ** (2 * q)
    small = ((10**6 - 1) ** q + 100**q) * (10**6 - 1 + 100) ** q / 10**6
    text = prose(MATHS).replace("$", "")
    assert f"differ by a factor of {even / lopsided:.2f}, and the bound is {bound:.1f}." in text
    assert f"its ρ is at most {small:.5f}" in text
    assert even / lopsided <= bound
    assert f"a ρ of 3.47 have an ε of {ss.PrivacyCurve(q, 5, 3.47).epsilon(1e-9):.0f}." in text


def test_the_example_of_whole_keys() -> None:
    pairs = ss.Privacy(1.0, 1e-9, pairs=247_696, max_value=1_457, relation="replace")
    keys = ss.Privacy(1.0, 1e-9, pairs=247_696, max_value=1_457, unit="key", relation="replace")
    changes = [100 * (ss.sensitivity(0.5, privacy) - 1.0) for privacy in (pairs, keys)]
    assert f"F_p by up to {changes[0]:.1f}% of the least" in prose(MATHS).replace("$", "")
    assert f"replacing a key by {changes[1]:.3f}%" in prose(MATHS).replace("$", "")


if __name__ == "__main__":
    (old,) = [block.text for block in blocks(PAGE) if block.language == "text"]
    PAGE.write_text(PAGE.read_text("utf-8").replace(old, f"{made()}\n"), encoding="utf-8")
