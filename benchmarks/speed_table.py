"""A measured row, what it was meant to reach, and the table of all rows as CSV, as text and as markdown."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

__all__ = ["Row", "between", "markdown", "paste", "read", "text", "write"]


@dataclass(frozen=True)
class Row:
    """One comparison. Times in `unit`, `theirs` the peer's; a ratio is theirs ÷ ours: how many times as fast.

    `avx2` and `theirs_avx2` are the same with the AVX2 tier forced, None where no tier is involved or the machine has
    none. It is meant to reach `share_avx2` of the target.
    """

    name: str
    peer: str
    unit: str
    theirs: float
    ours: float
    theirs_avx2: float | None = None
    avx2: float | None = None
    target: float | None = None
    stretch: float | None = None
    share_avx2: float = 0.5

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    @property
    def ratio_avx2(self) -> float | None:
        if self.avx2 is None:
            return None
        return (self.theirs if self.theirs_avx2 is None else self.theirs_avx2) / self.avx2

    @property
    def target_avx2(self) -> float | None:
        return None if self.target is None or self.avx2 is None else self.share_avx2 * self.target

    @property
    def verdict(self) -> str:
        if self.stretch is not None and self.ratio >= self.stretch:
            return "stretch"
        return _verdict(self.ratio, self.target)

    @property
    def verdict_avx2(self) -> str:
        return _verdict(self.ratio_avx2, self.target_avx2)


def _verdict(ratio: float | None, target: float | None) -> str:
    if ratio is None or target is None:
        return ""
    return "pass" if ratio >= target else "miss"


def write(rows: list[Row], path: Path) -> None:
    """What was measured, and the ratios and verdicts that follow from it."""
    derived = ("ratio", "verdict", "ratio_avx2", "target_avx2", "verdict_avx2")
    names = [*(field.name for field in fields(Row)), *derived]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in rows:
            values = [getattr(row, name) for name in names]
            writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in values])


def read(path: Path) -> list[Row]:
    """The rows that `write` wrote, to as many digits."""
    texts = {"name", "peer", "unit"}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                **{
                    field.name: record[field.name]
                    if field.name in texts
                    else (float(record[field.name]) if record[field.name] else None)
                    for field in fields(Row)
                }  # type: ignore[arg-type]
            )
            for record in csv.DictReader(file)
        ]


HEADINGS = ("", "against", "theirs", "ours", "times as fast", "target", "reached", "AVX2 tier", "target", "reached")


def _shown(number: float) -> str:
    return f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"


def _cells(row: Row) -> tuple[str, ...]:
    goal = "" if row.target is None else f"{row.target:.2g}"
    if row.stretch is not None:
        goal += f" ({row.stretch:.2g})"
    return (
        row.name,
        row.peer,
        f"{_shown(row.theirs)} {row.unit}",
        f"{_shown(row.ours)} {row.unit}",
        _shown(row.ratio),
        goal,
        row.verdict,
        "" if row.ratio_avx2 is None else _shown(row.ratio_avx2),
        "" if row.target_avx2 is None else f"{row.target_avx2:.2g}",
        row.verdict_avx2,
    )


def markdown(rows: list[Row]) -> str:
    lines = [HEADINGS, tuple("---" for _ in HEADINGS), *map(_cells, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def text(rows: list[Row]) -> str:
    lines = [HEADINGS, *map(_cells, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _marks(block: str) -> tuple[str, str]:
    return f"<!-- {block}: made by make bench -->\n", f"\n<!-- end of {block} -->"


def between(page: Path, block: str) -> str:
    """What stands between the marks of a block of a page."""
    first, last = _marks(block)
    return page.read_text(encoding="utf-8").split(first)[1].split(last)[0]


def paste(page: Path, block: str, text: str) -> None:
    """Puts a text between the marks of a block."""
    first, last = _marks(block)
    before, rest = page.read_text(encoding="utf-8").split(first)
    _, after = rest.split(last)
    page.write_text(before + first + text + last + after, encoding="utf-8")
