"""`Erring`: the error of a mechanism, its noise, and the streams in which the noise decides.

Noise is absolute and the error of a sketch is relative, so the longer the stream, the less the noise matters. With n
pairs of value 1 or more, F_p is at least n^p for p <= 1 (all on one key), at least n for p > 1 (each on its own key),
and at least n if every key occurs once. The total is at least n.
"""

from __future__ import annotations

import math

from .plan import Plan

_MOST_PAIRS = 2.0**53


class Erring:
    """Methods take plans that the mechanism serves."""

    def noise_scale(self, plan: Plan) -> float:
        """b, the scale of the Laplace noise on what is measured: F_p, its norm for orders above 1, a total, or a number
        of keys. 0 if there is no noise, or if the scale depends on the length of the stream."""
        return plan.noise

    def noise_deviation(self, plan: Plan) -> float:
        """The standard deviation of that noise: sqrt(2) b, or less where the noise takes only a few integers."""
        return math.sqrt(2.0) * self.noise_scale(plan)

    def exponent(self, plan: Plan) -> float:
        """k, if what is measured is the k-th root of the statistic. The statistic's relative error is k times as
        large."""
        return 1.0

    def includes_noise(self, plan: Plan) -> bool:
        """Whether the error of the plan includes its noise: it does if a value is expected."""
        return plan.expected > 0.0

    def noise_at(self, plan: Plan, pairs: float, keys: float | None = None) -> float:
        """What the noise adds to the error in a stream of this many pairs, to first order; 0 if the plan's error
        already includes it. Relative to the value of this many equally common keys; without `keys`, to the least
        possible value."""
        if self.includes_noise(plan):
            return 0.0
        ends = (1.0, pairs) if keys is None else (min(keys, pairs),)  # of all keys, F_p is least at one of them
        among = (pairs,) if plan.privacy.unit == "key" else ends
        moment = min(each * math.pow(pairs / each, plan.statistic.p) for each in among)
        return self.noise_at_value(plan, moment)

    def noise_at_value(self, plan: Plan, value: float, deviation: float | None = None) -> float:
        """What noise of this deviation, by default its own, adds to the relative error if the statistic has this
        value."""
        exponent = self.exponent(plan)
        noise = self.noise_deviation(plan) if deviation is None else deviation
        return exponent * noise / math.pow(value, 1.0 / exponent)

    def error_alone(self, plan: Plan) -> float:
        """The error of the entries, without the noise."""
        if not plan.expected:
            return plan.error
        return math.sqrt(max(plan.error**2 - self.noise_at_value(plan, plan.expected) ** 2, 0.0))

    def worst_error(self, plan: Plan) -> float:
        """The error if one key holds everything: larger if entries are in buckets."""
        return plan.error

    def pairs_for_noise_below(self, plan: Plan, error: float, keys: float | None = None) -> float:
        """The number of pairs above which the noise adds less than `error`, in the unit of the statistic: in streams of
        this many keys, or for any keys.

        Only noise that `plan.error` does not include counts; for exact plans, all of it. Noise on the number of keys is
        left out, because many pairs can share few keys. Infinite if no stream is long enough, 0 if there is no such
        noise.
        """
        if self.noise_at(plan, _MOST_PAIRS, keys) > error:
            return math.inf
        if self.noise_at(plan, 1.0, keys) <= error:
            return 0.0
        low, high = 0.0, math.log(_MOST_PAIRS)
        while high - low > 1e-6:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.noise_at(plan, math.exp(middle), keys) > error else (low, middle)
        return math.exp(high)

    def noise_decides_below(self, plan: Plan) -> float:
        """The number of pairs below which the noise can add more than the error of the sketch.

        The error of the sketch is the root of V Σ F_b^2 over the buckets, and F_b is at least n_b^p for p < 1 if bucket
        b has n_b pairs. With n pairs in all, the sum is least if all are on one key (p <= 1/2), or if every bucket has
        one key and equally many pairs (p >= 1/2). Without buckets the error is the same everywhere, and the noise
        matters most where the value is least: all pairs on one key for p < 1, each on its own key for p > 1.
        """
        buckets = [(float(one.buckets), plan.error) for one in plan.measurements if one.buckets > 1]
        ends = [(1.0, self.worst_error(plan)), *buckets, (math.inf, plan.error)]
        return max(self.pairs_for_noise_below(plan, error, keys) for keys, error in ends)
