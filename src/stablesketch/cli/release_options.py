"""The options of `stablesketch release` that belong together: columns, privacy, files, and where the data are read."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..bounding.max_value import AutoMaxValue
from ..errors import DataError
from ..privacy import Privacy
from ..release.arguments import DEFAULTS
from ..report import Named
from . import options
from .screen import note


def _max_value_or_auto(text: str | int) -> int | str:
    if text == "auto":
        return text
    try:
        return options.count(text)
    except typer.BadParameter as error:
        raise typer.BadParameter(f"{error.message} Or write auto, which finds it privately.") from None


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns say what, and the public names of groups."""

    key: options.Key = None
    value: options.Value = None
    clip: options.Clip = DEFAULTS["clip"]
    by: options.By = None
    groups: Annotated[
        Path | None,
        options.in_data(help="A file of public group names, one per line; without it, names are chosen privately."),
    ] = None
    person: Annotated[
        str | None,
        options.in_data(metavar="COLUMN", help="The column that identifies a person: protects people, not rows."),
    ] = None

    def arguments(self, *, wide: bool) -> dict[str, Any]:
        """All of it, by the names that arguments have in Python."""
        return {
            "key": options.key_of(self.key, wide=wide),
            "value": self.value,
            "clip": self.clip,
            "by": options.columns_listed(self.by),
            "groups": None if self.groups is None else _group_names(self.groups, len(options.columns_listed(self.by))),
            "person": self.person,
        }


@dataclass(frozen=True)
class PrivacyOptions:
    """What is protected, and how well. A statistic or the data may decide what is None."""

    max_value: Annotated[
        str | None,
        options.in_privacy(
            parser=_max_value_or_auto,
            metavar="N|auto",
            help="Maximum value of a pair; auto finds it privately, for a tenth of ε.",
        ),
    ] = None
    epsilon: options.Epsilon = None
    delta: options.Delta = None
    pairs: options.Pairs = None
    relation: options.Relation = None
    pairs_per_person: options.PairsUsed = None
    unit: options.Unit = None
    total: options.Total = 0

    @property
    def auto_max_value(self) -> AutoMaxValue | None:
        """How the maximum value is found, if that was asked for."""
        return AutoMaxValue() if self.max_value == "auto" else None

    def privacy(self) -> Privacy:
        """What to protect. A maximum that will be found is 1 until then."""
        largest = 1 if self.max_value == "auto" else None if self.max_value is None else int(self.max_value)
        used = 1 if self.pairs_per_person is None else self.pairs_per_person
        return options.privacy_of(
            self.epsilon, self.delta, self.pairs, largest, self.relation, used, self.unit, self.total
        )


@dataclass(frozen=True)
class FileOptions:
    """The files of a release, and what they call the data."""

    output: options.Output = None
    plot: options.Plot = None
    report: Annotated[
        Path | None,
        options.in_output(
            help="Write a page that explains the release to any reader: a new .html file.", metavar="FILE"
        ),
    ] = None
    registry: Annotated[
        Path | None,
        options.in_output(
            help="Describe the release in the fields of the OpenDP deployments registry: a new .yaml file.",
            metavar="FILE",
        ),
    ] = None
    dataset: Annotated[str, options.in_output(help="Name of the data, for the report.")] = ""
    period: Annotated[str, options.in_output(help="The period that the data cover, for the report.")] = ""
    noun: Annotated[str, options.in_output(help="Plural noun for keys in the report and picture, such as apps.")] = ""

    @property
    def paths(self) -> dict[str, Path | None]:
        """The files, by their options."""
        return {"output": self.output, "plot": self.plot, "report": self.report, "registry": self.registry}

    def named(self, label: str, *, recorded: bool) -> Named:
        """What the files call the data and the release. Refuses a name that nothing shows; a ledger shows the label."""
        described = self.report is not None or self.registry is not None
        if label and not recorded and not described:
            raise typer.BadParameter(
                "--label needs --ledger or --report, which show it. Add one of them, or leave out --label."
            )
        for option, text in (("--dataset", self.dataset), ("--period", self.period)):
            if text and not described:
                raise typer.BadParameter(f"{option} needs --report. Add --report, or leave it out.")
        if self.noun and not described and self.plot is None:
            raise typer.BadParameter(
                "--noun needs --plot or --report, which show it. Add one of them, or leave it out."
            )
        if self.report is not None and not (self.dataset or self.period or self.noun):
            note(
                "to tell readers of the report what the data are, add --dataset, --period and --noun (what to call "
                "keys)"
            )
        return Named(self.dataset, self.period, label, self.noun)


@dataclass(frozen=True)
class EngineOptions:
    """Where the data are read."""

    engine: Annotated[
        Literal["local", "spark"],
        typer.Option(
            help="Where to read data: on this machine, or with Spark, which reads files in the same way.",
            rich_help_panel="Engine",
        ),
    ] = "local"
    master: Annotated[
        str | None,
        typer.Option(
            help="Address of Spark, such as local[4], spark://host:7077, yarn or sc://host.",
            metavar="URL",
            rich_help_panel="Engine",
        ),
    ] = None

    def check(self) -> None:
        """Refuses Spark without its address, and an address without Spark."""
        if self.engine == "spark" and self.master is None:
            raise typer.BadParameter("--engine spark needs --master, the address of Spark. Try --master 'local[*]'.")
        if self.engine != "spark" and self.master is not None:
            raise typer.BadParameter("--master needs --engine spark. Add it, or leave out --master.")


def _group_names(path: Path, parts: int) -> list[tuple[str, ...]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise DataError(str(path), f"cannot read the list of groups: {reason}", "Write one name on each line") from None
    reader, names = csv.reader(text.splitlines()), []
    for row in filter(None, reader):
        if parts and len(row) != parts:
            raise typer.BadParameter(
                f"{path}, line {reader.line_num}: a name must have {parts} part{'s' * (parts != 1)}, one for each "
                f"column of --by, got {len(row)}. Write one name on each line, in quotes if it contains a comma."
            )
        names.append(tuple(row))
    if not names:
        raise typer.BadParameter(
            f"--groups must name a file with names of groups, but {path} has none. Write one name on each line."
        )
    return names
