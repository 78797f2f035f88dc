"""What the studies of real streams have in common: many releases of one stream, and how good they were.

Each release has a collector and a secret of its own. The totals of keys are added up once for all of them, which leaves
every state as it is, to the last bit (tests/engines/local/test_fold.py).
"""

from __future__ import annotations

import csv
import math
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

import stablesketch as ss
from stablesketch.collector import Collector
from stablesketch.engines.local.exact import exact_values
from stablesketch.mechanism.entropy.noise import entropy_noise
from stablesketch.plan import MechanismName
from stablesketch.reading.arguments import Reading
from stablesketch.reading.columns import Columns
from stablesketch.statistic import Derived, Profile, Statistic

__all__ = ["EPSILON", "NUMBERS", "Stream", "measured", "pasted", "rows", "streams_of", "verdict", "write"]

EPSILON, DELTA = 1.0, 1e-9
FIELDS = (
    "file", "statistic", "order", "pairs", "keys", "max_value", "size", "per_key", "bytes", "noise", "epsilon", "truth",
    "releases", "planned", "sketch", "predicted", "error", "bias", "covered", "width", "exact_error", "refused",
)  # fmt: skip
# Those that every row has, if it was not refused.
NUMBERS = tuple(name for name in FIELDS if name not in ("file", "statistic", "exact_error", "refused"))
Item = TypeVar("Item")


@dataclass(frozen=True)
class Stream:
    """A Parquet file with columns `key` and `value`."""

    path: Path

    @cached_property
    def table(self) -> Any:
        """key, total: the distinct keys."""
        connection: Any = duckdb.connect()
        query = f"select key, cast(sum(value) as bigint) as total from read_parquet('{self.path}') group by key"
        return connection.sql(query).to_arrow_table()

    @cached_property
    def keys(self) -> Any:
        return self.table.column("key").combine_chunks()

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        out: NDArray[np.int64] = self.table.column("total").to_numpy()
        return out

    @cached_property
    def largest(self) -> int:
        connection: Any = duckdb.connect()
        return int(connection.sql(f"select max(value) from read_parquet('{self.path}')").fetchall()[0][0])

    @cached_property
    def pairs(self) -> int:
        connection: Any = duckdb.connect()
        return int(connection.sql(f"select count(*) from read_parquet('{self.path}')").fetchall()[0][0])

    def truths(self, statistic: Statistic) -> list[float]:
        ((_, truths, *_),) = exact_values(str(self.path), statistic, Reading(Columns(("key",), "value")))
        return [float(truth) for truth in truths]

    def exact(self, statistic: Statistic) -> float:
        """Of what is measured: a moment, the entropy, the total, the number of keys."""
        shares = self.totals / self.totals.sum()
        if isinstance(statistic, ss.Shannon):
            return float(-np.sum(shares * np.log(shares)))
        if isinstance(statistic, ss.Total):
            return float(self.totals.sum())
        return float(np.sum(self.totals.astype(float) ** statistic.p))

    def spread(self, p: float) -> float:
        """Σ f^{2p}/F_p², one over the number of keys that count."""
        powers = self.totals.astype(float) ** p
        return float(np.sum(powers**2) / np.sum(powers) ** 2)

    def collected(self, plan: ss.Plan) -> Collector:
        """Under a fresh secret."""
        collector = plan.open()
        prints = collector.fingerprint(self.keys)
        collector.add_folded(prints, self.totals, self.pairs)
        return collector


def streams_of(folder: Path) -> list[Stream]:
    """Small ones first."""
    found = [Stream(path) for path in folder.glob("*.parquet")]
    if not found:
        sys.exit(f"No Parquet files in {folder}.")
    return sorted(found, key=lambda stream: len(stream.totals))


def privacy_for(stream: Stream, statistic: Statistic) -> ss.Privacy:
    """Rows, added or removed; of inequality whole people, replaced, since their number has to be known."""
    if isinstance(statistic, ss.Atkinson | ss.GeneralisedEntropy):
        return ss.Privacy(EPSILON, DELTA, pairs=stream.pairs, max_value=stream.largest, unit="key", relation="replace")
    return ss.Privacy(EPSILON, DELTA, max_value=stream.largest)


def measured(
    stream: Stream,
    statistic: Statistic,
    releases: int,
    *,
    privacy: ss.Privacy | None = None,
    mechanism: MechanismName = "sketch",
    size: int | None = None,
) -> list[dict[str, object]]:
    """A row, or of a profile a row for every order."""
    truths = stream.truths(statistic)
    row: dict[str, object] = {
        "file": stream.path.stem, "statistic": statistic.name, "pairs": stream.pairs, "keys": len(stream.totals),
        "max_value": stream.largest,
    }  # fmt: skip
    try:
        plan = ss.plan(statistic, privacy or privacy_for(stream, statistic), mechanism=mechanism, size=size)
    except ss.PlanInfeasible as error:
        return [{**row, "order": statistic.p, "truth": truths[0], "refused": str(error)}]
    stored = len(stream.collected(plan).to_bytes())
    found = [stream.collected(plan).release() for _ in bar(range(releases), f"{stream.path.stem}, {statistic}")]
    row |= {
        "size": plan.size, "per_key": touched(plan), "bytes": stored, "epsilon": plan.epsilon, "releases": releases,
        "noise": found[0].noise,
    }  # fmt: skip
    if not isinstance(statistic, Profile):
        values = [(one.value, one.low, one.high) for one in found]
        return [{**row, **_told(stream, statistic, plan, truths[0], values)}]
    return [
        {**row, **_told(stream, order, plan, truth, [_point(one, i) for one in found])}
        for i, (order, truth) in enumerate(zip(statistic.points, truths, strict=True))
    ]


def _point(release: ss.Release, place: int) -> tuple[float, float, float]:
    point = release.points[place]
    return point.value, point.low, point.high


def _told(
    stream: Stream, statistic: Statistic, plan: ss.Plan, truth: float, found: list[tuple[float, float, float]]
) -> dict[str, object]:
    scale = truth if statistic.relative else 1.0
    if isinstance(statistic, ss.Tsallis):  # that of Σ s^q = 1 + (1-q) T, relative to it
        scale = truth + 1.0 / (1.0 - statistic.p)
    errors = [(value - truth) / scale for value, _, _ in found]
    exact = math.sqrt(2.0) * stream.largest**statistic.p / EPSILON / truth if isinstance(statistic, ss.Moment) else ""
    return {
        "order": statistic.p, "truth": truth, "planned": predicted(stream, statistic, plan, even=True),
        "sketch": predicted(stream, statistic, plan, noise=False), "predicted": predicted(stream, statistic, plan),
        "error": math.sqrt(statistics.fmean(error**2 for error in errors)), "bias": statistics.fmean(errors),
        "covered": sum(low <= truth <= high for _, low, high in found),
        "width": statistics.fmean((high - low) / scale for _, low, high in found), "exact_error": exact,
    }  # fmt: skip


def touched(plan: ss.Plan) -> int:
    """Entries that one pair changes, in all measurements; of the registers of a distinct count it is one."""
    inputs = [one for one in plan.inputs or (plan,) if one.size]
    return sum(1 if isinstance(one.statistic, ss.Distinct) else one.entries_per_key for one in inputs)


def predicted(stream: Stream, statistic: Statistic, plan: ss.Plan, *, even: bool = False, noise: bool = True) -> float:
    """The error to expect of what the stream really has, by the formula of the plan; of several measurements, added up
    in squares. `even` as if no key dominated; without `noise` that of the sketches alone.
    """
    needed = statistic.needs(plan.privacy) if isinstance(statistic, Derived) else (statistic,)
    squares = 0.0
    for one in plan.inputs or (plan,):
        if one.statistic in needed:
            factor = statistic.factor(one.statistic) if isinstance(statistic, Derived) else 1.0
            squares += (factor * _error_of(stream, one, even, noise)) ** 2
    return math.sqrt(squares)


def _error_of(stream: Stream, one: ss.Plan, even: bool, noise: bool) -> float:
    """Of a sketch with noise sqrt(v (1/B + S (1 - 1/B)) + 2 b²/F²): a plan that expects nothing states sqrt(v/B), and
    b. S = Σ f^{2p}/F_p², and for entropy Σ f²/N²: how much of the square of the whole is that of single keys."""
    truth = stream.exact(one.statistic)
    if (one.mechanism == "exact" and isinstance(one.statistic, ss.Moment)) or isinstance(one.statistic, ss.Total):
        return one.error * (one.expected or 1.0) / truth if noise else 0.0
    if one.noise and not one.expected:
        alone = one.error * math.sqrt(1.0 + (0.0 if even else stream.spread(one.statistic.p)) * (one.buckets - 1))
        if not noise:
            return alone
        if isinstance(one.statistic, ss.Shannon):  # the noise is on N H, and on N
            entropy = None if even else truth
            return math.hypot(alone, entropy_noise(one).noise_deviation(float(stream.totals.sum()), entropy))
        order = max(one.statistic.p, 1.0)  # above 1 it is on the norm F^(1/p)
        return math.hypot(alone, order * math.sqrt(2.0) * one.noise / truth ** (1.0 / order))
    asked = replace(one.privacy, pairs=stream.pairs) if isinstance(one.statistic, ss.Shannon) else one.privacy
    expected = truth if one.statistic.relative else None
    return ss.plan(one.statistic, asked, size=one.size or None, mechanism=one.mechanism, expected=expected).error


def rows(results: Path) -> list[dict[str, str]]:
    if not results.exists():
        return []
    with results.open(newline="") as file:
        return list(csv.DictReader(file))


def write(results: Path, found: Sequence[dict[str, object]]) -> None:
    """More rows at the end."""
    fresh = not results.exists()
    with results.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if fresh:
            writer.writeheader()
        writer.writerows(found)


def verdict(results: Path) -> str:
    """Is it what was planned, over all rows? An error from 200 releases has itself an error of 5%."""
    found = rows(results)
    there = [row for row in found if not row["refused"]]
    if not there:
        return "Nothing was measured."
    refused = len(found) - len(there)
    noise = [row for row in there if float(row["predicted"]) > 0.5]
    there = [row for row in there if row not in noise]
    ratios = [float(row["error"]) / float(row["predicted"]) for row in there]
    covered, releases = (sum(int(row[name]) for row in there) for name in ("covered", "releases"))
    far = [f"{row['file']} {row['statistic']} {row['order']}: {ratio:.2f}"
           for row, ratio in zip(there, ratios, strict=True) if not 0.9 <= ratio <= 1.1]  # fmt: skip
    return "\n".join(
        [
            f"{len(found)} rows, {refused} refused. Error / planned error: "
            f"{math.sqrt(statistics.fmean(ratio**2 for ratio in ratios)):.3f} over all, "
            f"from {min(ratios):.2f} to {max(ratios):.2f}. Intervals that hold: {covered:,} of {releases:,} "
            f"({covered / releases:.1%}).",
            *(f"more than 10% off: {line}" for line in far),
            *(f"mostly noise, left out: {row['file']} {row['statistic']} {row['order']}" for row in noise),
        ]
    )


def pasted(page: Path, name: str, table: str) -> None:
    """The table into the page, after the comment that says what makes it."""
    text = page.read_text(encoding="utf-8")
    before, mark, after = text.partition(f"<!-- made by {name} -->\n")
    if not mark:
        sys.exit(f"{page} has no place for the table of {name}.")
    page.write_text(before + mark + table + after[after.index("\n\n") :], encoding="utf-8")


def bar(items: Iterable[Item], title: str) -> Iterator[Item]:
    """A line on standard error that says how far it is and how long it will take; only on a terminal."""
    listed, began = list(items), time.monotonic()
    for done, item in enumerate(listed):
        if sys.stderr.isatty():
            left = (time.monotonic() - began) / done * (len(listed) - done) if done else 0.0
            full = 30 * done // len(listed)
            print(
                f"\r{'█' * full}{'░' * (30 - full)} {title}, {left:4.0f} s left ", end="", file=sys.stderr, flush=True
            )
        yield item
    if sys.stderr.isatty():
        print("\r" + " " * 110 + "\r", end="", file=sys.stderr, flush=True)
