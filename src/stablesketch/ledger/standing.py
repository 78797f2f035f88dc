"""What a ledger is, how much of its budget has been spent, and what would fit: everything that only reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from ..errors import HIDDEN, ArgumentError, ArgumentTypeError
from ..numbers.checked import checked_real
from ..plan import Plan
from ..text.wording import arg
from .accounting import ComposedCost
from .arguments import checked_count, checked_part, checked_probability
from .books import Books
from .composition import Lane
from .file import LedgerFile
from .preview import Preview, Schedule, how_many, preview_of, schedule_of, would_fit
from .record import Ask
from .rows import NINE_DIGITS, Budget

T = TypeVar("T")
_DELTAS = tuple(10.0**-i for i in range(12, 2, -1))


class Standing:
    """The current state of a ledger, or of a named budget of one."""

    _file: LedgerFile
    _name: str
    _budget: Budget

    def _read(self, question: Callable[[Books], T]) -> T:
        return self._file.read(question)

    # --- what it is ---

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def name(self) -> str:
        """The name of the budget; empty for the whole ledger."""
        return self._name

    @property
    def epsilon(self) -> float:
        """ε of the budget."""
        return self._budget.epsilon

    @property
    def delta(self) -> float:
        """δ of the budget."""
        return self._budget.delta

    @property
    def relation(self) -> str | None:
        """The relation of the unit; None until it is fixed."""
        return self._read(lambda books: books.head.relation)

    @property
    def pairs_per_person(self) -> int | None:
        """The pairs per person of the unit; None until it is fixed, and for people, who may have any number."""
        return self._read(lambda books: books.head.pairs_per_person)

    @property
    def adaptive(self) -> bool:
        """Whether plans may be chosen after looking at earlier values."""
        return self._read(lambda books: bool(books.head.adaptive))

    @property
    def per(self) -> str | None:
        """The kind of period after which the budget renews; None if it does not."""
        return self._budget.per or None

    @property
    def period(self) -> str | None:
        """The period that a release would count for now, such as 2026-11; None if the budget does not renew."""
        return self._read(lambda books: books.budgets.period) or None

    @property
    def renews(self) -> str | None:
        """The day, in UTC, on which the budget renews; None if it does not renew."""
        return self._read(lambda books: books.budgets.renewal)

    def __len__(self) -> int:
        return self._read(lambda books: books.budgets.lasting(self._name).releases)

    def number_of(self, fingerprint: str) -> int | None:
        """The number of the record of a secret; None if it released nothing."""
        return self._read(lambda books: books.number_of(bytes.fromhex(fingerprint)))

    def __bool__(self) -> bool:
        return True  # even for an empty ledger: `if ledger:` must not skip it

    def __repr__(self) -> str:
        if not hasattr(self, "_budget"):
            return "<Ledger, not opened>"
        named = f", budget {self._name!r}" if self._name else ""
        return f"<Ledger {self.path.name}{named}, ε = {self.epsilon:g} at δ = {self.delta:g}>"

    # --- what is spent ---

    def spent(self, delta: float | None = None) -> float:
        """A certified ε at which all releases together are (ε, delta)-private; by default at the budget's δ.

        If the budget renews, this counts the current period only, as do `left` and everything about what would fit.
        """
        if delta is None:
            return self._read(lambda books: self._budget.epsilon_of(books.spent(self._name)))
        return self._read(lambda books: books.spent(self._name).epsilon(checked_probability("delta", delta)))

    @property
    def adaptive_price(self) -> float:
        """What an adaptive ledger counts as spent before its first release; 0 for others.

        Its bound δ(ε) <= 2 s e^{K - θε} (accounting.py) is above δ for small ε even if K = 0, so no smaller ε can be
        claimed, however little is released. It is paid once: after that, `spent` grows by K/θ.
        """
        if not self.adaptive:
            return 0.0
        return ComposedCost.nothing(self.relation or "replace", self._budget.theta).epsilon(self.delta)

    def spent_in_all(self, delta: float | None = None) -> float:
        """The ε spent by all releases of all periods: the price for somebody who was in the data of each period.

        By default at `delta_in_all`. For an adaptive ledger that renews, it is what the budgets allow, k ε at k δ after
        k periods: what was spent along the way bounds the loss only against a limit fixed in advance (accounting.py),
        and there is no such limit for all periods together.
        """
        if self.adaptive and self.per is not None:
            periods = self._read(lambda books: books.budgets.periods(self._name))
            return self.epsilon * periods if delta is None or delta >= self.delta_in_all else math.inf
        at = self.delta_in_all * NINE_DIGITS if delta is None else checked_probability("delta", delta)
        return self._read(lambda books: books.composition(books.budgets.lasting(self._name)).total().epsilon(at))

    @property
    def delta_in_all(self) -> float:
        """The budget's δ times the number of periods with releases: the most δ can add up to by now, capped at 1."""
        periods = self._read(lambda books: books.budgets.periods(self._name))
        return min(1.0, self.delta * max(1, periods))

    def spent_delta(self, epsilon: float | None = None) -> float:
        """A certified δ at which all releases together are (epsilon, δ)-private; by default at the budget's ε."""
        at = self.epsilon if epsilon is None else checked_real("epsilon", epsilon, "Pass 1.0, for example")
        if not at >= 0.0:
            raise ArgumentError("epsilon", at, "must be a number of 0 or more", "Pass 1.0, for example")
        return self._read(lambda books: books.spent(self._name).delta(at))

    def curve(self, deltas: Sequence[float] = _DELTAS) -> list[tuple[float, float]]:
        """What has been spent so far, as pairs (δ, ε)."""
        wanted = [checked_probability("deltas", delta) for delta in deltas]

        def read(books: Books) -> list[tuple[float, float]]:
            spent = books.spent(self._name)
            return [(delta, spent.epsilon(delta)) for delta in wanted]

        return self._read(read)

    def left(self) -> float:
        """The budget's ε minus what is spent, at the budget's δ. More than that may fit: see `preview`."""
        return max(0.0, self.epsilon - self.spent())

    # --- what would fit ---

    def preview(self, plans: Plan | Iterable[Plan], *, times: int = 1, part: tuple[str, str] | None = None) -> Preview:
        """The price of releases by these plans, `times` times each, if they were made now. Nothing is recorded."""
        batch = list(plans) if isinstance(plans, Iterable) else [plans]
        for plan in batch:
            if not isinstance(plan, Plan):
                raise ArgumentTypeError(
                    "plans", plan, "must be a Plan or a list of them", "Pass results of ss.plan(...)"
                )
        times = checked_count("times", times)
        asks = [Ask.of_plan(plan) for plan in batch]
        for ask in asks:
            checked_part(part, ask)
        lane = Lane(*part) if part is not None and asks else Lane()
        return self._read(lambda books: preview_of(books, self._name, asks, times, lane))

    def schedule(
        self,
        plan: Plan,
        *,
        releases: int | None = None,
        every: timedelta | None = None,
        lasting: timedelta | None = None,
    ) -> Schedule:
        """The largest ε at which this many releases like `plan` fit into what is left, and a plan with that ε.

        One release per hour for a year is `every=timedelta(hours=1), lasting=timedelta(days=365)`, or releases=8760.
        """
        if not isinstance(plan, Plan):
            raise ArgumentTypeError("plan", plan, "must be a Plan", "Pass the result of ss.plan(...)")
        if plan.sampled is not None:
            raise ArgumentError(
                "plan", HIDDEN, "must not sample",
                "Pass a plan without sampling",
                because="its cost at another ε is not known",
            )  # fmt: skip
        if (releases is None) == (every is None and lasting is None):
            raise ArgumentError(
                "releases", releases, f"must be given, or follow from {arg('every')} and {arg('lasting')}",
                f"Pass {arg('releases')}, or {arg('every')} and {arg('lasting')}",
            )  # fmt: skip
        if releases is None:
            if not isinstance(every, timedelta) or not isinstance(lasting, timedelta) or every <= timedelta(0):
                raise ArgumentError(
                    "every, lasting", (every, lasting), "must be positive time spans", "Pass two timedeltas"
                )
            releases = lasting // every
        wanted = checked_count("releases", releases)
        return self._read(lambda books: schedule_of(books, self._name, plan, wanted))

    def forecast(self, plan: Plan | None = None) -> int | None:
        """How many more releases like this plan fit now; by default, like the last one recorded.

        At most 1,000,000, which may mean more; None if no plan is given and nothing was recorded yet.
        """
        if plan is not None and not isinstance(plan, Plan):
            raise ArgumentTypeError("plan", plan, "must be a Plan", "Pass the result of ss.plan(...), or leave it out")
        return self._read(lambda books: how_many(books, self._name, None if plan is None else Ask.of_plan(plan)))

    def would_fit(self, ask: Ask) -> bool:
        """Whether a release like this one fits into all budgets now."""
        return self._read(lambda books: would_fit(books, self._name, ask))
