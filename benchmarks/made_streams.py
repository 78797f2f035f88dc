"""Moments of made-up streams: a million events, and one key that holds half. Do errors and intervals hold there?

    python benchmarks/made_streams.py [--releases 200]

Default plans with ε = 1, δ = 1e-9, one pair added or removed, every pair counting 1:

- a million events of 30,000 keys, the r-th in proportion to 1/r: F_0.5 is near 100,000;
- 2,000 keys with one pair each, and one key whose f^p is as much as that of all others together.

Each release has its own secret. The table goes into docs/accuracy.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import stablesketch as ss
from stablesketch.statistic import Statistic
from stream_study import Stream, measured, pasted

PAGE, NAME = Path(__file__).parents[1] / "docs" / "accuracy.md", "benchmarks/made_streams.py"
ORDERS = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Made(Stream):
    """Totals of keys 0, 1, 2, ..., made up of ones."""

    made: tuple[int, ...]

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        return np.array(self.made, dtype=np.int64)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        return np.arange(len(self.made))

    @property
    def largest(self) -> int:
        return 1

    @property
    def pairs(self) -> int:
        return sum(self.made)

    def truths(self, statistic: Statistic) -> list[float]:
        return [self.exact(statistic)]


def million() -> Made:
    weights = 1.0 / np.arange(1, 30_001)
    drawn = np.random.default_rng(1).multinomial(1_000_000, weights / weights.sum())
    return Made(Path("a million events, Zipf"), tuple(drawn[drawn > 0].tolist()))


def half(p: float) -> Made:
    others = 2_000
    return Made(Path("one key holds half"), (round(others ** (1.0 / p)), *[1] * others))


def table(releases: int) -> str:
    lines = [
        "| stream | p | F_p | entries | per key | planned | for this stream | measured | bias "
        "| coverage of 95% intervals | width / error |",
        "|---" * 11 + "|",
    ]
    for stream, p in [(million(), p) for p in ORDERS] + [(half(p), p) for p in ORDERS]:
        (row,) = measured(stream, ss.Moment(p), releases)
        number = {name: float(str(row[name])) for name in ("planned", "predicted", "error", "bias", "width", "truth")}
        shown = " | ".join(f"{100 * number[name]:.2f}%" for name in ("planned", "predicted", "error", "bias"))
        lines.append(
            f"| {stream.path} | {p:g} | {number['truth']:,.0f} | {row['size']:,} | {row['per_key']} | {shown} "
            f"| {row['covered']} of {releases} | {number['width'] / number['predicted']:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=200)
    made = table(parser.parse_args().releases)
    print(made)
    pasted(PAGE, NAME, made)


if __name__ == "__main__":
    main()
