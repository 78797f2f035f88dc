"""The way from the stream to the number, measurement by measurement."""

from __future__ import annotations

from ..plan import Plan
from ..plan.mechanism import mechanism_of, needs_promise

__all__ = ["computed"]


def computed(plan: Plan) -> list[str]:
    """What was done, in order."""
    measured = [(mechanism_of(part), part) for part in plan.measurements]
    found = [sentence for way, part in measured for sentence in way.methods(part)]
    found += dict.fromkeys(reason for way, part in measured if (reason := way.reason(part)))
    if needs_promise(plan):
        found.append("What the numbers say was rounded to a public grid; what finite precision costs is part of δ.")
    found.append(
        "All randomness comes from a secret of 256 bits that was drawn for this release alone, and is spent: weights "
        "by AES-128, noise by SHAKE-256."
    )
    return [*found, *mechanism_of(plan).methods(plan)] if plan.parts else found
