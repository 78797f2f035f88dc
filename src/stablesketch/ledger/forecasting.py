"""What further releases would cost, and how many fit: looking ahead in a ledger. Nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from ..errors import HIDDEN, ArgumentError, ArgumentTypeError
from ..plan import Plan
from ..text.wording import arg
from .arguments import checked_count, checked_part
from .composition import Lane
from .fitting import how_many, preview_of, schedule_of, would_fit
from .preview import Preview, Schedule
from .record import Ask
from .standing import Standing


class Forecasting(Standing):
    """The future of a ledger, or of a named budget of one, as its books stand now."""

    def preview(self, plans: Plan | Iterable[Plan], *, times: int = 1, part: tuple[str, str] | None = None) -> Preview:
        """The price of releases by these plans, `times` times each, if they were made now. Nothing is recorded."""
        if not isinstance(plans, Plan | Iterable):
            raise ArgumentTypeError("plans", plans, "must be a Plan or a list of them", "Pass results of ss.plan(...)")
        batch = [plans] if isinstance(plans, Plan) else list(plans)
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
                "plan",
                HIDDEN,
                "must not sample",
                "Pass a plan without sampling",
                because="its cost at another ε is not known",
            )
        if (releases is None) == (every is None and lasting is None):
            raise ArgumentError(
                "releases",
                releases,
                f"must be given, or follow from {arg('every')} and {arg('lasting')}",
                f"Pass {arg('releases')}, or {arg('every')} and {arg('lasting')}",
            )
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
