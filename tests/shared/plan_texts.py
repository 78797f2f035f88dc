"""Plans as JSON that somebody changed, and as earlier versions wrote them: written here once more, from attributes."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import stablesketch as ss

SECTIONS = {
    "cost": ("epsilon", "delta", "pure_epsilon"),
    "accuracy": ("error", "relative", "expected", "exact_error"),
    "numbers": ("size", "buckets", "step", "noise", "cap", "phantoms", "sampled", "bytes"),
    "asked": ("statistic", "privacy", "deletes"),
}


def text_of(content: object) -> str:
    """Canonical."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def forged(plan: ss.Plan, **fields: object) -> str:
    """The text of a plan with other fields, each put where it belongs, or among the others if it is none."""
    content = json.loads(plan.to_json())
    for name, value in fields.items():
        section = next((content[whole] for whole, names in SECTIONS.items() if name in names), content)
        section[name] = value
    return text_of(content)


def second_content(plan: ss.Plan) -> dict[str, Any]:
    """One flat record, that has forgotten what it was asked for."""
    plain = ["size", "step", "epsilon", "delta", "pure_epsilon", "error", "relative", "expected", "bytes"]
    plain += ["exact_error", "deletes", "noise", "cap"]
    content: dict[str, Any] = {name: getattr(plan, name) for name in plain}
    content |= {
        "format": "stablesketch-plan/2",
        "mechanism": plan.mechanism,
        "statistic": plan.statistic.to_dict(),
        "privacy": plan.privacy.to_dict(),
        "phantoms": {"count": plan.phantoms.count, "weight": plan.phantoms.weight},
    }
    if math.isinf(plan.pure_epsilon):
        content["pure_epsilon"] = None
    if plan.buckets > 1:
        content["buckets"] = plan.buckets
    if plan.sampled is not None:
        content["sampled"] = asdict(plan.sampled)
    if plan.inputs:
        content["parts"] = [second_content(one) for one in plan.inputs]
    return content


def first_content(plan: ss.Plan) -> dict[str, Any]:
    """As version 0.1.0 wrote it: a sketch was what is bare today, and infinities were written as such."""
    content = second_content(plan)
    del content["noise"], content["cap"]
    content["format"] = "stablesketch-plan/1"
    content["mechanism"] = "sketch" if plan.mechanism == "bare" else plan.mechanism
    content["pure_epsilon"] = plan.pure_epsilon
    if plan.inputs:
        content["parts"] = [first_content(one) for one in plan.inputs]
    return content
