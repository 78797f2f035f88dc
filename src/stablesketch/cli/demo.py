"""`stablesketch demo`: how varied are the words of Python's own standard library? Privately, by sketches, and exactly.

The stream is every word and identifier in the library's source, file by file, in batches. For comparison, a `Counter`
keeps what the sketches do not need: a table of all words.
"""

from __future__ import annotations

import os
import pickle
import platform
import re
import shlex
import sys
import sysconfig
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from .. import Hill, LibraryMissing, Outcome, Plan, Privacy, Release, Sketch, __version__, plan
from ..release.decide import decided_by_plan
from ..statistic import Subject
from ..text.spoken import at_most

ORDERS = (0.25, 0.5, 0.75)
SIZE = 500
BATCH_WORDS = 200_000
_WIDTH = 80  # columns

_WORD = re.compile(r"\b[^\W\d]\w*")  # not the e5 of 3e5
# Installed packages are not Python's own; tests are left out because not every distribution has them.
_LEFT_OUT = frozenset({"site-packages", "dist-packages", "test", "tests", "idle_test"})


def demo() -> int:
    try:
        return run(Path(sysconfig.get_paths()["stdlib"]), sys.stdout, sys.stderr)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


def run(root: Path, out: TextIO, progress: TextIO, size: int = SIZE) -> int:
    """Streams the *.py files below `root` and reports to `out`. Returns 0 if the properties shown at the end hold."""
    files = python_files(root)
    if not files:
        print(f"No *.py files in {root}: this Python stores its library in another form.", file=out)
        return 1
    report = Report(out)
    report.heading(f"stablesketch {__version__}: how varied are the words of Python's standard library?")

    sketches = {p: Sketch(p=p, size=size, law="one-sided") for p in ORDERS}
    whole = sketches[0.5]
    # The same stream again in two halves, under the same secret, for the merge shown at the end.
    halves = [Sketch(p=0.5, size=size, secret=whole.secret, law="one-sided") for _ in range(2)]
    # The plan is made before any word is read: it holds for every stream of any length.
    chosen = plan(Hill(0.5), Privacy(epsilon=1.0, delta=1e-9))
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
    released = collector.release()
    report.private(exact, chosen, released)
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
            f"{files[0].name} counted again, then deleted: the same bytes as before",
            changed and whole.to_bytes() == before,
        ),
    ]
    report.page(chosen, released)
    report.next()
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


def exact_hill(counts: Counter[str], p: float) -> float:
    """(F_p / N^p)^(1/(1-p)), of all words: how many equally frequent ones would be as varied as these (Hill, 1973)."""
    moment = float(sum(count**p for count in counts.values()))
    return float((moment / counts.total() ** p) ** (1.0 / (1.0 - p)))


class Report:
    """What the demo prints: at most 80 columns, and colour only on a terminal that wants it."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._colour = _is_terminal(out) and not os.environ.get("NO_COLOR")
        self._rule, self._yes, self._no = ("─", "✓", "✗") if _writes(out, "─✓✗") else ("-", "yes", "NO")
        self._epsilon, self._delta = ("ε", "δ") if _writes(out, "εδ") else ("epsilon", "delta")

    def heading(self, text: str) -> None:
        self._line(self._styled("1", text))

    def stream(self, files: Sequence[Path], exact: Counter[str], seconds: float) -> None:
        self._line(
            f"{exact.total():,} words, {len(exact):,} distinct, in {len(files):,} files of "
            f"Python {platform.python_version()}; took {seconds:.1f} s."
        )

    def private(self, exact: Counter[str], chosen: Plan, release: Release) -> None:
        self._section("The private answer")
        e, d = self._epsilon, self._delta
        self._text(chosen.statistic.headline(release, Subject(noun="words")), bold=True)
        price = f"It costs {e} = {at_most(release.epsilon)}, {d} = {at_most(release.delta, 3)}"
        self._text(f"{price}. It hardly depends on whether any one word is in the data.")
        truth = exact_hill(exact, 0.5)
        self._text(f"The truth, which nobody would publish, is {truth:,.0f}.")

    def diversity(self, exact: Counter[str], sketches: Sequence[Sketch]) -> None:
        self._section(f"Hill numbers by sketches of {sketches[0].size} entries, beside the exact ones")
        self._header("  order        exact       sketch             95% interval     error    stored")
        inside = 0
        for sketch in sketches:
            truth, found = exact_hill(exact, sketch.p), sketch.hill()
            inside += found.low <= truth <= found.high
            self._line(
                f"  {sketch.p:5.2f} {truth:12,.0f} {found.value:12,.0f} {_interval(found.low, found.high)}"
                f" {100.0 * (found.value / truth - 1.0):+8.1f}% {len(sketch.to_bytes()) / 1024:5.1f} KiB"
            )
        self._line()
        self._note(
            "  A Hill number is how many equally frequent words would be as varied. At a low",
            f"  order rare words count more. {inside} of {len(sketches)} intervals hold the exact value; in the",
            "  long run 19 of 20 do. These estimates are not private.",
        )

    def memory(self, exact: Counter[str], sketch: Sketch) -> None:
        self._section("What has to be stored")
        table, blob = len(pickle.dumps(dict(exact))), len(sketch.to_bytes())
        self._line(f"  the exact table  {table / 1024:9,.1f} KiB  every word and its count; grows with the data")
        self._line(f"  one sketch       {blob / 1024:9,.1f} KiB  {table / blob:,.0f} times smaller, without any words")

    def check(self, name: str, claim: str, holds: bool) -> bool:
        if name == "merge":
            self._section("Exact arithmetic")
        mark = self._styled("32", self._yes) if holds else self._styled("1;31", self._no)
        self._line(f"  {mark} {name:<8} {claim}")
        return holds

    def page(self, chosen: Plan, release: Release) -> None:
        """Writes the report to a new folder. Its picture needs a library that may be missing."""
        self._section("The report, which explains the answer to anyone")
        path = Path(tempfile.mkdtemp(prefix="stablesketch-demo-")) / "report.html"
        library = f"Python {platform.python_version()}: its standard library"
        try:
            Outcome(decided_by_plan(chosen), [release]).report(path, dataset=library, noun="words")
            self._line(f"  {path}")
        except LibraryMissing as error:
            path.parent.rmdir()
            self._text(f"Not written: {error}")

    def next(self) -> None:
        self._section("Next, your own file: one line")
        command = Path(sys.executable).with_name("stablesketch")
        here = command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command
        typed = shlex.quote(str(here)) if command.exists() else "stablesketch"
        self._line(f"  {typed} release FILE.csv --key COLUMN --epsilon 1 --delta 1e-9")
        self._line()
        self._note(
            "  Add --by COLUMN for one number per group, --person COLUMN to protect people,", "  --report r.html."
        )

    def _section(self, title: str) -> None:
        self._line()
        self._line(self._styled("1", title))

    def _text(self, text: str, bold: bool = False) -> None:
        """A paragraph, in characters that the stream can write."""
        plain = text if _writes(self._out, text) else text.encode("ascii", "replace").decode()
        for line in textwrap.wrap(plain, _WIDTH - 2):
            self._line(f"  {self._styled('1', line) if bold else line}")

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
        """Removes the bar, so that only the report remains. Returns the seconds since it was opened."""
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
    sys.exit(demo())
