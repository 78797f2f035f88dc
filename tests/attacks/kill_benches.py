"""Releases that the attacks kill: several under one secret, and a table of groups from a data frame.

As `Bench` in tests/ledger/test_crashes.py, they check after each kill that what was printed is recorded, that what is
recorded has its value, and that nothing is recorded twice or by half.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import stablesketch as ss

BUDGET = 4.0
MOST_RECORDS = 12  # then the ledger is verified, and a new one begun
TABLE = pa.table(
    {"app": [f"app {i % 7}" for i in range(60)], "country": [("FR", "DE", "NO")[i % 3] for i in range(60)]}
)
COUNTRIES = ["FR", "DE"]


class _Ledgered:
    """A folder with a ledger that is begun anew from time to time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.budget = folder, folder / "budget.db"
        self.found: dict[str, int] = {}
        self.renew_ledger()

    def renew_ledger(self) -> None:
        for file in self.folder.glob("budget.db*"):
            file.unlink()
        ss.Ledger(self.budget, epsilon=BUDGET, delta=1e-6)
        self.printed: dict[int, Any] = {}  # what was said, by the number of its record
        self.known = 0  # records that were there before the last child

    def paid(self) -> tuple[list[ss.Record], list[Any]]:
        """All records, and the value of each as the ledger has it: an error if one is missing."""
        ledger = ss.Ledger(self.budget)
        records = list(ledger.records())
        texts = [ledger.published(record.number) for record in records]
        assert None not in texts, "a value that was paid for is lost"
        values = [json.loads(text or "") for text in texts]
        for number, said in self.printed.items():
            assert values[number - 1] == said
        assert ledger.spent() <= BUDGET * (1.0 + 1e-9)
        return records, values

    def renewed_if_full(self, records: int) -> None:
        self.known = records
        if records >= MOST_RECORDS:
            ss.Ledger(self.budget).verify()
            self.renew_ledger()


class Together(_Ledgered):
    """Three streams under children of one secret file, released together: all are recorded, or none."""

    def __init__(self, folder: Path, plan: ss.Plan) -> None:
        super().__init__(folder)
        self.plan, self.secret = plan, folder / "secret.key"
        self.found = {"nothing": 0, "paid only": 0, "paid and spent": 0}
        self.expected: dict[str, float] = {}
        self.renew_secret()
        ss.Ledger(self.budget).preview(plan, times=MOST_RECORDS + 3)

    def collectors(self, secret: ss.Secret) -> list[ss.Collector]:
        found = [self.plan.open(secret.child(country)) for country in ("FR", "DE", "NO")]
        for number, collector in enumerate(found):
            collector.update(range(30 + number))
        return found

    def renew_secret(self) -> None:
        self.secret.unlink(missing_ok=True)
        bits = secrets.token_bytes(32)
        ss.Secret.from_bytes(bits).save(self.secret)
        twins = self.collectors(ss.Secret.from_bytes(bits))
        names = [twin.secret.fingerprint.hex() for twin in twins]
        values = [release.value for release in ss.release_all(twins)]
        self.current = dict(zip(names, values, strict=True))
        self.expected |= self.current

    def release(self) -> str:
        collectors = self.collectors(ss.Secret.load(self.secret))
        releases = ss.release_all(collectors, ledger=ss.Ledger(self.budget))
        return json.dumps({"value": [json.loads(one.to_json()) for one in releases]})

    def saw(self, said: dict[str, Any]) -> None:
        for one in said["value"]:
            assert one["record"] not in self.printed, "released twice"
            self.printed[one["record"]] = one

    def check(self) -> None:
        records, values = self.paid()
        names = [record.fingerprint or "" for record in records]
        assert len(set(names)) == len(names), "recorded twice"
        assert [value["value"] for value in values] == [self.expected[name] for name in names]
        paid = [name for name in self.current if name in names]
        assert len(paid) in (0, 3), "recorded by half"
        spent = ss.Secret.inspect(self.secret).spent
        assert paid or not spent
        assert spent or not self.printed.keys() & set(range(self.known + 1, len(names) + 1))
        self.found["paid and spent" if spent else "paid only" if paid else "nothing"] += 1
        if paid:
            if not spent:
                with pytest.raises(ss.SecretSpent):
                    self.release()
                assert len(ss.Ledger(self.budget)) == len(names)
            self.renew_secret()
        self.renewed_if_full(len(names))


class Table(_Ledgered):
    """A table of groups from a data frame: one record with all its values, and no file of a secret."""

    def __init__(self, folder: Path, size: int = 20) -> None:
        super().__init__(folder)
        self.size = size
        self.found = {"nothing": 0, "paid": 0}
        for _ in range(2):
            self.release()  # computes here what children inherit
        self.renew_ledger()

    def release(self) -> str:
        found = ss.release(
            TABLE, ss.Moment(0.5), ss.Privacy(0.3, 1e-9), key="app", by="country", groups=COUNTRIES, size=self.size,
            ledger=ss.Ledger(self.budget),
        )  # fmt: skip
        assert isinstance(found, ss.Outcome)
        return json.dumps({"value": [json.loads(one.to_json()) for one in found]})

    def saw(self, said: dict[str, Any]) -> None:
        (number,) = {one["record"] for one in said["value"]}
        assert number not in self.printed, "released twice"
        self.printed[number] = said["value"]

    def check(self) -> None:
        records, values = self.paid()
        for record, value in zip(records, values, strict=True):
            assert [(one["group"], one["record"]) for one in value] == [(name, record.number) for name in COUNTRIES]
            assert all(
                ss.Release.from_json(json.dumps({k: v for k, v in one.items() if k != "group"})) for one in value
            )
        assert len(records) - self.known in (0, 1)
        self.found["paid" if len(records) > self.known else "nothing"] += 1
        self.renewed_if_full(len(records))
