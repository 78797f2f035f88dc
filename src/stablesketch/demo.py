"""`make demo`: how varied are the words of Python's own standard library? Exactly, by small sketches, and privately.

The stream is every word and identifier in the library's source, file by file, in batches. A `Counter` beside the
sketches keeps what they do without: a table of all words.
"""

from __future__ import annotations

import os
import pickle
import platform
import re
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from . import Moment, Plan, Privacy, Release, Sketch, __version__, plan

ORDERS = (0.25, 0.5, 0.75)
SIZE = 500
BATCH_WORDS = 200_000

_WORD = re.compile(r"\b[^\W\d]\w*")  # not the e5 of 3e5
# Installed packages are not Python's own; tests are left out because not every distribution has them.
_LEFT_OUT = frozenset({"site-packages", "dist-packages", "test", "tests", "idle_test"})


def main() -> int:
    try:
        return run(Path(sysconfig.get_paths()["stdlib"]), sys.stdout, sys.stderr)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


def run(root: Path, out: TextIO, progress: TextIO, size: int = SIZE) -> int:
    """Streams the *.py files below `root` and reports to `out`. Returns 0 if the properties shown at the end hold."""
    files = python_files(root)
    if not files:
        print(f"No *.py files in {root}: this Python carries its library in some other form.", file=out)
        return 1
    report = Report(out)
    report.heading(f"stablesketch {__version__}: how varied are the words of Python's standard library?")

    sketches = {p: Sketch(p=p, size=size, law="one-sided") for p in ORDERS}
    whole = sketches[0.5]
    # The same stream once more in two halves, under the same secret, for the merge that is shown at the end.
    halves = [Sketch(p=0.5, size=size, secret=whole.secret, law="one-sided") for _ in range(2)]
    # The plan is made before any word is read: it holds for every stream, of any length.
    chosen = plan(Moment(0.5), Privacy(epsilon=1.0, delta=1e-9), size=size)
    collector = chosen.open()
    exact: Counter[str] = Counter()
    bar = ProgressBar(progress, sum(path.stat().st_size for path in files))
    middle = len(files) // 2
    for half, part in zip(halves, (files[:middle], files[middle:]), strict=True):
        for words in batches(part, bar):
            for sketch in (*sketches.values(), half):
                sketch.update(words)
                bar.draw()
            collector.update(words)
            exact.update(words)
    seconds = bar.close()

    report.stream(files, exact, seconds)
    report.moments(exact, list(sketches.values()))
    report.diversity(exact, list(sketches.values()))
    report.memory(exact, whole)

    before = whole.to_bytes()
    merged = halves[0] + halves[1]
    again = words_of(files[0])
    whole.update(again)
    changed = whole.to_bytes() != before
    whole.delete(again)
    holds = [
        report.check("merge", "first half + second half = the whole, byte for byte", merged.to_bytes() == before),
        report.check(
            "delete",
            f"{files[0].name} counted again, then deleted: the bytes of before",
            changed and whole.to_bytes() == before,
        ),
    ]
    report.private(exact, chosen, collector.release())
    return 0 if all(holds) else 1


def python_files(root: Path) -> list[Path]:
    """The *.py files below `root` that belong to the library, in the same order on every machine."""
    found = sorted((path.relative_to(root) for path in root.rglob("*.py")), key=lambda path: path.parts)
    return [root / path for path in found if not _LEFT_OUT.intersection(path.parts)]


def words_of(path: Path) -> list[str]:
    return _WORD.findall(path.read_text(encoding="utf-8", errors="replace"))


def batches(files: Sequence[Path], bar: ProgressBar) -> Iterator[list[str]]:
    """The stream in pieces of BATCH_WORDS words or a little more."""
    batch: list[str] = []
    for path in files:
        words = words_of(path)
        batch += words
        bar.advance(path.stat().st_size, len(words))
        if len(batch) >= BATCH_WORDS:
            yield batch
            batch = []
    if batch:
        yield batch


def hill_number(moment: float, p: float, total: int) -> float:
    """(F_p / N^p)^(1/(1-p)): how many equally frequent words would be as varied as these (Hill, 1973)."""
    return float((moment / total**p) ** (1.0 / (1.0 - p)))


class Report:
    """What the demo prints: at most 80 columns, colour only on a terminal that wants it."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._colour = _is_terminal(out) and not os.environ.get("NO_COLOR")
        self._rule, self._yes, self._no = ("─", "✓", "✗") if _writes(out, "─✓✗") else ("-", "yes", "NO")
        self._plus_minus = "±" if _writes(out, "±") else "+-"
        self._epsilon, self._delta = ("ε", "δ") if _writes(out, "εδ") else ("epsilon", "delta")

    def heading(self, text: str) -> None:
        self._line(self._styled("1", text))

    def stream(self, files: Sequence[Path], exact: Counter[str], seconds: float) -> None:
        self._line(
            f"{exact.total():,} words, {len(exact):,} distinct, in {len(files):,} files of "
            f"Python {platform.python_version()}; took {seconds:.1f} s."
        )

    def moments(self, exact: Counter[str], sketches: Sequence[Sketch]) -> None:
        self._section(f"F_p = sum over words of (count of the word)^p, by sketches of {sketches[0].size} entries")
        self._header("    p    exact F_p       sketch             95% interval     error    stored")
        inside = 0
        for sketch in sketches:
            moment, estimate = exact_moment(exact, sketch.p), sketch.estimate()
            inside += estimate.low <= moment <= estimate.high
            self._line(
                f"  {sketch.p:4.2f} {moment:12,.0f} {estimate.value:12,.0f} {_interval(estimate.low, estimate.high)}"
                f" {100.0 * (estimate.value / moment - 1.0):+8.1f}% {len(sketch.to_bytes()):7,} B"
            )
        self._line()
        self._note(
            f"  {inside} of {len(sketches)} intervals hold the exact value; in the long run 19 of 20 do.",
            "  Each run draws fresh secrets, so each run errs differently.",
        )

    def diversity(self, exact: Counter[str], sketches: Sequence[Sketch]) -> None:
        self._section("What it means: the effective number of words, (F_p / N^p)^(1/(1-p))")
        self._header("    p        exact       sketch             95% interval")
        total = exact.total()
        for sketch in sketches:
            p, estimate = sketch.p, sketch.estimate()
            truth = hill_number(exact_moment(exact, p), p, total)
            value, low, high = (hill_number(f, p, sketch.total) for f in (estimate.value, estimate.low, estimate.high))
            self._line(f"  {p:4.2f} {truth:12,.0f} {value:12,.0f} {_interval(low, high)}")
        self._line()
        self._note(
            "  The stream is as varied as one of so many words, all equally frequent. With a",
            "  small p rare words count too. Errors of F_p grow by a factor 1/(1-p) here.",
        )

    def memory(self, exact: Counter[str], sketch: Sketch) -> None:
        self._section("What has to be stored")
        table, blob = len(pickle.dumps(dict(exact))), len(sketch.to_bytes())
        self._line(f"  the exact table  {table:11,} B   every word with its count, more as words come")
        self._line(f"  one sketch       {blob:11,} B   {table / blob:,.0f} times less, and no word in it")

    def check(self, name: str, claim: str, holds: bool) -> bool:
        if name == "merge":
            self._section("Exact arithmetic")
        mark = self._styled("32", self._yes) if holds else self._styled("1;31", self._no)
        self._line(f"  {mark} {name:<8} {claim}")
        return holds

    def private(self, exact: Counter[str], chosen: Plan, release: Release) -> None:
        self._section("A private release: plan, collector, release")
        e, d = self._epsilon, self._delta
        self._line(f"  planned    {e} = {chosen.epsilon:g}, {d} = {chosen.delta:g}, {chosen.size:,} entries")
        noise = f"{self._plus_minus} {2**0.5 * chosen.noise:.2g}"
        self._line(f"  error      {100 * chosen.error:.2g}% by the sketch, and noise of {noise}")
        self._line(f"  released   F_0.5 = {release.value:,.0f}, 95% between {release.low:,.0f} and {release.high:,.0f}")
        self._line(f"  the truth  F_0.5 = {exact_moment(exact, 0.5):,.0f}, which nobody would publish")
        self._line()
        self._note(
            "  Whoever sees the release cannot tell whether any one word is there or not.",
            "  Only a release is private: guard estimates and sketches like the words.",
        )

    def _section(self, title: str) -> None:
        self._line()
        self._line(self._styled("1", title))

    def _header(self, text: str) -> None:
        self._line(self._styled("2", text))
        self._line(self._styled("2", "  " + self._rule * (len(text) - 2)))

    def _note(self, *lines: str) -> None:
        for line in lines:
            self._line(self._styled("2", line))

    def _styled(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    def _line(self, text: str = "") -> None:
        print(text, file=self._out, flush=True)


def exact_moment(counts: Counter[str], p: float) -> float:
    """F_p from the table of all words: what the sketch estimates."""
    return float(sum(count**p for count in counts.values()))


class ProgressBar:
    """A bar that redraws itself on a terminal; elsewhere a line for every quarter of the stream."""

    WIDTH = 30

    def __init__(self, out: TextIO, volume: int) -> None:
        self.volume = max(volume, 1)
        self._out = out
        self._terminal = _is_terminal(out)
        self._full, self._empty = ("━", "╌") if _writes(out, "━╌") else ("#", ".")
        self._done = self._words = self._quarters = 0
        self._started = time.monotonic()
        self._drawn = 0.0

    def advance(self, volume: int, words: int) -> None:
        self._done += volume
        self._words += words
        self.draw()

    def draw(self) -> None:
        share = min(self._done / self.volume, 1.0)
        if self._terminal:
            now = time.monotonic()
            if now - self._drawn >= 0.05:
                self._drawn = now
                full = round(share * self.WIDTH)
                bar = self._full * full + self._empty * (self.WIDTH - full)
                self._write(f"\r\x1b[K  {bar} {share:4.0%}  {self._words:,} words  {now - self._started:.1f} s")
        elif int(4 * share) > self._quarters:
            self._quarters = int(4 * share)
            self._write(f"  {25 * self._quarters}% read, {self._words:,} words\n")

    def close(self) -> float:
        """Takes the bar away, so that the report alone remains; gives the seconds it was there."""
        if self._terminal:
            self._write("\r\x1b[K")
        return time.monotonic() - self._started

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _interval(low: float, high: float) -> str:
    return f"{low:10,.0f} to {high:9,.0f}"


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _writes(stream: TextIO, characters: str) -> bool:
    """Whether the encoding of the stream has these characters."""
    try:
        characters.encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
