"""Advice on an ε or δ that is too large to give the protection people expect. It warns and never refuses: the caller
decides.

A mechanism that publishes each row in full with probability δ is (0, δ)-private. Of n rows it publishes δn on average:
from δ = 1/n on, someone's row is likely to be published, and the definition allows it. So δ must be well below 1/n.
Only public numbers may be used here: n is `pairs`, counted if their number is public, or promised from public
knowledge. Without a promise n is private and must not decide what is shown. A fixed bound takes its place: 1e-4, which
is 1/n for ten thousand rows, about the least that a sketch is useful for.
"""

from __future__ import annotations

import math

from .privacy import Privacy

UNKNOWN_DELTA = 1e-4
"""The largest δ without a warning if the number of pairs is not public."""


WEAK_EPSILON = 5.0
"""The largest ε without a warning: a suspicion of 50% may become 99.4%."""


EXCEEDED = 11
"""A suspicion exceeds the bound of `suspicion` with a probability of at most this many δ: see there."""


def suspicion(epsilon: float, delta: float = 0.0) -> str:
    """The most that a suspicion of 50% can become, rounded up, except with a probability of at most `EXCEEDED` δ.

    By Bayes' rule its odds become e^L, where L is the privacy loss of what was released. Without δ, L is at most ε.
    With δ, L may exceed ε somewhat more often than δ: δ >= E[(1 - e^(ε - L))_+] >= P(L > ε + ln s) (1 - 1/s) for every
    s > 1. The probability is for the world in which the suspicion is right; in the other it is smaller. At s = 1.1 this
    gives P(L > ε + ln 1.1) <= 11 δ. So the odds are reported as 1.1 e^ε.

    >>> suspicion(1.0), suspicion(1.0, 1e-9), suspicion(100.0)
    ('73.2%', '75%', '100%')
    """
    odds = math.exp(min(epsilon, 700.0)) * (EXCEEDED / (EXCEEDED - 1) if delta else 1.0)
    return f"{math.ceil(1000.0 * odds / (1.0 + odds)) / 10:g}%"


def epsilon_advice(privacy: Privacy) -> str | None:
    """A warning about ε; None if none is needed."""
    if privacy.epsilon <= WEAK_EPSILON:
        return None
    return (
        f"ε = {privacy.epsilon:g} protects little: a suspicion of 50% about one {privacy.unit} may become "
        f"{suspicion(privacy.epsilon)}. Usual values are 0.1 to 3"
    )


def delta_advice(privacy: Privacy, counted: int | None = None) -> str | None:
    """A warning about δ, from public numbers only; None if none is needed. `counted` is the number of pairs, if it is
    public.
    """
    delta, pairs = privacy.delta, privacy.pairs or counted
    if pairs:
        if delta * pairs <= 1.0:
            return None
        return (
            f"δ = {delta:g} is above 1/{pairs:,}, one over the number of {privacy.unit}s: it allows someone's data to "
            f"be published unchanged. Choose δ far below {1.0 / pairs:.1g}, such as {_usual(0.01 / pairs)}"
        )
    if delta <= UNKNOWN_DELTA:
        return None
    return (
        f"δ = {delta:g} is large: it allows one {privacy.unit} in {1.0 / delta:,.0f} to be published unchanged. "
        "Choose δ far below one over their number, such as 1e-9"
    )


def _usual(delta: float) -> str:
    return f"{min(delta, 1e-9):.0e}"
