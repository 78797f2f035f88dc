"""`Ledger`: one budget for all releases of the same data, kept in a file, and enforced."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..errors import (
    ArgumentError,
    BudgetExceeded,
    LedgerCorrupt,
    LedgerError,
    LedgerMismatch,
)
from ..files.durable import write_over
from ..numbers.checked import checked_real, checked_whole
from ..privacy import Privacy
from ..privacy.charge import Charge
from ..statistic.published import Release
from ..text.wording import arg
from . import store
from .accounting import best_theta
from .arguments import (
    ask_of_release,
    check_priced,
    check_stated,
    checked_count,
    checked_label,
    checked_part,
    checked_unit,
    stated_unit,
)
from .books import Books
from .chain import position_from, position_text
from .checksums import Stale
from .file import LedgerFile, LedgerTerms
from .period import Per, check_per
from .preview import epsilon_that_fits
from .record import Ask, Entry, Record, records_to_csv, records_to_json
from .standing import Standing
from .unit import require_unit


class Ledger(Standing):
    """The releases of one data set, their total cost, and the maximum (ε, δ) they may cost.

    `Ledger("budget.db", epsilon=3.0, delta=1e-6)` opens the file, or creates it. An existing ledger needs no numbers;
    if they are given, they must match. Pass it to `collector.release(ledger=...)`: the release is recorded durably
    before its value appears, or refused with `BudgetExceeded`.

    *What it guarantees.* All recorded releases together are (epsilon, delta)-private, for one **unit**: a relation and
    a number of pairs per person, given here or fixed by the first release. Two data sets are neighbours if they differ
    in one person, as defined by `Privacy`. Every release of the ledger must see a stream in which neighbours differ by
    at most that many pairs, by the same relation (under replace, a filter must keep equally many pairs of both). A
    release of another unit is refused (`UnitMismatch`): under replace the number of pairs is public, under add_remove
    it is protected, and ε for one pair says nothing about a person with twenty. People (`person=`) are a separate unit,
    relation "add_remove of people": everything one person did, however many of their pairs a release uses. Its cost
    cannot be added to that of a release of pairs, not even if both have pairs_per_person=1. `max_value` is not part of
    the unit: it only says how a stream was clipped beforehand, and neighbours clipped in the same way are neighbours.

    *How it adds up.* By privacy loss distributions, certified from above (privacy/loss_law.py, privacy/charge.py,
    accounting.py), which gives far less than the sum of the ε. This assumes that the plans of later releases do not
    depend on the values of earlier ones. With `adaptive=True` they may, at a price:
    about 10% to 20% in ε over many releases, more over a few.

    *Renewal.* With `per="month"` (a calendar day, week, month, quarter or year, in UTC) each period has the whole
    budget: what is recorded in one period is (epsilon, delta)-private. For somebody who is in the data of k periods
    these compose, to at most (k epsilon, k delta); `spent_in_all` returns the actual value. A release counts for the
    period of the clock, or for the latest period that has releases, if the clock is behind it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        relation: str | None = None,
        pairs_per_person: int | None = None,
        adaptive: bool | None = None,
        per: Per | None = None,
    ) -> None:
        place = Path(path).absolute()
        made = False
        pairs_per_person = checked_unit(relation, pairs_per_person)
        check_per(per)
        epsilon = None if epsilon is None else checked_real("epsilon", epsilon)
        delta = None if delta is None else checked_real("delta", delta)
        if epsilon is not None and delta is not None and not LedgerFile.exists(place):
            # Privacy checks ε and δ.
            Privacy(epsilon, delta, 0)
            made = store.touch(place)
        elif not LedgerFile.exists(place):
            raise LedgerMismatch(
                f"ledger {place} does not exist. Pass {arg('epsilon')} and {arg('delta')}, the whole budget, to "
                "create one."
            )
        try:
            self._file = LedgerFile(place, LedgerTerms(epsilon, delta, relation, pairs_per_person, adaptive, per))
        except BaseException:
            if made:
                store.discard_empty(place)
            raise
        self._name = ""
        self._budget = self._file.whole

    # --- budgets within ---

    def budget(self, name: str, *, epsilon: float | None = None, delta: float | None = None) -> Ledger:
        """A named budget within this ledger; created if epsilon and delta are given and it does not exist.

        Releases under it must fit into it *and* into the whole.
        """
        if not isinstance(name, str) or not name:
            raise ArgumentError("name", name, "must be a non-empty text", 'Pass "marketing", for example')
        if self._name:
            raise ArgumentError(
                "name", name, f"cannot be opened from {self._name!r}",
                "Call budget on the ledger",
                because="it is itself a named budget",
            )  # fmt: skip
        with self._file.transaction(write=True) as books:
            found = books.budgets.find(name)
            if found is None:
                if epsilon is None or delta is None:
                    raise LedgerMismatch(
                        f"{self.path} has no budget {name!r}. Pass {arg('epsilon')} and {arg('delta')} to create it."
                    )
                Privacy(epsilon, delta, 0)
                theta = best_theta(float(epsilon), float(delta)) if books.head.adaptive else None
                found = books.budgets.make(name, float(epsilon), float(delta), theta)
        for what, given, has in (("epsilon", epsilon, found.epsilon), ("delta", delta, found.delta)):
            if given is not None and given != has:
                raise LedgerMismatch(
                    f"the budget {name!r} of {self.path} has {what} = {has!r}, but {given!r} was given. Leave it out."
                )
        named = Ledger.__new__(Ledger)
        named._file, named._name, named._budget = self._file, name, found
        return named

    def budgets(self) -> list[str]:
        """The names of the budgets within."""
        return self._read(lambda books: books.budgets.names())

    # --- recording ---

    def charge(
        self,
        *,
        epsilon: float | None = None,
        statistic: str | None = None,
        relation: str | None = None,
        delta: float = 0.0,
        pairs_per_person: int = 1,
        label: str = "",
        part: tuple[str, str] | None = None,
        published: Callable[[int], str] | None = None,
        release: Release | None = None,
    ) -> Record:
        """Records another release of the same data, proved (epsilon, delta)-private, before it is made.

        For your own noise, another library, or releases made before the ledger existed. `published` returns the text of
        what is released, from the number of the record; it is stored with the record (`Ledger.published`). `relation`
        says in full how neighbours differ: "add_remove of pairs", "replace of pairs", "... of keys", "add_remove of
        individuals" or "add_remove of people".

        A `release` that was made without a ledger states all of this: what it cost, and what it protects. Only `label`
        and `part` can be passed with it.
        """
        if release is not None:
            given = {"epsilon": epsilon, "statistic": statistic, "relation": relation, "published": published}
            given |= {"delta": delta or None, "pairs_per_person": None if pairs_per_person == 1 else pairs_per_person}
            ask, published = ask_of_release(release, [name for name, one in given.items() if one is not None])
        else:
            check_stated(epsilon=epsilon, statistic=statistic, relation=relation)
            assert epsilon is not None
            assert statistic is not None
            assert relation is not None
            protects = stated_unit(relation)
            pairs = checked_count("pairs_per_person", pairs_per_person)
            check_priced(epsilon, delta, statistic)
            charge = Charge("other", epsilon=float(epsilon), delta=float(delta))
            ask = Ask(statistic, charge, float(epsilon), float(delta), protects, pairs)
        entry = Entry(ask, None, checked_label(label), checked_part(part, ask))
        return self.enter([entry], None if published is None else [published])[0]

    def require_unit(self, ask: Ask) -> None:
        """Raises `UnitMismatch` if a release like this one protects something else than the ledger does."""
        self._read(lambda books: require_unit(books.head, ask))

    def enter(self, entries: Sequence[Entry], published: Sequence[Callable[[int], str]] | None = None) -> list[Record]:
        """Records all of them durably, each with what it releases; or raises and records none."""
        self._read(lambda books: books.prepare(entries, self._name))  # before taking the lock that others wait for
        try:
            for _ in range(2):
                try:
                    with self._file.transaction(write=True) as books:
                        records = books.enter(entries, self._name)
                        books.keep_published(records, published or ())
                        return records
                except Stale:
                    self._file.rebuild()
            raise LedgerCorrupt(f"the composed cost in {self.path} is not stable. Restore the ledger from a backup.")
        except BudgetExceeded as error:
            exceeded = error
        fits = self._read(lambda books: epsilon_that_fits(books, self._name, entries))
        raise BudgetExceeded(
            exceeded.budget, exceeded.limit, exceeded.asked, exceeded.spent, exceeded.after, fits, exceeded.renews
        ) from None

    # --- reading ---

    def records(self) -> Iterator[Record]:
        """All releases, in the order they were recorded; for a named budget, its own."""
        # All at once: a slow or endless loop over them must not keep the file open.
        yield from self._read(lambda books: list(books.records(self._name)))

    def published(self, number: int) -> str | None:
        """What record `number` released, as JSON, in case a value was paid for and then lost.

        None if the ledger never had it, because it was recorded by `charge` or by version 0.1.0.
        """
        record = checked_whole("number", number, "Pass 12, for example", must="must be the number of a record")
        return self._read(lambda books: books.published(record))

    def to_json(self) -> str:
        """The budget, the unit, what is spent and all releases, as JSON."""

        def read(books: Books) -> str:
            spent = self._budget.epsilon_of(books.spent(self._name))
            head = {
                "budget": self._name,
                "epsilon": self.epsilon,
                "delta": self.delta,
                "spent": spent if math.isfinite(spent) else None,
                "relation": books.head.relation,
                "pairs_per_person": books.head.pairs_per_person,
                "adaptive": bool(books.head.adaptive),
                **({"per": self.per, "period": books.budgets.period} if self.per else {}),
                "head": position_text(books.chain.position),
            }
            return records_to_json(head, books.records(self._name))

        return self._read(read)

    def to_csv(self) -> str:
        """All releases as CSV, with a header."""
        return records_to_csv(self.records())

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_json` or `to_csv` to a file, atomically: the name must end in .json or .csv."""
        target = Path(path)
        if target.suffix not in (".json", ".csv"):
            raise ArgumentError("path", str(path), "must end in .json or .csv", "Choose another name")
        text = self.to_json() if target.suffix == ".json" else self.to_csv()
        try:
            write_over(target, text.encode())
        except OSError as error:
            raise LedgerError(f"cannot export to {target}: {error.strerror}.") from None

    # --- maintenance ---

    @property
    def head(self) -> str:
        """The end of the chain: the number of releases, a colon, and a hash of all releases and budgets so far.

        Keep it where nobody who can write to the ledger can change it. Later, `verify(since=head)` shows whether the
        ledger still has everything it had then, unchanged.
        """
        return self._read(lambda books: position_text(books.chain.position))

    def verify(self, since: str | None = None) -> None:
        """Checks everything: the pages of the file, every record in the chain, every stored value against its
        checksum, and every composition from scratch.

        With `since`, an earlier `head`, also checks that the records and budgets continue from there. Stored values are
        not part of the head. A damaged cache is rebuilt; any other damage raises `LedgerCorrupt`.
        """
        earlier = None if since is None else position_from(since)
        with self._file.transaction(write=True) as books:
            books.check_pages()
            if earlier is not None:
                books.chain.check_follows(earlier)
            books.verify()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Writes a consistent copy to a new file, even while others use the ledger."""
        target = Path(path).absolute()
        try:
            store.backup(self.path, target)
        except FileExistsError:
            raise LedgerError(f"{target} already exists. Choose another name.") from None
        except OSError as error:
            raise LedgerError(f"cannot back up to {target}: {error.strerror}.") from None

    def accept_clock(self) -> None:
        """Trusts the clock even though records are later: for use after `ClockWentBackwards`, if the clock is right."""
        with self._file.transaction(write=True) as books:
            books.accept_clock()
