"""The sketch mechanism: what is released is h (K + J), the estimate K on a grid and discrete Laplace noise J from the
secret.

Every secret is derived from its number, so nothing here changes from run to run. The false-alarm probabilities are
those of a fresh choice of secrets.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from collector_helpers import filled, fresh, plan_for
from scipy import stats

import stablesketch as ss
from stablesketch.mechanism.shared.laplace_noise import noise_of
from stablesketch.plan.plan import altered
from stablesketch.privacy import discrete_laplace

KEYS = [math.isqrt(2 * i) for i in range(600)]
VALUES = [1 + i * 7_919 % 9 for i in range(600)]
PRIVACY = ss.Privacy(1.0, 1e-9, max_value=9)


def numbered(number: int) -> ss.Secret:
    return ss.Secret.from_bytes(hashlib.sha256(f"noisy {number}".encode()).digest())


def moment(p: float) -> float:
    return float((np.bincount(KEYS, weights=VALUES) ** p).sum())


@functools.cache
def planned(p: float, size: int = 50, epsilon: float = 1.0) -> ss.Plan:
    privacy = dataclasses.replace(PRIVACY, epsilon=epsilon)
    return ss.plan(ss.Moment(p), privacy, size=size, expected=moment(p), deletes=True)


def released(plan: ss.Plan, secret: ss.Secret) -> ss.Release:
    collector = plan.open(secret)
    collector.update(KEYS, VALUES)
    return collector.release()


def units(plan: ss.Plan, secret: ss.Secret) -> int:
    """K, by the sketch that users hold."""
    sketch = ss.Sketch(plan.statistic.p, plan.size, secret, law="one-sided")
    sketch.update(KEYS, VALUES)
    return math.floor(Fraction(sketch.estimate().value) / Fraction(plan.step) + Fraction(1, 2))


def noise(plan: ss.Plan, secret: ss.Secret) -> int:
    """J."""
    return discrete_laplace.sample(Fraction(plan.noise) / Fraction(plan.step), noise_of(secret, plan.statistic))


@pytest.mark.parametrize("p", [0.05, 0.25, 0.5, 0.75, 0.9, 0.999])
def test_the_value_is_the_estimate_on_a_grid_with_the_noise_of_the_secret(p: float) -> None:
    plan = planned(p)
    for number in range(5):
        secret, again = numbered(number), numbered(number)
        value = released(plan, secret).value
        assert (value / plan.step).is_integer()
        assert value == plan.step * (units(plan, again) + noise(plan, again))


def test_order_batches_threads_shards_and_bytes_do_not_matter() -> None:
    plan, expected = planned(0.5), released(planned(0.5), numbered(1))
    for seed in range(4):
        order = list(range(len(KEYS)))
        random.Random(seed).shuffle(order)
        shards = [plan.open(numbered(1), shard=f"{i}") for i in range(seed + 1)]
        for start in range(0, len(order), 150):
            some = order[start : start + 150]
            shard = shards[start // 150 % len(shards)]
            shard.update([KEYS[i] for i in some], [VALUES[i] for i in some], threads=1 + seed % 2)
        whole, *others = [ss.Collector.from_bytes(shard.to_bytes(), numbered(1)) for shard in shards]
        for other in others:
            whole.merge(other)
        assert whole.release() == expected


def test_what_is_deleted_was_never_there() -> None:
    plan = planned(0.75)
    collector = plan.open(numbered(2))
    collector.update([*KEYS, 1_000, 3], [*VALUES, 9, 5])
    collector.delete([3, 1_000], [5, 9])
    assert collector.release() == released(plan, numbered(2))


def test_the_noise_is_that_of_the_secret_and_of_nothing_else() -> None:
    """One secret, two streams: the noise is the same, so that a second release would take it away. Another secret has
    other noise; so has another statistic under the same."""
    plan = planned(0.5)
    assert noise(plan, numbered(1)) == noise(plan, numbered(1))
    assert len({noise(plan, numbered(number)) for number in range(20)}) > 15
    assert noise(plan, numbered(1)) != noise(altered(plan, statistic=ss.Moment(0.25)), numbered(1))


@pytest.mark.parametrize("scale", [Fraction(3, 2), Fraction(1_301, 1)])
def test_the_noise_of_many_secrets_has_its_law(scale: Fraction) -> None:
    """P(J = k) = (1 - q)/(1 + q) q^|k|, q = e^(-1/scale): 2,000 secrets, χ² of 20 cells. False alarm: 1e-4."""
    drawn = np.array([discrete_laplace.sample(scale, noise_of(numbered(i), ss.Moment(0.5))) for i in range(2_000)])
    q = math.exp(-1.0 / scale)
    edges = np.unique([discrete_laplace.quantile(scale, Fraction(i, 20)) for i in range(1, 20)])

    def below(k: int) -> float:
        """P(J <= k)."""
        return 1.0 - q ** (k + 1) / (1.0 + q) if k >= 0 else q**-k / (1.0 + q)

    at = np.array([0.0, *(below(int(edge)) for edge in edges), 1.0])
    counts = np.bincount(np.searchsorted(edges, drawn, side="left"), minlength=len(edges) + 1)
    assert stats.chisquare(counts, 2_000 * np.diff(at)).pvalue > 1e-4
    if scale > 1_000:
        assert len(set(drawn.tolist())) > 1_200  # not few values that come again and again


def test_an_empty_stream_is_released_like_any_other() -> None:
    """K = 0. Under add_remove whether there was anything is what is protected: nothing is refused."""
    for relation in ("add_remove", "replace"):
        plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9, relation=relation), size=20)  # type: ignore[arg-type]
        values = []
        for number in range(20):
            release = plan.open(numbered(number)).release()
            drawn = plan.step * noise(plan, numbered(number))
            expected = max(drawn, 0.0) if relation == "add_remove" else 0.0  # no pairs, F = 0, and that is public
            assert release.value == pytest.approx(expected, abs=1e-9)
            values.append(release.value)
        assert (max(values) > plan.noise) == (relation == "add_remove")


@pytest.mark.parametrize(("p", "epsilon"), [(0.5, 1.0), (0.5, 0.05), (0.25, 1.0), (0.9, 0.02)])
def test_releases_err_as_planned(p: float, epsilon: float) -> None:
    """sqrt(v + 2 b²/F²), in settings where the one, the other or both count: 300 secrets, whose root mean square has a
    standard deviation of 4% to 7%, and 25% are allowed. The mean is within 4 standard errors. False alarm: 2e-4 each.
    """
    plan, truth = planned(p, 50, epsilon), moment(p)
    values = np.array([plan.step * (units(plan, numbered(i)) + noise(plan, numbered(i))) for i in range(300)])
    errors = values / truth - 1.0
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(plan.error, rel=0.25)
    assert abs(errors.mean()) < 4.0 * plan.error / math.sqrt(300)
    assert plan.error > math.sqrt(2.0) * plan.noise / truth
    if p == 0.5:  # ξ is 1/χ of r degrees of freedom over its mean, and E 1/χ² = 1/(r - 2)
        mean = math.exp(math.lgamma(0.5 * plan.size - 0.5) - math.lgamma(0.5 * plan.size)) / math.sqrt(2.0)
        variance = 1.0 / ((plan.size - 2.0) * mean**2) - 1.0
        assert plan.error == pytest.approx(math.sqrt(variance + 2.0 * (plan.noise / truth) ** 2), rel=1e-2)


def test_the_limits_hold_as_often_as_they_say() -> None:
    """80% of 200 secrets: between 135 and 184 but for a chance of 1e-5 (binomial)."""
    plan = planned(0.5, 20, 0.1)
    found = []
    for number in range(200):
        collector = plan.open(numbered(number))
        collector.update(KEYS, VALUES)
        found.append(collector.release(confidence=0.8))
    assert 135 <= sum(one.low <= moment(0.5) <= one.high for one in found) <= 184


def test_an_estimate_is_cut_at_the_cap_before_it_gets_its_noise() -> None:
    plan = altered(planned(0.5), cap=100.0)
    value = released(plan, numbered(3)).value
    assert value == plan.step * (round(100.0 / plan.step) + noise(plan, numbered(3)))
    assert planned(0.5).cap > 1e6 * moment(0.5)


def test_the_noise_is_as_large_as_the_plan_says() -> None:
    """Twice the noise, and its deviation is twice as large: 500 secrets, 4 standard errors. False alarm: 1e-4."""
    for factor in (1.0, 2.0):
        plan = altered(planned(0.5), noise=factor * planned(0.5).noise)
        drawn = np.array([plan.step * noise(plan, numbered(i)) for i in range(500)])
        assert np.abs(drawn).mean() == pytest.approx(plan.noise, rel=4.0 / math.sqrt(500))


def test_the_release_tells_the_scale_of_its_noise() -> None:
    plan = plan_for("sketch")
    release = filled(plan).release()
    assert release.noise == plan.noise > 0.0
    assert release.mechanism == "sketch"
    assert filled(plan_for("bare")).release().noise == 0.0


def test_a_release_needs_the_secret_and_destroys_it() -> None:
    plan, secret = plan_for("sketch"), fresh()
    filled(plan, secret).release()
    with pytest.raises(ss.StablesketchError):
        plan.open(secret)


@pytest.mark.parametrize(("p", "size", "most"), [(1.5, 200, 2**38), (2.0, 200, 2**38), (1.1, 1_000, 2**36)])
def test_a_norm_of_more_keys_than_its_delta_covers_is_refused(p: float, size: int, most: int) -> None:
    """Nobody can wait for so many pairs, so the counters are set: at the limit it is released, above it is not."""
    plan = ss.plan(ss.Moment(p), ss.Privacy(1.0, 1e-9, relation="replace"), size=size)
    secret = numbered(77)
    collector = plan.open(secret)
    collector.update([1, 2])
    assert collector._state is not None
    sketch = collector._state._sketch  # type: ignore[union-attr]
    sketch._pairs = sketch._total = most + 1
    with pytest.raises(ss.PlanInfeasible, match=rf"more than {most:,} pairs.*{size:,} entries.*Release parts"):
        collector.release()
    assert not secret.spent
    sketch._pairs = sketch._total = most
    assert collector.release().value >= 0.0


def test_where_the_number_of_pairs_is_private_no_stream_is_refused_for_its_length() -> None:
    collector = ss.plan(ss.Moment(1.5), ss.Privacy(1.0, 1e-9), size=200).open(numbered(79))
    collector.update([1, 2])
    sketch = collector._state._sketch  # type: ignore[union-attr]
    sketch._pairs = sketch._total = 2**41
    assert collector.release().value >= 0.0
    with pytest.raises(ss.PlanInfeasible, match=r"covers fewer than 4,294,967,296 keys.*larger delta"):
        ss.plan(ss.Moment(1.5), ss.Privacy(1.0, 1e-20), size=1_173)


def test_totals_beyond_the_cap_are_released() -> None:
    """The guarantee of a norm asks nothing of totals; what is above the cap is released as the cap, with noise."""
    plan = ss.plan(ss.Moment(1.5), ss.Privacy(1.0, 1e-9, max_value=2**20), size=50)
    collector = altered(plan, cap=2.0**22).open(numbered(78))
    collector.update(range(1_000), [2**20] * 1_000)
    assert collector.release().value ** (1 / 1.5) < 2.0**22 + 30.0 * plan.noise
