"""Bare and exact releases do what their plan predicts, and their noise follows its law: spread, limits, bias, floor.

A release with half its floor is about as accurate and protects nobody, so accuracy alone is not enough: with T the
estimate of F_p + Λ, ln(value + Λ) - ln(F_p + Λ) must follow the law of ln(T/(F_p + Λ)), which depends on p and the size
alone, plus the rounding to the grid. The last tests show that half a floor is seen.

Every secret is derived from its number, and the noise of the exact mechanism from the secret, so nothing here changes
from run to run. The false-alarm probabilities are those of a fresh choice of them.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import stablesketch as ss
from stablesketch.plan import Phantoms
from stablesketch.plan.plan import altered
from stablesketch.sketch.estimators import log_estimates

FEW, MANY = 200, 1_000
ALARM = 1e-4  # of each comparison with a law

Stream = tuple[list[int], list[int]]


def uneven(pairs: int, most: int) -> Stream:
    """Keys 0, 1, 2, ... one after the other more often, values from 1 to `most`."""
    keys = [math.isqrt(2 * i) for i in range(pairs)]
    return keys, [1 + i * 7_919 % most for i in range(pairs)]


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is asked, by which way, on which stream."""

    p: float
    privacy: ss.Privacy
    stream: Stream
    size: int | None

    @functools.cached_property
    def moment(self) -> float:
        totals: Counter[int] = Counter()
        for key, value in zip(*self.stream, strict=True):
            totals[key] += value
        return float(sum(total**self.p for total in totals.values()))

    @functools.cached_property
    def plan(self) -> ss.Plan:
        """Made for the true F_p, which no plan could know, so that its predicted error is the one to be met."""
        how = {"mechanism": "exact"} if self.size is None else {"size": self.size, "mechanism": "bare"}
        return ss.plan(ss.Moment(self.p), self.privacy, expected=self.moment, **how)  # type: ignore[arg-type]


SETTINGS = {
    "no floor": Setting(0.75, ss.Privacy(1.0, 1e-8, 2_000, relation="replace"), uneven(2_000, 1), 50),
    "a floor alone": Setting(0.5, ss.Privacy(1.0, 1e-8, 0, relation="add_remove"), uneven(12, 1), 50),
    "large values": Setting(
        0.25, ss.Privacy(1.0, 1e-8, 50, max_value=100, pairs_per_person=2, relation="replace"), uneven(50, 100), 60
    ),
    "exact": Setting(0.5, ss.Privacy(0.5, 1e-8, 0, max_value=10, relation="add_remove"), uneven(40, 10), None),
}
SKETCHES = [name for name, setting in SETTINGS.items() if setting.size is not None]


def releases(setting: Setting, count: int, plan: ss.Plan | None = None) -> list[ss.Release]:
    out = []
    for number in range(count):
        secret = ss.Secret.from_bytes(hashlib.sha256(f"{setting.p} {number}".encode()).digest())
        collector = (plan or setting.plan).open(secret=secret)
        collector.update(*setting.stream)
        out.append(collector.release())
    return out


@functools.cache
def honest(name: str, count: int) -> list[ss.Release]:
    return releases(SETTINGS[name], count)


def check_accuracy(name: str, count: int, spread: float) -> None:
    """Spread within `spread` of the prediction; bias and coverage within four standard deviations.

    A value that would lie outside the range of the statistic is moved to its end: then it errs less than predicted, and
    the mean is biased.
    """
    setting = SETTINGS[name]
    found = honest(name, count)
    errors = np.array([release.value for release in found]) / setting.moment - 1.0
    least, most = setting.plan.range(len(setting.stream[0]))
    moved = np.mean([release.value in (least, most) for release in found])
    error = np.sqrt(np.mean(errors**2))
    if moved:
        assert 0.5 < error / setting.plan.error < 1.0 + spread
    else:
        assert error == pytest.approx(setting.plan.error, rel=spread)
        assert abs(errors.mean()) < 4.0 * errors.std() / math.sqrt(count)
    covered = np.mean([release.low <= setting.moment <= release.high for release in found])
    assert covered == pytest.approx(0.95, abs=4.0 * math.sqrt(0.95 * 0.05 / count))


@pytest.mark.parametrize("name", SETTINGS)
def test_releases_err_as_predicted(name: str) -> None:
    """200 releases: the spread has a standard deviation of 6% (sketch) to 8% (exact), and 30% are allowed.

    False alarm: 1e-4 each for bias and coverage, 2e-4 for the spread.
    """
    check_accuracy(name, FEW, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_many_releases_err_as_predicted(name: str) -> None:
    """1,000 releases: the spread has a standard deviation of 2.5% (sketch) to 3.5% (exact), and 10% are allowed.

    False alarm: 1e-4 each for bias and coverage, 1e-4 to 4e-3 for the spread.
    """
    check_accuracy(name, MANY, 0.1)


# --- the noise itself ---


@functools.cache
def pivots(p: float, size: int, step: float, count: int = 8_000) -> np.ndarray:
    """Draws of ln(T/(F_p + Λ)), rounded to a grid with a random offset and made unbiased again."""
    rng = np.random.default_rng(21)
    logs, signs = ss.StableLaw(p).sample_logs((count, size), rng)
    rounding = rng.uniform(-0.5, 0.5, count) * step
    return log_estimates(logs, signs, p) + rounding - math.log(math.sinh(step / 2.0) / (step / 2.0))


def noise_probability(setting: Setting, found: list[ss.Release]) -> float:
    """The p-value of the noise of these releases, if they had the floor and the size of the setting's plan.

    Values end where F_p does, so the law of the noise is cut off there as well.
    """
    plan = setting.plan
    ends = np.log(np.array(plan.range(len(setting.stream[0]))) + max(plan.floor, 1e-300))
    above = np.array([release.value for release in found]) + plan.floor
    if (above <= 0.0).any():
        return 0.0
    truth = math.log(setting.moment + plan.floor)
    expected = np.clip(pivots(setting.p, plan.size, plan.step), *(ends - truth))
    return float(stats.ks_2samp(np.log(above) - truth, expected).pvalue)


@pytest.mark.parametrize("name", SKETCHES)
def test_the_noise_follows_its_law(name: str) -> None:
    """False alarm: 1e-4."""
    assert noise_probability(SETTINGS[name], honest(name, FEW)) > ALARM


@pytest.mark.slow
@pytest.mark.parametrize("name", SKETCHES)
def test_the_noise_of_many_releases_follows_its_law(name: str) -> None:
    """False alarm: 1e-4."""
    assert noise_probability(SETTINGS[name], honest(name, MANY)) > ALARM


def test_half_a_floor_is_seen() -> None:
    """The releases of half the phantoms are fine estimates with less noise. 600 of them give it away."""
    setting = SETTINGS["a floor alone"]
    half = altered(setting.plan, phantoms=Phantoms.of_mass(setting.p, setting.plan.floor / 2.0))
    found = releases(setting, 600, half)
    values = np.array([release.value for release in found])
    assert abs(values.mean() - setting.moment) < 4.0 * values.std() / math.sqrt(600)  # not seen in the estimate
    assert noise_probability(setting, found) < ALARM


def test_a_secret_used_again_is_seen() -> None:
    """Noise that is always the same is not noise."""
    setting = SETTINGS["a floor alone"]
    assert noise_probability(setting, releases(setting, 1) * FEW) < ALARM


def laplace_probability(setting: Setting, found: list[ss.Release]) -> float:
    """The grid is a thousandth of the noise, so its law is the continuous one to 1e-3 or so: far less than is seen."""
    scale = setting.privacy.pairs_per_person * setting.privacy.max_value**setting.p / setting.privacy.epsilon
    noise = np.array([release.value for release in found]) - setting.moment
    return float(stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue)


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_the_noise_of_the_exact_mechanism_follows_its_law(count: int) -> None:
    """False alarm: 1e-4."""
    assert laplace_probability(SETTINGS["exact"], honest("exact", count)) > ALARM


def test_half_the_noise_of_the_exact_mechanism_is_seen() -> None:
    setting = SETTINGS["exact"]
    lax = altered(setting.plan, privacy=dataclasses.replace(setting.privacy, epsilon=1.0))
    assert laplace_probability(setting, releases(setting, 600, lax)) < ALARM
