"""What was released, on the screen and in files: shown first, then stored, drawn and explained."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..files.durable import Reserved
from ..ledger import Ledger
from ..pictures import release_bytes
from ..plan.table import exact_instead
from ..release.outcome import Outcome
from ..release.question import Question
from ..report import Context, Named, registry_entry, report_page
from ..secret.paying import current_payment
from .deliver import Delivery
from .dry_run import caution_in_words, shares_in_words
from .exits import Exit
from .in_options import in_options
from .release_lines import nothing_shown, release_lines, release_notes
from .screen import json_text, note


def delivered(
    outcome: Outcome, question: Question | None, ledger: Ledger | None, json: bool, places: dict[str, Reserved | None],
    named: Named,
) -> Exit:  # fmt: skip
    """Shows what was released, then stores it, then draws it."""
    content = [one.content() for one in outcome.releases]
    text = json_text(content if outcome.grouped else content[0])
    delivery = Delivery(text, current_payment())
    notes = release_notes(outcome)
    if question is not None and outcome.price is not None:
        notes = [*shares_in_words(question, outcome.shares, outcome.price[0]), *notes]
    nothing = outcome.grouped and not outcome.releases
    if question is not None and not nothing and (better := exact_instead(outcome.plan)):
        notes.append(in_options(better))
    notes += [] if question is None else caution_in_words(question)
    delivery.show(
        None if json else lambda: release_lines(outcome),
        nothing_shown(outcome) if nothing and json else [] if json else notes,
    )
    output, plot = places["output"], places["plot"]
    delivery.store(output, lambda: (text + "\n").encode())
    if outcome.releases:
        if plot is not None:
            delivery.store(plot, lambda: release_bytes(outcome, plot.path, named.noun))
        for name, make in (("report", report_page), ("registry", registry_entry)):
            delivery.store(places[name], partial(_described, make, outcome, question, ledger, named))
    else:
        for place in (plot, places["report"], places["registry"]):
            if place is not None:
                note(f"{place.path} was not written: no group is shown")
    return delivery.end()


def _described(
    make: Callable[[Outcome, Context], str], outcome: Outcome, question: Question | None, ledger: Ledger | None,
    named: Named,
) -> bytes:  # fmt: skip
    return make(outcome, Context.of(question, ledger, named)).encode()
