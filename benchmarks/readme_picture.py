"""The picture of the README: what a sketch stores and how accurate it is, on the words of Python's standard library.

    python benchmarks/readme_picture.py [--output docs/images/words.png]

Needs matplotlib, which `make picture` brings. Left, the bytes to be stored as the stream of the demo goes by: the exact
table of words (pickled) and one sketch. Right, estimates by many sketches of each size. They are disjoint groups of
entries of one very large sketch of that stream: the entries are independent, so such a group is a sketch. The secret
is fixed, so the same Python gives the same picture.
"""

from __future__ import annotations

import argparse
import math
import pickle
import sysconfig
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import stablesketch as ss
from stablesketch.demo import exact_moment, python_files, words_of
from stablesketch.law.one_sided import OneSidedLaw
from stablesketch.pictures import picture_bytes
from stablesketch.pictures.style import BLUE, GREY, VERMILION, canvas, in_style
from stablesketch.sketch import wire
from stablesketch.sketch.estimators.one_sided import log_estimates

P = 0.5
STORED_SIZE = 203
TITLE = "What a sketch stores and how accurate it is"
SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048)
SKETCHES = 32  # of each size
SECRET = ss.Secret.from_bytes(bytes(range(32)))  # for a picture that can be made again; never use such a secret


@dataclass(frozen=True)
class Growth:
    """Bytes stored after so many words."""

    words: list[int]
    table: list[int]
    sketch: list[int]


def stream() -> list[str]:
    return [word for path in python_files(Path(sysconfig.get_paths()["stdlib"])) for word in words_of(path)]


def growth(words: list[str]) -> Growth:
    marks = [int(mark) for mark in np.geomspace(1_000, len(words), 25)]
    result = Growth(marks, [], [])
    exact: Counter[str] = Counter()
    sketch = ss.Sketch(p=P, size=STORED_SIZE, secret=SECRET, law="one-sided")
    for start, stop in zip([0, *marks], marks, strict=False):
        exact.update(words[start:stop])
        sketch.update(words[start:stop])
        result.table.append(len(pickle.dumps(dict(exact))))
        result.sketch.append(len(sketch.to_bytes()))
    return result


def estimates(exact: Counter[str]) -> dict[int, NDArray[np.float64]]:
    """For each size, F_hat of SKETCHES sketches over the exact F_p."""
    sketch = ss.Sketch(p=P, size=SKETCHES * max(SIZES), secret=SECRET, law="one-sided")
    sketch.update(list(exact), list(exact.values()))
    frame = wire.decode(sketch.to_bytes())
    unit = frame.resolution * math.log(2.0)
    logs = np.array([math.log(entry) - unit for entry in frame.entries])
    truth = math.log(exact_moment(exact, P))
    return {size: np.exp(log_estimates(logs[: SKETCHES * size].reshape(SKETCHES, size), P) - truth) for size in SIZES}


@in_style
def draw(stored: Growth, ratios: dict[int, NDArray[np.float64]], output: Path) -> None:
    figure, (left, right) = canvas(12.0, 4.6, 2)

    left.loglog(stored.words, stored.table, color=VERMILION, linewidth=3)
    left.loglog(stored.words, stored.sketch, color=BLUE, linewidth=3)
    left.text(stored.words[12], stored.table[12] * 1.9, "exact table", color=VERMILION, ha="right", weight="bold")
    left.text(stored.words[12], stored.sketch[12] * 0.55, f"sketch of {STORED_SIZE} entries", color=BLUE, weight="bold")
    left.set_ylim(1_000, 2_000_000)
    left.set_yticks([1e3, 1e4, 1e5, 1e6], ["1 KB", "10 KB", "100 KB", "1 MB"])
    left.set_xticks([1e3, 1e4, 1e5, 1e6], ["1,000", "10,000", "100,000", "1 million"])
    left.minorticks_off()
    left.set_xlabel("words read")
    left.set_title("Bytes to store")

    sizes = np.geomspace(0.82 * min(SIZES), 1.22 * max(SIZES), 100)
    spread = 1.96 * np.sqrt(1.0 / (sizes * OneSidedLaw(P).fisher_information))
    right.fill_between(sizes, np.exp(-spread), np.exp(spread), color=BLUE, alpha=0.15, linewidth=0)
    right.axhline(1.0, color=VERMILION, linewidth=2)
    jitter = np.exp(np.linspace(-0.16, 0.16, SKETCHES))
    for size, values in ratios.items():
        right.plot(size * jitter, values, "o", color=BLUE, markersize=5, alpha=0.75, markeredgewidth=0)
    right.set_xscale("log", base=2)
    right.set_yscale("log")
    right.set_ylim(0.45, 2.2)
    right.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    right.set_yticks([0.5, 0.7, 1.0, 1.4, 2.0], ["0.5×", "0.7×", "exact", "1.4×", "2×"])
    right.minorticks_off()
    right.set_xlabel("entries of the sketch")
    right.set_title(f"Estimates of F_p, p = {P:g}: a dot is a sketch")
    right.text(2_300, 1.45, "shaded: 95% of\nestimates at the\nCramér–Rao bound", color=GREY, ha="right", fontsize=12)

    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(picture_bytes(figure, output, TITLE, TITLE))
    print(f"{output}: {output.stat().st_size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description="The picture of the README.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "docs" / "images" / "words.png")
    options = parser.parse_args()
    words = stream()
    draw(growth(words), estimates(Counter(words)), options.output)


if __name__ == "__main__":
    main()
