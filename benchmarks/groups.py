"""Short streams, such as the groups of a table: a sketch compared with the exact table, with and without people.

    python benchmarks/groups.py [--releases 200]

Groups of 1,000, 2,000 and 5,000 pairs over 500 keys, the r-th key in proportion to 1/(r + 10). ε = 1, δ = 1e-9 for the
whole table of twenty groups: single pairs are protected, or people with up to five pairs, in up to five groups. Each
release has its own secret. The table goes into docs/when-not.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import stablesketch as ss
from short_study import percent, stream_of, study
from stablesketch.statistic import Statistic
from stream_study import Stream, measured

GROUPS, KEYS = 20, 500
STATISTICS: tuple[Statistic, ...] = (ss.Hill(0.5), ss.Hill(1))
HEADINGS = ("rows", "protected", "statistic", "sketch: error", "coverage", "exact mechanism: error")


def made(pairs: int, folder: Path) -> Stream:
    weights = 1.0 / (np.arange(KEYS) + 10.0)
    keys = np.random.default_rng(pairs).choice(KEYS, pairs, p=weights / weights.sum())
    return stream_of(keys, folder)


def row(stream: Stream, statistic: Statistic, person: int, releases: int) -> tuple[str, ...]:
    privacy = ss.Privacy(1.0, 1e-9, pairs_per_person=person, groups=GROUPS)
    (found,) = measured(stream, statistic, releases, privacy=privacy)
    # Exact noise is the same for every group, whatever the others contain.
    alone = ss.Privacy(1.0, 1e-9, pairs_per_person=person)
    (exact,) = measured(stream, statistic, releases, privacy=alone, mechanism="exact")
    ours, theirs = (percent(one["error"]) for one in (found, exact))
    whom = "a row" if person == 1 else f"a person, {person} rows"
    return f"{stream.pairs:,}", whom, str(statistic), ours, f"{found['covered']} of {releases}", theirs


def rows(releases: int, folder: Path) -> Iterator[tuple[str, ...]]:
    for pairs in (1_000, 2_000, 5_000):
        stream = made(pairs, folder)
        for person in (1, 5):
            for statistic in STATISTICS:
                yield row(stream, statistic, person, releases)


if __name__ == "__main__":
    study("groups.py", __doc__, "when-not.md", HEADINGS, rows)
