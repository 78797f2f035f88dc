"""`stablesketch release --dry-run`: plan and price, without reading the data, and how the price is divided."""

from __future__ import annotations

from pathlib import Path

import typer

from ..bounding.max_value import least_seen
from ..ledger import Ledger
from ..plan import Plan
from ..plan.exact_instead import exact_instead
from ..plan.mechanism import mechanism_of, needs_promise
from ..plan.table import plan_table
from ..release.decide import asked_of_a_group, decide, touched
from ..release.publish import Till
from ..release.question import Question
from ..release.shares import Share, in_words
from ..text.spoken import at_least, price_in_words
from .screen import note, plain_table, print_text

_EXAMPLES = (1, 15, 255, 4095, 65_535)  # maximum values that may be found


def check_dry(*, stored: bool, **kept: Path | None) -> None:
    """Refuses options that a dry run would silently ignore."""
    if stored:
        raise typer.BadParameter(
            "--dry-run cannot be used with a stored sketch. To see its plan and price: stablesketch inspect FILE."
        )
    way_out = {
        "--plot": " To draw a plan: stablesketch plan --plot FILE.",
        "-o": " To save a plan: stablesketch plan -o FILE.",
    }
    for name, path in kept.items():
        option = "-o" if name == "output" else f"--{name}"
        if path is not None:
            raise typer.BadParameter(
                f"{option} cannot be used with --dry-run, which releases nothing. Leave out one of them."
                f"{way_out.get(option, '')}"
            )


def show_plan(question: Question, json: bool, ledger: Ledger | None) -> None:
    """The plan, as far as it is known before any data are read."""
    if question.counts_pairs:
        raise typer.BadParameter(
            "--dry-run reads no data, and a bare sketch needs the number of pairs. Pass --pairs 1e6, for example."
        )
    decision = decide(question)
    chosen = decision.plan
    if json:
        print_text(chosen.to_json())
    else:
        print_text(plan_table(chosen, decision.privacy, person=question.has_people, pair=question.pair))
    note("no data were read, so the files and their columns were not checked")
    if question.auto_max_value is not None:
        note(
            "--max-value auto finds the maximum value in the data. This is the plan for --max-value 1; the noise grows "
            "with it."
        )
        if not json and not needs_promise(chosen):
            _show_noise(question)
    if not json:
        shares = shares_in_words(question, decision.shares, decision.terms.epsilon)
        for line in [*shares, *advice_in_words(question, None)]:  # the table compares with exact
            note(line)
    if ledger is not None:
        Till(ledger).check(decision.ask)  # raises the error, which says what would fit
        note(
            f"it fits in the ledger {ledger.path.name}, where ε = {at_least(ledger.left())} is left. Nothing was spent"
        )


def _show_noise(question: Question) -> None:
    """The noise for some of the maximum values that may be found."""
    plans = [decide(question, max_value=most).plan for most in _EXAMPLES]
    measured = plans[0].measurements
    names = [f"noise on {one.statistic}" for one in measured]
    rows = [
        [f"{most:,}", *(mechanism_of(one).noise_in_words(one) for one in plan.measurements)]
        for most, plan in zip(_EXAMPLES, plans, strict=True)
    ]
    plain_table(["--max-value", *names], rows, numbers=1 + len(names))


def advice_in_words(question: Question, plan: Plan | None) -> list[str]:
    """Whether the exact mechanism would do better than this plan; what to know before comparing groups, and what to ask
    for instead, if anything.
    """
    better = "" if plan is None else exact_instead(plan)
    instead = question.statistic.comparable
    way_out = f" Use {instead.named}." if instead != question.statistic else ""
    caution = f"{question.caution}{way_out}" if question.caution else ""
    return [line for line in (better, caution) if line]


def shares_in_words(question: Question, shares: tuple[Share, ...], epsilon: float) -> list[str]:
    """How the price is divided among the parts of a release. Together, the shares cost `epsilon`."""
    privacy, found = question.privacy, []
    if len(shares) > 1:
        divided = in_words(shares, epsilon, grouped=bool(question.columns.by))
        found.append(f"of {price_in_words(privacy.epsilon, privacy.delta)}: {divided}")
    if question.auto_max_value is not None:
        least = least_seen(privacy, shares[0].epsilon)
        found.append(
            f"the maximum value is chosen so that about {question.auto_max_value.quantile:.0%} of the values "
            "are within it. "
            f"Fewer than about {least:,} values between two powers of two are lost in the noise, so small data may "
            "have more of them clipped"
        )
    return found + (_in_less_memory(question) + _in_several(question) if question.columns.by else [])


def _in_less_memory(question: Question) -> list[str]:
    share = asked_of_a_group(question).usual_memory
    if share == question.asked.usual_memory:
        return []
    groups = question.groups
    many = "the number of groups is not known" if groups is None else f"there are {len(groups):,} groups"
    most = f"{many}, so each stores about {share / 1024:,.3g} KiB"
    return [f"{most}; --memory gives every group more, but needs ten times as much in all while data are read"]


def _in_several(question: Question) -> list[str]:
    if touched(question) == 1:
        return []
    if question.bare:
        return [f"one person can change {touched(question)} groups, so each gets 1/{touched(question)} of the rest"]
    if question.privacy.relation == "replace":
        return ["a replaced pair counts as one removed and one added, perhaps in another group"]
    return [f"one person can change {touched(question):,} groups: the price is that of all of them together"]
