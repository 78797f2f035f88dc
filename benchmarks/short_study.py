"""What the studies of short, simulated streams share: the stream, and a table that goes into a page of docs/."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from stream_study import Stream, pasted

DOCS = Path(__file__).parents[1] / "docs"


def stream_of(keys: NDArray[np.int64], folder: Path) -> Stream:
    """A stream of these keys, each with the value 1."""
    path = folder / f"{len(keys)}.parquet"
    pyarrow.parquet.write_table(pa.table({"key": keys, "value": np.ones(len(keys), dtype=np.int64)}), path)
    return Stream(path)


def percent(error: object) -> str:
    share = float(str(error))
    return "over 100%" if share > 1.0 else f"{100 * share:.2g}%"


def study(
    script: str, about: str | None, page: str, headings: Sequence[str],
    rows: Callable[[int, Path], Iterator[Sequence[str]]],
) -> None:  # fmt: skip
    """Prints the rows as they are made from so many releases each, and puts the table into the page."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=200)
    releases = parser.parse_args().releases
    lines = ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(releases, Path(folder)):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    pasted(DOCS / page, f"benchmarks/{script}", "\n".join(lines))
