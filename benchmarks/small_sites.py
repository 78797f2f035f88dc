"""Small sites: how far released Hill numbers of few individuals are from the true ones.

    python benchmarks/small_sites.py [--releases 200]

Simulated sites of 50 to 10,000 sightings, each site a sample of one skewed community: species number x is the whole
part of 50 e³, with e drawn from the exponential law. One sighting is protected, δ = 1e-9, default plans. A profile has
orders 0, 1 and 2. Errors are root mean squares of value / truth - 1; where one is above 100% the table says so. The
table goes into docs/for/ecologists.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import stablesketch as ss
from short_study import percent, stream_of, study
from stablesketch.plan import MechanismName
from stablesketch.statistic import Statistic
from stream_study import Stream, measured

SIGHTINGS, EPSILONS, FEW = (50, 100, 200, 500, 1_000, 3_000, 10_000), (1.0, 4.0), 500
HEADINGS = (
    "sightings", "species", "ε", "profile, `--mechanism exact`: orders 0, 1, 2", "order 1 alone, exact",
    "profile, sketch", "order 1 alone, sketch",
)  # fmt: skip
COLUMNS: tuple[tuple[Statistic, MechanismName], ...] = (
    (ss.Profile([0, 1, 2]), "exact"), (ss.Hill(1), "exact"), (ss.Profile([0, 1, 2]), "sketch"), (ss.Hill(1), "sketch"),
)  # fmt: skip


def site(sightings: int, folder: Path) -> Stream:
    drawn = np.random.default_rng(sightings).exponential(1.0, sightings) ** 3 * 50
    return stream_of(drawn.astype(np.int64), folder)


def row(stream: Stream, epsilon: float, releases: int) -> tuple[str, ...]:
    privacy = ss.Privacy(epsilon, 1e-9)
    errors = [
        ", ".join(percent(one["error"]) for one in measured(stream, what, releases, privacy=privacy, mechanism=how))
        for what, how in COLUMNS
    ]
    return f"{stream.pairs:,}", f"{len(stream.totals):,}", f"{epsilon:g}", *errors


def rows(releases: int, folder: Path) -> Iterator[tuple[str, ...]]:
    for epsilon in EPSILONS:
        for sightings in SIGHTINGS:
            if epsilon == 1.0 or sightings <= FEW:  # a larger ε is what helps a small site
                yield row(site(sightings, folder), epsilon, releases)


if __name__ == "__main__":
    study("small_sites.py", __doc__, "for/ecologists.md", HEADINGS, rows)
