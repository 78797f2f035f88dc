"""Short streams, such as the groups of a table: a sketch compared with the exact table, with and without people.

    python benchmarks/groups.py [--releases 200]

Groups of 1,000, 2,000 and 5,000 pairs over 500 keys, the r-th key in proportion to 1/(r + 10). ε = 1, δ = 1e-9 for the
whole table of twenty groups: single pairs are protected, or people with up to five pairs, in up to five groups. Each
release has its own secret. The table goes into docs/when-not.md.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import stablesketch as ss
from stablesketch.statistic import Statistic
from stream_study import Stream, measured, pasted

PAGE = Path(__file__).parents[1] / "docs" / "when-not.md"
GROUPS, KEYS = 20, 500
STATISTICS: tuple[Statistic, ...] = (ss.Hill(0.5), ss.Hill(1))
HEADINGS = ("rows", "protected", "statistic", "sketch: error", "intervals that hold", "exact mechanism: error")


def made(pairs: int, folder: Path) -> Stream:
    weights = 1.0 / (np.arange(KEYS) + 10.0)
    keys = np.random.default_rng(pairs).choice(KEYS, pairs, p=weights / weights.sum())
    table = pa.table({"key": keys, "value": np.ones(pairs, dtype=np.int64)})
    path = folder / f"{pairs}.parquet"
    pyarrow.parquet.write_table(table, path)
    return Stream(path)


def row(stream: Stream, statistic: Statistic, person: int, releases: int) -> tuple[str, ...]:
    privacy = ss.Privacy(1.0, 1e-9, pairs_per_person=person, groups=GROUPS)
    (found,) = measured(stream, statistic, releases, privacy=privacy)
    # Exact noise is the same for every group, whatever the others contain.
    alone = ss.Privacy(1.0, 1e-9, pairs_per_person=person)
    (exact,) = measured(stream, statistic, releases, privacy=alone, mechanism="exact")
    ours, theirs = (f"{100 * float(str(one['error'])):.2g}%" for one in (found, exact))
    whom = "a row" if person == 1 else f"a person, {person} rows"
    return f"{stream.pairs:,}", whom, str(statistic), ours, f"{found['covered']} of {releases}", theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=200)
    releases = parser.parse_args().releases
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        for pairs in (1_000, 2_000, 5_000):
            stream = made(pairs, Path(folder))
            for person in (1, 5):
                for statistic in STATISTICS:
                    lines.append("| " + " | ".join(row(stream, statistic, person, releases)) + " |")
    pasted(PAGE, "benchmarks/groups.py", "\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
