"""One payment, one value: what was recorded when it was paid, whatever happens until it is finished."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.secret import file as secret_file

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9), size=12)


def test_a_release_that_was_paid_and_not_finished_takes_no_more_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two values with the same noise would reveal their difference exactly."""
    secret = ss.Secret.generate()
    secret.save(tmp_path / "key")
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=3, delta=1e-6)
    collector, other = PLAN.open(secret, shard="a"), PLAN.open(secret, shard="b")
    collector.update(range(1_000))
    other.update(range(400))
    mark = secret_file.Spending.mark

    def fails(self: secret_file.Spending) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(secret_file.Spending, "mark", fails)
    with pytest.raises(ss.SecretFileError, match="not charged again"):
        collector.release(ledger=ledger)
    monkeypatch.setattr(secret_file.Spending, "mark", mark)
    published = ledger.published(1)
    for act in (
        lambda: collector.update([7]),
        lambda: collector.delete([7]) if PLAN.deletes else collector.update(["x"]),
        lambda: collector.merge(other),
        lambda: collector.add_folded(collector.fingerprint(["y"]), collector.fingerprint(["y"]).view("i8"), 1),
    ):
        with pytest.raises(ss.SecretSpent, match="takes no more pairs"):
            act()
    assert other.release(ledger=ledger).to_json() == published  # another collector of this secret has no other value
    assert len(ledger) == 1


@pytest.mark.parametrize("auto", [False, True])
def test_an_interrupt_while_a_table_is_paid_shows_nothing_that_is_not_paid(
    auto: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import signal

    import pyarrow as pa

    def refused(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        raise ss.LedgerError("another process holds it")

    table = pa.table({"app": ["a", "b"] * 50, "n": [1, 2] * 50, "country": ["FR", "DE"] * 50})
    ledger = ss.Ledger(tmp_path / "budget.db", epsilon=3, delta=1e-6)
    monkeypatch.setattr(ss.Ledger, "enter", refused)
    more = {"value": "n", "auto_max_value": ss.AutoMaxValue()} if auto else {"by": "country", "groups": ["FR", "DE"]}
    with pytest.raises((KeyboardInterrupt, ss.LedgerError)) as stopped:
        ss.release(table, ss.Moment(0.5), ss.Privacy(1.0, 1e-6), key="app", size=12, ledger=ledger, **more)  # type: ignore[arg-type]
    assert not isinstance(stopped.value, ss.ReleaseInterrupted)
    assert len(ledger) == 0
