"""Figure 5 of the paper: the error on real data against p; a million pairs, 50 entries, median of 5 runs, both ways.

The paper's stream, app events of a commercial SDK, is not available. `--data` takes a folder of Parquet files with
columns `key` and `value`, one stream each. Without it, a substitute of the same shape is generated: a million pairs
from a domain of 1,488,095 keys, most of which occur once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError, DataError, LibraryMissing
from ..pictures.style import COLOURS, GREY
from ..privacy.sample_moment import predicted_bias
from .algorithm import RATE, KeyTotals, generator, library_plan, library_release, moment, price, sampled_estimate
from .output import Output

MOST_PAIRS, DOMAIN = 1_000_000, 1_488_095
MAIN = "debian_filenames_1m"


@dataclass(frozen=True)
class PaperPairs:
    """A stream pair by pair: keys numbered from 0, and values."""

    name: str
    keys: NDArray[np.int64]
    values: NDArray[np.int64]

    def added_up(self) -> KeyTotals:
        return KeyTotals(*_by_key(self.keys, self.values), len(self.keys), int(self.values.max()))

    def sampled(self, label: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs that Algorithm 2 keeps, added up by key."""
        kept = generator(f"sample/{label}").random(len(self.keys)) < RATE
        return _by_key(self.keys[kept], self.values[kept])


def _by_key(keys: NDArray[np.int64], values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    totals = np.bincount(keys, values).astype(np.int64)
    there = np.flatnonzero(totals)
    return there, totals[there]


def stand_in(pairs: int) -> PaperPairs:
    """Keys of rank k with probability proportional to (k + 20)^-0.55: about as sparse as the paper's stream."""
    chances = (np.arange(DOMAIN) + 20.0) ** -0.55
    keys = generator("stand-in").choice(DOMAIN, size=pairs, p=chances / chances.sum())
    return PaperPairs("generated", keys.astype(np.int64), np.ones(pairs, np.int64))


def check_folder(folder: Path) -> list[Path]:
    """The Parquet files of a folder, by name; an error if there are none."""
    files = sorted(folder.glob("*.parquet")) if folder.is_dir() else []
    if not files:
        raise ArgumentError(
            "data", str(folder), "must be a folder with Parquet files", "Pass a folder that holds *.parquet"
        )
    return files


def read_streams(folder: Path) -> list[PaperPairs]:
    """All Parquet files of a folder, by name; at most a million rows of each, drawn without replacement."""
    files = check_folder(folder)
    try:
        import pyarrow.parquet
    except ImportError:
        raise LibraryMissing("Parquet files need pyarrow. Run: pip install 'stablesketch[paper]'") from None
    streams = []
    for path in files:
        try:
            table = pyarrow.parquet.read_table(path, columns=["key", "value"])
        except (OSError, KeyError, ValueError) as error:
            raise DataError(
                str(path), f"not a Parquet file with columns key and value ({error})", "Remove it"
            ) from None
        keys = table["key"].combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
        values = table["value"].combine_chunks().to_numpy(zero_copy_only=False)
        if table["key"].null_count or values.dtype.kind not in "iu" or values.min() < 1:
            raise DataError(str(path), "null keys, or values that are not positive integers", "Clean the file first")
        if len(keys) > MOST_PAIRS:
            rows = np.sort(generator(f"rows/{path.stem}").choice(len(keys), MOST_PAIRS, replace=False))
            keys, values = keys[rows], values[rows]
        streams.append(PaperPairs(path.stem, keys.astype(np.int64), values.astype(np.int64)))
    return streams


def bias_of(pairs: PaperPairs, p: float) -> float:
    """The predicted bias of Algorithm 2: exact for values of 1, and the mean of 20 samples otherwise."""
    stream = pairs.added_up()
    if stream.most == 1:
        return predicted_bias(stream.totals, RATE, p)
    means = [moment(pairs.sampled(f"bias/{pairs.name}/{k}")[1], p) for k in range(20)]
    return float(np.mean(means) / (RATE**p * moment(stream.totals, p))) - 1.0


def run(output: Output, data: Path | None) -> None:
    """figure-5-real-<name> for every stream."""
    orders = [0.05, 0.25, 0.5, 0.75, 1.0] if output.quick else [round(0.05 * k, 2) for k in range(1, 21)]
    runs = 3 if output.quick else 5
    if data is None:
        streams = [stand_in(MOST_PAIRS // 10 if output.quick else MOST_PAIRS)]
    else:
        streams = read_streams(data)
        if output.quick:
            streams = [s for s in streams if s.name == MAIN] or streams[:1]
    header = ["p", "paper", "paper_low", "paper_high", "library", "library_low", "library_high"]
    header += ["bias", "claimed_epsilon", "paper_epsilon", "library_epsilon", "library_floor", "exact"]
    for pairs in streams:
        rows = _rows(output, pairs, orders, runs)
        output.table(f"figure-5-real-{pairs.name}", header, rows)
        _draw(output, pairs, rows)
        if pairs.name in (MAIN, "generated"):
            _judge(output, pairs, rows, runs)


def _rows(output: Output, pairs: PaperPairs, orders: list[float], runs: int) -> list[tuple[float, ...]]:
    stream = pairs.added_up()
    rows = []
    for p in orders:
        output.say(f"{pairs.name}: {stream.pairs:,} pairs, {len(stream.keys):,} keys, p = {p:g}, {runs} runs")
        exact, cost = moment(stream.totals, p), price(p, stream.pairs, stream.most, DOMAIN)
        labels = [f"{pairs.name}/{p}/{k}" for k in range(runs)]
        theirs = [abs(sampled_estimate(*pairs.sampled(label), p, label) / exact - 1.0) for label in labels]
        ours = [abs(library_release(stream, p, label) / exact - 1.0) for label in labels]
        spread = [float(q) for errors in (theirs, ours) for q in np.quantile(errors, (0.5, 0.25, 0.75))]
        paid = (cost.claimed, cost.sampled, cost.library, library_plan(p, stream.pairs, stream.most).floor)
        rows.append((p, *spread, bias_of(pairs, p), *paid, exact))
    return rows


def _draw(output: Output, pairs: PaperPairs, rows: list[tuple[float, ...]]) -> None:
    figure, (left, right) = output.canvas(13.0, 5.2, columns=2)
    p = [row[0] for row in rows]
    left.plot(p, [row[1] for row in rows], "o--", color=COLOURS[1], label="as the paper ran it (q = 0.02)")
    left.fill_between(p, [r[2] for r in rows], [r[3] for r in rows], color=COLOURS[1], alpha=0.15, linewidth=0)
    left.plot(p, [abs(row[7]) for row in rows], ":", color=GREY, linewidth=1.6, label="predicted sampling bias")
    left.plot(p, [row[4] for row in rows], "s-", color=COLOURS[0], label="as this library would")
    left.fill_between(p, [r[5] for r in rows], [r[6] for r in rows], color=COLOURS[0], alpha=0.15, linewidth=0)
    left.set(xlim=(0, 1.02), ylim=(0, max(1.0, 1.05 * max(r[6] for r in rows))), xlabel="$p$")
    left.set_ylabel("multiplicative error γ")
    left.set_title(pairs.name)
    left.legend(loc="best")
    shown = {
        "claimed by Theorem 4 (false)": (8, "--", COLOURS[3]),
        "paper's way: truly at most": (9, "o--", COLOURS[1]),
        "library": (10, "s-", COLOURS[0]),
    }
    for label, (column, line, colour) in shown.items():
        values = [row[column] if np.isfinite(row[column]) and row[column] > 1e-7 else np.nan for row in rows]
        right.semilogy(p, values, line, color=colour, label=label)
    right.set(xlim=(0, 1.02), xlabel="$p$", ylabel="ε at δ = $10^{-6}$")
    right.set_title("What each costs")
    right.legend(loc="best")
    output.figure(f"figure-5-real-{pairs.name}", figure)


def _judge(output: Output, pairs: PaperPairs, rows: list[tuple[float, ...]], runs: int) -> None:
    first, last = rows[0], rows[-1]
    order = np.corrcoef(np.arange(len(rows)), np.argsort(np.argsort([row[1] for row in rows])))[0, 1]
    output.claim(
        "Section 5.2, real data", "the further p is from 1, the larger the error",
        order < -0.8,
        f"{pairs.name}, medians of {runs}: {first[1]:.2f} at p = {first[0]:g}, {last[1]:.2f} at p = {last[0]:g}, rank "
        f"correlation {order:.2f}; predicted bias {first[7]:.3f} and {last[7]:.3f}",
    )  # fmt: skip
    worst = max(rows, key=lambda row: row[4])
    output.claim(
        "Abstract", "the sketch can reach a reasonable accuracy with a privacy guarantee", worst[4] < 0.5,
        f"{pairs.name}: but by Algorithm 2 the error is up to {max(row[1] for row in rows):.2f}; without sampling it "
        f"is {worst[4]:.2f} at most (p = {worst[0]:g}), at ε ≤ {max(row[10] for row in rows):.2f}",
    )  # fmt: skip
