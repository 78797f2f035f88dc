"""The output of the reproduction: a CSV for each result, an SVG and a PNG for each figure, the same in every run."""

from __future__ import annotations

import functools
import io
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from ..errors import ArgumentError
from ..files import durable
from ..pictures.save import themed
from ..pictures.style import in_style, need_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Arguments = ParamSpec("Arguments")
Verdict = Literal["confirmed", "refuted"]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, whether it holds, and the numbers that show it."""

    place: str
    statement: str
    verdict: Verdict
    evidence: str


@dataclass
class Output:
    """A folder, and what was written there."""

    folder: Path
    quick: bool = False
    progress: bool = True
    claims: list[Claim] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentError(
                "output", str(self.folder), f"cannot be created as a folder ({error.strerror})", "Choose another place"
            ) from None

    def say(self, what: str) -> None:
        """Writes a line of progress to standard error, with the seconds since the start."""
        if self.progress:
            print(f"paper: {time.monotonic() - self._began:5.0f} s  {what}", file=sys.stderr, flush=True)

    def claim(self, place: str, statement: str, holds: bool, evidence: str) -> None:
        """Records a statement and its verdict. The caller computes whether it holds from the numbers shown."""
        self.claims.append(Claim(place, statement, "confirmed" if holds else "refuted", evidence))

    def table(self, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """name.csv: a header and rows, floats with nine digits."""
        lines = [",".join(header), *(",".join(_cell(value) for value in row) for row in rows)]
        self.text(f"{name}.csv", "\n".join(lines) + "\n")

    def text(self, name: str, content: str) -> None:
        """Writes a text file, completely or not at all."""
        self._write(self.folder / name, content.encode())

    def canvas(self, width: float = 7.0, height: float = 4.8, columns: int = 1) -> tuple[Figure, Any]:
        """A figure, and its axes: one, or an array of several. Call it, and draw, within `in_formula_style`."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, columns, squeeze=False)[0]
        return figure, axes if columns > 1 else axes[0]

    def figure(self, name: str, figure: Figure) -> None:
        """name.svg and name.png, without dates, so that equal numbers give equal bytes."""
        for kind in ("svg", "png"):
            buffer = io.BytesIO()
            metadata = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
            figure.savefig(buffer, format=kind, dpi=140, metadata=metadata, transparent=kind == "svg")
            content = buffer.getvalue() if kind == "png" else themed(buffer.getvalue())
            self._write(self.folder / f"{name}.{kind}", content)

    def _write(self, path: Path, content: bytes) -> None:
        durable.write_over(path, content)
        path.chmod(0o644)  # unlike the other files of this package, it is for everyone


def in_formula_style(run: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Makes a function draw in the style of all pictures; here text may also contain formulas ($x^2$)."""

    @functools.wraps(run)
    def styled(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        with need_matplotlib().rc_context({"text.parse_math": True}):
            run(*args, **kwargs)

    return in_style(styled)


def _cell(value: object) -> str:
    text = f"{value:.9g}" if isinstance(value, float) else str(value)
    return f'"{text}"' if "," in text else text
