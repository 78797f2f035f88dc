"""docs/when-not.md against the code: the table is made again, and so are the numbers around it.

`python tests/docs/test_when_not_page.py` writes the table into the page.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import stablesketch as ss

PAGE = Path(__file__).parents[2] / "docs" / "when-not.md"
TABLE = re.compile(r"(?<=test_when_not_page\.py -->\n).*?(?=\n\n)", re.DOTALL)


def text() -> str:
    return PAGE.read_text(encoding="utf-8")


def made() -> str:
    rows = [
        "| pairs | protected | sketch of 500: error | its floor | exact table: error | the exact table is better by |",
        "|---|---|---|---|---|---|",
    ]
    for pairs in (0, 10**3, 10**4, 10**5, 10**6, 10**9):
        relation = "replace" if pairs else "add_remove"
        plan = ss.plan(
            ss.Moment(0.5), ss.Privacy(1.0, 1e-9, pairs=pairs, relation=relation), size=500, mechanism="bare"
        )  # type: ignore[arg-type]
        errors = [f"{100 * e:.2g}%" if pairs else f"{e:.2g}" for e in (plan.error, plan.exact_error)]
        floor = f"{plan.floor:.3g}" if plan.floor else "none"
        better = f"{plan.error / plan.exact_error:.0f} times"
        rows.append(
            f"| {f'{pairs:,}' if pairs else 'any'} | {relation} | {errors[0]} | {floor} | {errors[1]} | {better} |"
        )
    return "\n".join(rows)


def test_the_table() -> None:
    (found,) = TABLE.findall(text())
    assert found == made()


def test_what_a_key_takes_in_the_exact_table() -> None:
    exact = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, pairs=1_000, relation="replace"), mechanism="exact").open()
    exact.update(np.arange(20_000))
    assert "about 10 bytes a distinct key" in text()
    assert len(exact.to_bytes()) / 20_000 == pytest.approx(10, abs=0.5)


@pytest.mark.parametrize(("p", "claimed"), [(0.5, "0.096"), (0.25, "4.1"), (0.05, "119")])
def test_what_the_entries_alone_give(p: float, claimed: str) -> None:
    rho = ss.sensitivity(p, ss.Privacy(1.0, 1e-9, pairs=10**6, relation="replace"))
    digits = 3 if claimed == "119" else 2
    assert f"{ss.PrivacyCurve(p, 500, rho).epsilon(1e-9):.{digits}g}" == claimed
    assert claimed in text()


def test_what_the_floor_costs_at_a_small_p() -> None:
    plan = ss.plan(ss.Moment(0.25), ss.Privacy(1.0, 1e-9, pairs=10**6, relation="replace"), size=500, mechanism="bare")
    assert f"{100 * plan.error:.0f}%" == "18%"
    assert f"{100 * plan.error / (1 + plan.floor / plan.expected):.2g}%" == "4.8%"
    assert "the error is 18%, not 4.8%" in text()


def test_entries_for_one_percent() -> None:
    (claimed,) = re.findall(r"1% at p = 0\.5 takes ([\d,]+) entries", text())
    assert int(claimed.replace(",", "")) == pytest.approx(1e4 / ss.StableLaw(0.5).fisher_information, abs=50)


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: made(), text()), encoding="utf-8")
