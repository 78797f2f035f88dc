"""What a suspicion of 50% becomes: the bound holds, and one without its allowance for δ would not."""

from __future__ import annotations

import math

import pytest

from stablesketch.privacy.advice import EXCEEDED, suspicion


def becomes(odds: float) -> float:
    return 100.0 * odds / (1.0 + odds)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("excess", [1.001, 1.05, 1.1, 2.0, 1e9])
def test_the_worst_mechanism_stays_within_it(epsilon: float, excess: float) -> None:
    """An event whose odds are `excess` e^ε has at most the probability δ / (1 - 1/excess), and here has it.

    It has probability x in one world and x / (excess e^ε) in the other, so x - e^ε x / (excess e^ε) = δ: this is
    (ε, δ)-private and no less. A suspicion then exceeds what is said with a chance of at most 11 δ.
    """
    delta = 1e-6
    x = delta / (1.0 - 1.0 / excess)
    assert x - math.exp(epsilon) * x / (excess * math.exp(epsilon)) == pytest.approx(delta)
    exceeds = becomes(excess * math.exp(epsilon)) > float(suspicion(epsilon, delta)[:-1])
    assert not exceeds or x <= EXCEEDED * delta * (1.0 + 1e-9)


def test_without_the_allowance_it_would_be_wrong() -> None:
    """At ε = 1 a suspicion can exceed 73.2% with a chance of over a hundred δ."""
    delta, excess = 1e-6, 1.006
    assert becomes(excess * math.e) > float(suspicion(1.0)[:-1])
    assert delta / (1.0 - 1.0 / excess) > 100 * delta


def test_it_never_says_more_than_certainty() -> None:
    assert suspicion(1e6, 1e-9) == suspicion(1e6) == "100%"
