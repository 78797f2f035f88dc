"""How many keys the registers have seen: bias, deviation and coverage, on registers that are simulated by another road.

The simulation knows the specification of a register and nothing of the code: how many of t keys draw each value is one
multinomial, in which registers they land another; the register is then made from its set of values. No AES, no
Poisson model.
"""

from __future__ import annotations

import math
from bisect import bisect

import numpy as np
import pytest
from numpy.typing import NDArray
from sketch_helpers import numbered_secret

from stablesketch import ArgumentError
from stablesketch.sketch.distinct import DistinctRegisters
from stablesketch.sketch.register_law import deviation, estimate, limits

VALUES = np.arange(1, 253)
CHANCES = np.array([2.0 ** -((k - 1) // 4 + 1) / 4.0 for k in range(1, 253)])
CHANCES[-4:] *= 2.0


def simulated(keys: int, registers: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    drawn = np.zeros((registers, 252), bool)
    for value, count in enumerate(rng.multinomial(keys, CHANCES / CHANCES.sum())):
        if count > 40 * registers:  # a register is missed with probability e^-40
            drawn[:, value] = True
        elif count:
            drawn[rng.integers(0, registers, count), value] = True
    largest = np.where(drawn.any(axis=1), 252 - np.argmax(drawn[:, ::-1], axis=1), 0)
    words = largest.astype(np.uint32) << 24
    for below in range(1, 25):
        inside = largest > below
        was = drawn[inside, largest[inside] - below - 1]
        words[inside] |= was.astype(np.uint32) << (24 - below)
    return words


def checked(registers: int, keys: int, trials: int) -> None:
    rng = np.random.default_rng([registers, keys])
    estimates = np.array([estimate(simulated(keys, registers, rng)) for _ in range(trials)])
    expected = deviation(keys, registers)
    error = expected / math.sqrt(trials)
    # 4.5 deviations each way: 7e-6; and the promised 0.2% where the simulation can see it.
    assert abs(estimates.mean() - keys) < 4.5 * error + 0.0005 * keys
    # The deviation of a deviation is 1/sqrt(2 trials) of it; 3% for higher orders.
    assert abs(estimates.std() / expected - 1.0) < 0.03 + 4.5 / math.sqrt(2 * trials)
    for confidence in (0.8, 0.95):
        # The lower limit of an estimate is above t from one estimate on; so for the upper one, downwards.
        ordered = np.sort(estimates)
        first = bisect(range(trials), 0, key=lambda i: limits(ordered[i], registers, confidence)[1] >= keys)
        last = bisect(range(trials), 0, key=lambda i: limits(ordered[i], registers, confidence)[0] > keys)
        slack = 4.5 * math.sqrt(confidence * (1.0 - confidence) / trials)
        assert abs((last - first) / trials - confidence) < 0.015 + slack


@pytest.mark.parametrize(("registers", "keys"), [(256, 1000), (1024, 3399), (256, 10**5), (256, 10**7)])
def test_bias_deviation_and_coverage(registers: int, keys: int) -> None:
    """False alarm under another seed: 5e-5 a case."""
    checked(registers, keys, 400)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [1000, 10_000, 10**5, 10**6, 10**7])
@pytest.mark.parametrize("registers", [64, 1024])
def test_bias_deviation_and_coverage_at_large(registers: int, keys: int) -> None:
    """False alarm under another seed: 5e-5 a case."""
    checked(registers, keys, 600)


@pytest.mark.parametrize("registers", [64, 1024, 16_384])
def test_few_keys_are_counted_almost_exactly(registers: int) -> None:
    """From none on, through the real path. 4.5 deviations, and half a per mille for what few keys tell unevenly."""
    made = DistinctRegisters(registers, numbered_secret(7))
    assert made.estimate() == deviation(0, registers) == 0.0
    assert limits(0.0, registers) == (0.0, 0.0)
    for keys in range(1, 60):
        made.add([keys])
        assert abs(made.estimate() - keys) < 4.5 * deviation(keys, registers) + 0.0005 * keys + 0.01


def test_the_real_path_has_the_same_law() -> None:
    """200 secrets: mean and deviation of the estimate through fingerprints, AES and registers. False alarm 2e-5."""
    keys, registers, trials = 5000, 256, 200
    found = []
    for number in range(trials):
        made = DistinctRegisters(registers, numbered_secret(number))
        made.add(range(keys))
        found.append(made.estimate())
    expected = deviation(keys, registers)
    assert abs(np.mean(found) - keys) < 4.5 * expected / math.sqrt(trials) + 0.0005 * keys
    assert abs(np.std(found) / expected - 1.0) < 0.03 + 4.5 / math.sqrt(2 * trials)


def test_the_deviation_of_many_keys_is_that_of_the_family() -> None:
    """Var = 0.1186/m: a quarter less than HyperLogLog's in as many bits, 1.04²/m for 6 bits a register."""
    for keys in (10**7, 10**9, 10**12):
        relative = deviation(keys, 1024) / keys
        assert relative == pytest.approx(math.sqrt(0.1186 / 1024), rel=2e-3)
        assert relative < 0.78 * 1.04 / math.sqrt(1024 * 32 / 6)


def test_limits_hold_the_estimate_and_grow_with_confidence() -> None:
    for estimated in (0.5, 20.0, 5000.0, 1e9):
        narrow, wide = limits(estimated, 256, 0.5), limits(estimated, 256, 1.0 - 1e-15)
        assert wide[0] < narrow[0] < estimated < narrow[1] < wide[1]
    assert limits(math.inf, 256) == (math.inf, math.inf)
    assert estimate(np.full(64, 252 << 24 | 0xFFFFFF, np.uint32)) > 2.0**60
    with pytest.raises(ArgumentError, match="confidence"):
        limits(10.0, 256, 1.0)
