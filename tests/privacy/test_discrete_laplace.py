"""Integer noise: its law by exact enumeration and by samples, its ε by exact fractions, its quantiles by 60 digits."""

from __future__ import annotations

import ast
import inspect
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from stablesketch.errors import ArgumentError, ArgumentTypeError
from stablesketch.privacy import discrete_laplace
from stablesketch.privacy.discrete_laplace import quantile, sample, variance

SCALES = [Fraction(1, 3), Fraction(1), Fraction(3, 2), Fraction(7, 4), Fraction(20), Fraction(1000) / Fraction(0.1)]


def pmf(k: int, scale: Fraction) -> mpmath.mpf:
    q = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    return (1 - q) / (1 + q) * q ** abs(k)


class Unanswered(Exception):
    """A question the script has no answer to; `chances` are those of its answers 0, 1, ..."""

    def __init__(self, chances: list[mpmath.mpf]) -> None:
        self.chances = chances


class Script:
    """Answers in place of chance: to `below`, and to the question whether an event of probability exp(-γ) happened."""

    def __init__(self, answers: list[int]) -> None:
        self.answers = iter(answers)

    def below(self, n: int) -> int:
        return self._next([mpmath.mpf(1) / n] * n)

    def bernoulli_exp(self, numerator: int, denominator: int, below: object) -> bool:
        chance = mpmath.exp(-mpmath.mpf(numerator) / denominator)
        return self._next([1 - chance, chance]) == 1

    def _next(self, chances: list[mpmath.mpf]) -> int:
        for answer in self.answers:
            return answer
        raise Unanswered(chances)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(5, 7), Fraction(10, 3)])
def test_the_law_counted_out(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass of the sampler on all its paths likelier than 1e-20, each with its probability: not a sample.

    A pass that ends in None is repeated, so that the law is what is found divided by its sum.
    """
    with mpmath.workdps(40):
        found: dict[int | None, mpmath.mpf] = defaultdict(mpmath.mpf)
        paths: list[tuple[mpmath.mpf, list[int]]] = [(mpmath.mpf(1), [])]
        while paths:
            weight, answers = paths.pop()
            if weight < 1e-20:
                continue
            script = Script(answers)
            monkeypatch.setattr(discrete_laplace, "_bernoulli_exp", script.bernoulli_exp)
            try:
                found[discrete_laplace._attempt(scale.numerator, scale.denominator, script.below)] += weight
            except Unanswered as asked:
                paths += [(weight * chance, [*answers, answer]) for answer, chance in enumerate(asked.chances)]
        assert abs(mpmath.fsum(found.values()) - 1) < 1e-16
        accepted = 1 - found[None]
        for k in range(-20, 21):
            assert abs(found[k] / accepted - pmf(k, scale)) < 1e-16


@pytest.mark.parametrize("gamma", [(0, 1), (1, 1), (1, 2), (2, 3), (1, 1000), (999, 1000), (10**20 - 1, 10**20)])
def test_bernoulli_counted_out(gamma: tuple[int, int]) -> None:
    """All paths to a depth of 30 draws, with exact fractions: the chance of True is exp(-γ) to 1e-30.

    All that can matter of a draw is whether it is less than the numerator, so one answer stands for all such.
    """
    numerator, denominator = gamma
    true, weight = Fraction(0), Fraction(1)
    for depth in range(30):
        asked: list[int] = []

        def below(n: int, asked: list[int] = asked, depth: int = depth) -> int:
            """Less than the numerator `depth` times, and then, if that can be, not."""
            asked.append(n)
            return 0 if len(asked) <= depth or numerator >= n else n - 1

        outcome = discrete_laplace._bernoulli_exp(numerator, denominator, below)
        less = min(Fraction(numerator, asked[depth]), Fraction(1))
        true += weight * (1 - less) * outcome
        weight *= less
        if not weight:
            break
    with mpmath.workdps(60):
        expected = mpmath.exp(-mpmath.mpf(numerator) / denominator)
        assert abs(mpmath.mpf(true.numerator) / true.denominator - expected) < 1e-30


@pytest.mark.parametrize("scale", SCALES)
def test_samples_follow_the_law(scale: Fraction) -> None:
    """Chi-square of 20,000 draws in at most 40 cells of the exact law; false alarm 1e-6 each, six scales."""
    source = random.Random(20_261)
    drawn = Counter(sample(scale, source.randrange) for _ in range(20_000))
    width = max(1, round(float(scale) / 4))
    edge = 20 * width
    cells = [(low, low + width) for low in range(-edge, edge, width)]
    q = math.exp(-1 / scale)
    below = [q ** max(0, -k + 1) / (1 + q) if k <= 0 else 1 - q**k / (1 + q) for k in range(-edge, edge + 1, width)]
    chances = np.diff(below).tolist()  # P(low <= X < high), from P(X < k)
    counts = [sum(n for k, n in drawn.items() if low <= k < high) for low, high in cells]
    # What lies outside, and cells too small for the chi-square law, are one cell.
    kept = [i for i, chance in enumerate(chances) if chance * 20_000 >= 10]
    chances = [*(chances[i] for i in kept), 1 - sum(chances[i] for i in kept)]
    counts = [*(counts[i] for i in kept), 20_000 - sum(counts[i] for i in kept)]
    assert stats.chisquare(counts, np.array(chances) * 20_000).pvalue > 1e-6


def test_default_source_is_the_operating_systems() -> None:
    """Mean square of 5,000 draws with the default source; 7 standard errors either side (kurtosis 6)."""
    drawn = [sample(Fraction(5)) for _ in range(5_000)]
    assert all(type(k) is int for k in drawn)
    expected = variance(Fraction(5))
    assert abs(sum(k * k for k in drawn) / 5_000 - expected) < 7 * expected * math.sqrt(5 / 5_000)


@pytest.mark.parametrize("scale", SCALES[:5])
@pytest.mark.parametrize("sensitivity", [1, 2, 7])
def test_pure_epsilon_is_sensitivity_over_scale(scale: Fraction, sensitivity: int) -> None:
    """ln P(m + X = z)/P(m' + X = z) is a fraction: its largest value over all z is D/b, attained, never exceeded."""
    for moved in range(-sensitivity, sensitivity + 1):
        losses = [Fraction(abs(z - moved) - abs(z)) / scale for z in range(-50, 51)]
        assert max(losses) == Fraction(abs(moved)) / scale <= Fraction(sensitivity) / scale
    with mpmath.workdps(40):  # and those fractions are the logarithms of ratios of the law
        for z in range(-9, 10):
            ratio = mpmath.log(pmf(z, scale) / pmf(z - sensitivity, scale))
            assert abs(ratio - mpmath.mpf(abs(z - sensitivity) - abs(z)) / scale.numerator * scale.denominator) < 1e-30


def test_law_sums_to_one() -> None:
    with mpmath.workdps(40):
        assert abs(mpmath.fsum(pmf(k, Fraction(3, 2)) for k in range(-200, 201)) - 1) < 1e-35


def test_no_float_enters_the_sampler() -> None:
    """No true division, no math, no float in the functions that draw."""
    allowed = {"uniform", "below", "_attempt", "_bernoulli_exp", "_checked", "_fraction", "as_integer_ratio"}
    allowed |= {"type", "ArgumentError", "ArgumentTypeError"}
    for name in ("sample", "_attempt", "_bernoulli_exp", "_checked"):
        function = getattr(discrete_laplace, name)
        for node in ast.walk(ast.parse(inspect.getsource(function))):
            assert not isinstance(node, ast.Div)
            if isinstance(node, ast.Constant):
                assert not isinstance(node.value, float | complex)
            if isinstance(node, ast.Call):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr  # type: ignore[attr-defined]
                assert called in allowed


@pytest.mark.parametrize("scale", [Fraction(1, 2**20), Fraction(10**40 + 1, 3), Fraction(1, 10**30)])
def test_extreme_scales(scale: Fraction) -> None:
    source = random.Random(4)
    drawn = [sample(scale, source.randrange) for _ in range(50)]
    assert all(type(k) is int for k in drawn)
    assert (max(map(abs, drawn)) == 0) == (scale < 1)


@pytest.mark.parametrize("scale", [*SCALES, Fraction(10**30), Fraction(1, 1000)])
@pytest.mark.parametrize("probability", [1e-12, 0.025, 0.3, 0.5, Fraction(1, 3), 0.75, 0.975, Fraction(999_999, 10**6)])
def test_quantile_is_the_least(scale: Fraction, probability: float | Fraction) -> None:
    def cdf(k: int) -> mpmath.mpf:
        q = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        return 1 - q ** (k + 1) / (1 + q) if k >= 0 else q**-k / (1 + q)

    chance = Fraction(probability)
    k = quantile(scale, probability)
    with mpmath.workdps(120):
        wanted = mpmath.mpf(chance.numerator) / chance.denominator
        assert cdf(k - 1) < wanted <= cdf(k)


def test_quantile_next_to_a_step() -> None:
    """A probability that agrees with P(X <= 2) to 70 digits needs more than the first attempt's 40."""
    with mpmath.workdps(90):
        q = mpmath.exp(-1)
        step = 1 - q**3 / (1 + q)
        near = Fraction(int(mpmath.floor(step * mpmath.mpf(10) ** 70)), 10**70)
    assert quantile(Fraction(1), near) == 2
    assert quantile(Fraction(1), near + Fraction(1, 10**70)) == 3


@pytest.mark.parametrize("scale", [*SCALES, Fraction(10**60), Fraction(1, 300)])
def test_variance(scale: Fraction) -> None:
    with mpmath.workdps(200):
        q = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        assert variance(scale) == pytest.approx(float(2 * q / (1 - q) ** 2), rel=1e-14)


def test_variance_at_the_ends_of_the_floats() -> None:
    assert variance(Fraction(1, 10**400)) == 0.0
    with pytest.raises(ArgumentError, match="must be small enough for its variance to be a float"):
        variance(Fraction(10**200))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: sample(0.5), ArgumentTypeError, "scale must .*got 0.5"),
        (lambda: sample(True), ArgumentTypeError, "scale must .*got True"),
        (lambda: sample(Fraction(0)), ArgumentError, "must be positive"),
        (lambda: sample(Fraction(-1, 2)), ArgumentError, "must be positive"),
        (lambda: sample(Fraction(2), lambda n: 0.0), ArgumentTypeError, r"must return an integer for below\(2\)"),
        (
            lambda: sample(Fraction(2), lambda n: n),
            ArgumentError,
            r"must return a number between 0 and 1 for below\(2\)",
        ),
        (
            lambda: sample(Fraction(2), lambda n: -1),
            ArgumentError,
            r"must return a number between 0 and 1 for below\(2\)",
        ),
        (lambda: quantile(Fraction(1), 1.0), ArgumentError, "probability must .*got 1.0"),
        (lambda: quantile(Fraction(1), 0), ArgumentError, "probability must .*got 0"),
        (lambda: quantile(Fraction(1), math.nan), ArgumentError, "probability must .*got nan"),
        (lambda: quantile(Fraction(1), "0.5"), ArgumentTypeError, "probability must .*got '0.5'"),
        (lambda: variance(2.0), ArgumentTypeError, "scale must .*got 2.0"),
    ],
)
def test_wrong_calls(call: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call()
