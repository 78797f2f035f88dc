"""The picture of the README: how varied the words of six packages of Python's standard library are, released privately.

    python benchmarks/readme_picture.py [--output docs/images/packages.svg] [--data FOLDER]

It runs the command of the README, draws each value with its band, and marks the exact values, which can be shown
because this text is public. Releases are random: with a new picture, put the printed table into the README. Besides
packages.svg it writes packages-phone.svg, the same at half the width, for the first page of the site on a phone.
`--data` only writes what the command reads, words.csv and packages.txt, into FOLDER. Needs matplotlib (`make picture`).
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import shlex
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.cli.demo import python_files, words_of
from stablesketch.pictures import picture_bytes
from stablesketch.pictures.style import BLUE, GREY, SKY, VERMILION, WIDTH, canvas, in_style, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKAGES = ("asyncio", "email", "encodings", "http", "logging", "tkinter")
COMMAND = (
    "stablesketch release words.csv --key word --by package --groups packages.txt --order 1 "
    "--epsilon 1 --delta 1e-9 -o words.json"
)
TITLE = "How many effectively different words does a package use?"
NARROW = 4.1  # inches: about as wide as a phone shows it, so that type is as large there as in text
ALT = (
    "Effective number of words of six packages of Python's standard library: for each the released value, "
    "its 95% interval as a band, and the exact value as a tick, most of them inside the band."
)


def write_words(folder: Path) -> None:
    """words.csv has a row for each word and the package it is in; packages.txt lists the packages."""
    root = Path(sysconfig.get_paths()["stdlib"])
    with (folder / "words.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["package", "word"])
        for package in PACKAGES:
            for path in python_files(root / package):
                rows.writerows([package, word] for word in words_of(path))
    (folder / "packages.txt").write_text("".join(f"{package}\n" for package in PACKAGES), encoding="utf-8")


@in_style
def draw(released: Mapping[str, SimpleNamespace], exact: Mapping[str, float], *, narrow: bool = False) -> Figure:
    ordered = sorted(released, key=lambda package: -released[package].value)
    figure, (axes,) = canvas(NARROW, 4.4) if narrow else canvas(WIDTH, 3.7)
    for place, package in enumerate(ordered):
        one = released[package]
        axes.plot([one.low, one.high], [place, place], color=SKY, linewidth=11, solid_capstyle="butt", zorder=2)
        axes.plot([one.value], [place], "o", color=BLUE, markersize=8, zorder=4)
        axes.plot([exact[package]], [place], "|", color=VERMILION, markersize=20, markeredgewidth=2.5, zorder=3)
        axes.annotate(f"{one.value:,.0f}", (one.high, place), xytext=(9, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(ordered)), ordered)
    axes.set_ylim(len(ordered) - 0.4, -0.6)
    axes.set_xlim(0.0, (1.25 if narrow else 1.12) * max(one.high for one in released.values()))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", visible=False)
    released_as = "● released, in its\n    95% interval" if narrow else "● released, in its 95% interval"
    for height, colour, text in ((0.98, BLUE, released_as), (0.81 if narrow else 0.86, VERMILION, "| exact")):
        axes.text(0.02, height, text, color=colour, transform=axes.transAxes, fontsize=12, va="top")
    between = "\n" if narrow else " "
    about = f"Hill number of order 1;{between}ε = 1, δ = 1e-9 for the whole table"
    axes.set_xlabel(about, fontsize=12 if narrow else 10.5, color=GREY)
    titled(figure, TITLE.replace("different ", "different\n") if narrow else TITLE)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description="The picture of the README.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "docs" / "images" / "packages.svg")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.data:
        return write_words(options.data)
    with tempfile.TemporaryDirectory() as folder:
        write_words(Path(folder))
        with contextlib.chdir(folder):
            run(shlex.split(COMMAND)[1:])
            released = {one["group"]: SimpleNamespace(**one) for one in json.loads(Path("words.json").read_text())}
            exact = ss.exact("words.csv", ss.Hill(1), key="word", by="package")
    true = {name: exact[name].value for name in PACKAGES}
    for path, narrow in ((options.output, False), (options.output.with_stem(f"{options.output.stem}-phone"), True)):
        path.write_bytes(picture_bytes(draw(released, true, narrow=narrow), path, TITLE, ALT))
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
