"""The options that several commands share, each written once."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import BlobError, ForeignBlob, LedgerMismatch
from ..format.framing import MAGIC
from ..ledger import Ledger
from ..plan import Plan
from ..privacy import Privacy
from ..statistic import STATISTICS

in_data, in_privacy, in_size, in_output = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("Data", "Privacy", "Accuracy", "Output")
)


def count(text: str | int) -> int:
    """A whole number as people write it: 1000000, 1_000_000, 1,000,000 or 1e6."""
    if isinstance(text, int):
        return text
    plain = text.strip().replace("_", "").replace(",", "")
    match = re.fullmatch(r"(-?\d+)(?:\.(\d+))?(?:[eE]\+?(\d{1,2}))?", plain)
    if match is not None:
        whole, fraction, power = match[1], (match[2] or "").rstrip("0"), int(match[3] or 0)
        if len(fraction) <= power:
            return int(whole + fraction + "0" * (power - len(fraction)))
    raise typer.BadParameter(f"{text!r} is not a whole number. Write it in digits, such as 20, or 1e6 for a million.")


count_in_data, count_in_privacy = (partial(option, parser=count, metavar="N") for option in (in_data, in_privacy))


def _of_people() -> str:
    """The statistics whose keys are people."""
    *first, last = (kind.name for kind in STATISTICS.values() if kind.on_command_line and kind.of_people)
    return f"{', '.join(first)} and {last}" if first else last


def columns_listed(names: str | None) -> list[str]:
    """Names of columns, separated by commas."""
    return [] if names is None else [name.strip() for name in names.split(",")]


Key = Annotated[
    str | None,
    in_data("--key", metavar="COLUMN", help="The key column. Several columns, separated by commas, form one key."),
]
Value = Annotated[
    str | None,
    in_data(metavar="COLUMN", help="The column of values (whole numbers). Without it, every pair counts 1."),
]
By = Annotated[
    str | None, in_data(metavar="COLUMN", help="One number per group: the column or columns that name the group.")
]
Wide = Annotated[
    bool,
    in_data(
        "--wide",
        help="Each row is a sample, and each column that --by or --person does not name is a key, such as a species.",
    ),
]
OnBad = Annotated[Literal["error", "skip"], in_data(help="What to do with invalid rows: error or skip.")]
Clip = Annotated[bool, in_data("--clip", help="Clip values above --max-value instead of refusing them.")]
Unit = Annotated[
    Literal["pair", "key", "individual"] | None,
    in_privacy(
        help=f"What is protected: a pair; a whole key, if each key is one person (as for {_of_people()}); "
        "or an individual, if values count individuals (default with --wide)."
    ),
]
Epsilon = Annotated[float | None, in_privacy(help="Maximum ε: the smaller, the more private. 1 is common.")]
Delta = Annotated[float | None, in_privacy(help="Maximum δ: far below 1 / (number of people), such as 1e-9.")]
Pairs = Annotated[
    int | None,
    count_in_privacy(
        help="Minimum number of pairs, from public knowledge. Only --mechanism bare needs it. Under --relation replace "
        "the number is public, and a release counts it.",
    ),
]
Relation = Annotated[
    Literal["replace", "add_remove"] | None,
    in_privacy(
        help="What is hidden. add_remove: whether a pair is there. replace: what a pair is; the number of pairs is "
        "then public, and a table with --by takes twice the noise (default: add_remove, but replace for statistics "
        "about people)."
    ),
]
PairsUsed = Annotated[
    int | None,
    count_in_privacy(
        show_default=False,
        help="Maximum number of pairs per person (default 1). With --person, this many of their rows are used.",
    ),
]
GroupsPerPerson = Annotated[int, in_privacy(help="Maximum number of groups per person.")]
Total = Annotated[
    int,
    count_in_privacy(help="Minimum sum of all values, from public knowledge. Only --mechanism bare needs it."),
]
Error = Annotated[
    float | None, in_size(help="Target error of the sketch, such as 0.05 (relative for moments). Noise adds to it.")
]
Memory = Annotated[str | None, in_size(metavar="BYTES", help="Approximate size of a stored sketch, such as 64K.")]
Mechanism = Annotated[
    Literal["sketch", "exact", "bare"],
    in_size(
        help="sketch; exact, private too, which holds all keys in memory and is more accurate; or bare, a sketch "
        "without noise, for long streams."
    ),
]
Confidence = Annotated[float, in_size(help="Confidence level of the intervals.")]
PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan: stablesketch plan ... -o plan.json.")]
Json = Annotated[bool, in_output("--json", help="Print JSON.")]
Output = Annotated[Path | None, in_output("--output", "-o", help="Write to this new file.")]
Plot = Annotated[Path | None, in_output(help="Save a picture to this new file: .png, .svg or .html.", metavar="FILE")]


def key_of(key: str | None, *, wide: bool) -> list[str] | None:
    """The columns of the key: the whole line of plain lines, none in a wide table."""
    return columns_listed(key or "line") if key or not wide else None


def privacy_of(
    epsilon: float | None, delta: float | None, pairs: int | None, max_value: int | None, relation: str | None,
    pairs_per_person: int, unit: str | None = None, total: int = 0,
) -> Privacy:  # fmt: skip
    """What to protect. ε and δ have no default, because only the user can choose them; a statistic or the data may
    decide what is None.
    """
    for name, given in (("--epsilon", epsilon), ("--delta", delta)):
        if given is None:
            raise typer.BadParameter(
                f"{name} is required: it says how private the release is. Try --epsilon 1 --delta 1e-9."
            )
    return Privacy(epsilon, delta, pairs, max_value, relation, pairs_per_person, unit, total)  # type: ignore[arg-type]


def open_ledger(path: Path) -> Ledger:
    """An existing ledger; none is created."""
    if not path.exists():
        raise LedgerMismatch(
            f"ledger {path} does not exist. Create one: stablesketch ledger new {path} --epsilon 3 --delta 1e-6"
        )
    if path.is_file() and not path.stat().st_size:
        raise LedgerMismatch(
            f"{path} is an empty file, not a ledger. Create one under another name: stablesketch ledger new budget.db "
            "--epsilon 3 --delta 1e-6"
        )
    return Ledger(path)


def read_plan(path: Path) -> Plan:
    """A plan that `stablesketch plan -o` wrote."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BlobError(
            f"{path}: cannot read the plan: {error.strerror}. Make one: stablesketch plan ... -o {path}"
        ) from None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        sketch = content.startswith(MAGIC)
        problem = "this is a stored sketch, not a plan" if sketch else "cannot read the plan: it is not UTF-8"
        raise BlobError(f"{path}: {problem}. Make a plan: stablesketch plan ... -o plan.json") from None
    with of_file(path):
        return Plan.from_json(text)


@contextlib.contextmanager
def of_file(path: Path) -> Iterator[None]:
    """Adds the name of the file to errors about its content."""
    try:
        yield
    except ForeignBlob:
        raise ForeignBlob(f"{path}: not a stored sketch. Name files that stablesketch sketch -o has written.") from None
    except BlobError as error:
        raise type(error)(f"{path}: {error.wording}") from None
