"""People at order 1: how far the released effective number of keys is from the true one, by how many people there are.

    python benchmarks/people.py [--releases 200]

100 to 100,000 people with 1, 5 or 10 rows each, over 500 keys, the r-th key in proportion to 1/(r + 10). ε = 1,
δ = 1e-9, everything that one person did is protected, default plans. Each release has its own secret. Every row of a
person is used, so the errors are those of sketch and noise alone. The table goes into docs/accuracy.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import stablesketch as ss
from groups import made
from short_study import percent, study
from stablesketch.plan import MechanismName
from stream_study import measured

PEOPLE, ROWS_EACH = (100, 500, 1_000, 2_000, 5_000, 20_000, 100_000), (1, 5, 10)
MECHANISMS: tuple[MechanismName, ...] = ("sketch", "exact")
HEADINGS = (
    "protected", *(f"{how}, {each} {'row' if each == 1 else 'rows'} each" for how in MECHANISMS for each in ROWS_EACH),
    "coverage",
)  # fmt: skip


def row(people: int, releases: int, folder: Path) -> list[str]:
    """Of each mechanism and number of rows the error, and how far the 95% interval reaches each way on average."""
    cells, covered = [], 0
    for how in MECHANISMS:
        for each in ROWS_EACH:
            privacy = ss.Privacy(1.0, 1e-9, pairs_per_person=each)
            stream = made(people * each, folder)
            (found,) = measured(stream, ss.Hill(1), releases, privacy=privacy, mechanism=how)
            cells.append(f"{percent(found['error'])} (±{percent(float(str(found['width'])) / 2)})")
            covered += int(str(found["covered"]))
    return [f"{people:,} people", *cells, f"{covered:,} of {releases * len(cells):,}"]


def rows(releases: int, folder: Path) -> Iterator[list[str]]:
    for people in PEOPLE:
        yield row(people, releases, folder)


if __name__ == "__main__":
    study("people.py", __doc__, "accuracy.md", HEADINGS, rows)
