"""How many rows of each person to use, found privately in data on this machine. Proof in bounding/pilot.py."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...bounding.max_value import digit_counts
from ...bounding.pilot import chosen_pairs_per_person
from ...errors import ArgumentError, LedgerMismatch
from ...ledger.record import PEOPLE
from ...reading.arguments import reading
from ...reading.duckdb import DuckDB
from ...reading.opened import opened_table
from ...release.decide import ask_of_pilot
from ...release.publish import Till
from ...secret.paying import until_shown
from ...text.wording import arg, either

if TYPE_CHECKING:
    from ...ledger import Ledger


def pilot(
    data: object, person: str, how: Mapping[str, Any], epsilon: float, quantile: float,
    ledger: Ledger | None = None, label: str = "",
) -> int:  # fmt: skip
    """Approximately the number of rows that `quantile` of the people do not exceed. ε-private; paid for on return.

    Raises:
        LedgerMismatch: the ledger is not adaptive, but the next release would be planned after looking at the data.
        BudgetExceeded: the budget does not allow it.
    """
    if not 0.0 < epsilon < float("inf"):
        raise ArgumentError("epsilon", epsilon, "must be positive and finite", "Pass 0.1, for example")
    if not 0.0 < quantile < 1.0:
        raise ArgumentError("quantile", quantile, "must be between 0 and 1", "Pass 0.95, for example")
    if ledger is not None and not ledger.adaptive:
        made = either(
            f"ss.Ledger(path, relation={PEOPLE!r}, adaptive=True, ...)", "stablesketch ledger new --people --adaptive"
        )
        raise LedgerMismatch(
            f"the ledger {ledger.path.name} is not adaptive, but a release whose "
            f"{arg('pairs_per_person')} was found in the data is planned after looking at them. "
            f"Create a ledger for both: {made}."
        )
    till = Till(ledger, label)
    ask = ask_of_pilot(epsilon)
    read = reading({**how, "key": person})
    columns = replace(read.columns, person=person)
    with until_shown(), DuckDB() as duckdb:
        till.check(ask)
        source = opened_table(duckdb, data, columns, read.input, read.on_bad)
        rows = source.batches(f"select count(*) as v from ({source.query(columns, 'skip')}) group by u")
        found = chosen_pairs_per_person(digit_counts(rows), epsilon, quantile)
        till.pay(ask, lambda _: json.dumps({"epsilon": epsilon, "pairs_per_person": found}))
        return found
