"""Advice on an ε or δ too large to mean what people take it to mean. A warning, not a refusal: the caller decides.

A mechanism that publishes each row with probability δ, whole, is (0, δ)-private. Of n rows it publishes δn on average:
from δ = 1/n on, somebody's row is to be expected among what is published, and the definition does not object. So δ is
chosen well below 1/n. Only public numbers may be asked here: n is what `pairs` says, counted where their number is
public or promised from public knowledge. Where nothing is promised n is private, and may not decide what is
shown; a fixed bound takes its place, 1e-4, which is 1/n for the ten thousand rows from which on a sketch is of use.
"""

from __future__ import annotations

import math

from .privacy import Privacy

UNKNOWN_DELTA = 1e-4
"""The largest δ that passes without a warning where the number of pairs is not public."""


WEAK_EPSILON = 5.0
"""The largest ε that passes without a warning: a suspicion of 50% may become 99.4%."""


EXCEEDED = 11
"""How many δ the chance is at most that a suspicion becomes more than `suspicion` says: see there."""


def suspicion(epsilon: float, delta: float = 0.0) -> str:
    """What a suspicion of 50% becomes at most, rounded up, except with a chance of at most `EXCEEDED` δ.

    By Bayes' rule its odds become e^L, where L is the privacy loss of what was released. Without δ, L is at most ε.
    With δ, L may exceed ε somewhat more often than δ says: δ >= E[(1 - e^(ε - L))_+] >= P(L > ε + ln s) (1 - 1/s) for
    every s > 1. The probability is that of the world in which the suspicion is right; in the other it is smaller.
    At s = 1.1 that is P(L > ε + ln 1.1) <= 11 δ. So the odds are said to be 1.1 e^ε.

    >>> suspicion(1.0), suspicion(1.0, 1e-9), suspicion(100.0)
    ('73.2%', '75%', '100%')
    """
    odds = math.exp(min(epsilon, 700.0)) * (EXCEEDED / (EXCEEDED - 1) if delta else 1.0)
    return f"{math.ceil(1000.0 * odds / (1.0 + odds)) / 10:g}%"


def epsilon_advice(privacy: Privacy) -> str | None:
    """What to say about ε; None if there is nothing to say."""
    if privacy.epsilon <= WEAK_EPSILON:
        return None
    return (
        f"ε = {privacy.epsilon:g} protects little: a suspicion of 50% about one {privacy.unit} may become "
        f"{suspicion(privacy.epsilon)}. Usual are values from 0.1 to 3"
    )


def delta_advice(privacy: Privacy) -> str | None:
    """What to say about δ, from public numbers alone; None if there is nothing to say."""
    delta, pairs = privacy.delta, privacy.pairs
    if pairs:
        if delta * pairs <= 1.0:
            return None
        return (
            f"δ = {delta:g} is above 1/{pairs:,}, one over the number of {privacy.unit}s: it allows somebody's data to "
            f"be published as they are. Choose δ far below {1.0 / pairs:.1g}, such as {_usual(0.01 / pairs)}"
        )
    if delta <= UNKNOWN_DELTA:
        return None
    return (
        f"δ = {delta:g} is large: it allows one {privacy.unit} in {1.0 / delta:,.0f} to be published as it is. "
        "Choose δ far below one over their number, such as 1e-9"
    )


def _usual(delta: float) -> str:
    return f"{min(delta, 1e-9):.0e}"
