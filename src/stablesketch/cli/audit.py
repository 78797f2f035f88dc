"""`stablesketch audit`: the claim of a plan, tested on its neighbours."""

from __future__ import annotations

import json as json_module
from dataclasses import asdict
from typing import Annotated

import typer

from ..audit import audit as audit_plan
from ..audit.samples import CONFIDENCE, TRIALS
from . import options
from .exits import Exit
from .screen import print_text


def audit(
    plan: options.PlanFile,
    trials: Annotated[
        int, typer.Option(help="Releases of each of the two worst neighbours; all others together get half as many.")
    ] = TRIALS,
    confidence: Annotated[float, typer.Option(help="A sound plan passes with at least this probability.")] = CONFIDENCE,
    json: options.Json = False,
) -> None:
    chosen = options.read_plan(plan)
    report = audit_plan(chosen, trials, confidence=confidence)
    print_text(json_module.dumps(asdict(report), sort_keys=True) if json else str(report))
    if not report.passed:
        raise typer.Exit(Exit.REFUTED)
