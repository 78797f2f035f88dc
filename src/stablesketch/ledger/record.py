"""The requests to a ledger, and its records."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from ..errors import LedgerCorrupt
from ..format.checked_json import Fields, JsonError, parsed
from ..plan import Plan
from ..plan.mechanism import charge_of
from ..privacy import Privacy
from ..privacy.charge import Charge

PEOPLE = "add_remove of people"  # everything one person did
INDIVIDUALS = "add_remove of individuals"  # one of the individuals that a value counts
_FORMAT = "stablesketch-ledger/1"
_LONGEST = 1_000_000  # characters that describe what is released


def unit_of(privacy: Privacy, *, person: bool) -> str:
    """What a release protects: pairs, whole keys, or people, of each of whom `pairs_per_person` pairs were used.

    Adding or removing a pair and adding or removing a person give different neighbours, even if one pair of each person
    is used: if that pair is removed, another of theirs takes its place. ε for one says nothing about the other.
    """
    return PEOPLE if person else privacy.protects


@dataclass(frozen=True)
class Ask:
    """The public facts of a release, and the charge they amount to.

    In the stored form, `mechanism` is called "kind" and `charge` is called "mechanism".
    """

    statistic: str
    charge: Charge
    epsilon: float
    delta: float
    relation: str
    pairs_per_person: int
    mechanism: str = "other"
    max_value: int | None = None
    p: float | None = None
    size: int | None = None

    @classmethod
    def of_plan(cls, plan: Plan, *, person: bool = False) -> Ask:
        """What a release by this plan asks for; with `person`, a release of people."""
        privacy = plan.privacy
        return cls(
            str(plan.statistic),
            charge_of(plan),
            plan.epsilon,
            plan.delta,
            unit_of(privacy, person=person),
            privacy.pairs_per_person,
            plan.mechanism,
            privacy.max_value,
            plan.statistic.p,
            plan.size or None,
        )

    @classmethod
    def of_table(
        cls, what: str, charge: Charge, reached: tuple[float, float], privacy: Privacy, *, person: bool
    ) -> Ask:  # fmt: skip
        """What a whole table with this (ε, δ) asks for, or another release that does not come from one collector."""
        return cls(what, charge, *reached, unit_of(privacy, person=person), privacy.pairs_per_person)

    def to_json(self) -> str:
        """The canonical JSON: equal asks give equal texts."""
        content = asdict(self)
        content["kind"], content["mechanism"] = self.mechanism, self.charge.to_dict()
        del content["charge"]
        return json.dumps(content, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Ask:
        """Reads the result of `to_json`."""
        try:
            with Fields(parsed(text, finite=False), "the release") as fields:
                ask = cls(
                    statistic=fields.text("statistic", _LONGEST),
                    charge=Charge.from_dict(fields.any("mechanism")),
                    epsilon=fields.number("epsilon", 0.0),
                    delta=fields.number("delta", 0.0, 1.0),
                    relation=fields.text("relation"),
                    pairs_per_person=fields.whole("pairs_per_person", 1),
                    mechanism=fields.text("kind"),
                    max_value=fields.whole("max_value", 1) if fields.optional("max_value") else None,
                    p=fields.number("p", 0.0, 2.0) if fields.optional("p") else None,
                    size=fields.whole("size") if fields.optional("size") else None,
                )
        except JsonError as error:
            raise LedgerCorrupt(f"unreadable kind of release in the ledger: {error}.") from None
        if ask.to_json() != text:
            raise LedgerCorrupt("invalid kind of release in the ledger: corrupt data.")
        return ask


class Entry(NamedTuple):
    """One release to be recorded. `fingerprint` identifies its secret; None if there is none."""

    ask: Ask
    fingerprint: bytes | None = None
    label: str = ""
    part: tuple[str, str] | None = None


@dataclass(frozen=True)
class Record:
    """One record of a ledger. Nothing in it is secret; labels and names of parts are as public as you make them.

    `spent_after` is the certified ε of the whole ledger, at its δ, after this release; if the budget renews, the ε of
    `period`, the period it counts for, such as 2026-11. `mechanism` is "sketch", "exact", "bare" or "other". `p`,
    `size` and `max_value` are None if they do not apply.
    """

    number: int
    time: str
    label: str
    budget: str
    statistic: str
    mechanism: str
    epsilon: float
    delta: float
    relation: str
    pairs_per_person: int
    max_value: int | None
    p: float | None
    size: int | None
    fingerprint: str | None
    partition: str | None
    part: str | None
    spent_after: float
    period: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def records_to_json(head: dict[str, Any], records: Iterable[Record]) -> str:
    """{"format": ..., budget and unit, "releases": [...]}."""
    content = {"format": _FORMAT, **head, "releases": [record.to_dict() for record in records]}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def records_to_csv(records: Iterable[Record]) -> str:
    """A header, and a row for each release."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(Record)], lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow(record.to_dict())
    return out.getvalue()
