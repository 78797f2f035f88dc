"""The r-fold sum of a loss on a lattice, with every error bounded.

For a law of one loss with masses w_j at the points g_j = g_0 + j·step, and W the law of the sum T of r of them,

    δ(ε) = Σ_t W(t) (1 - e^{ε-t})_+ .

W comes from one Fourier transform of length N. Its rounding errors are about 1e-16 of the *largest* mass, which would
drown a δ of 1e-12. So the transform is applied to the tilted law w_j e^{θ g_j}/M(θ), M(θ) = Σ w_j e^{θ g_j}, which is
centred where it is needed (Esscher). With A its r-fold sum, W(t) = M^r e^{-θt} A(t) and

    δ(ε) = e^{r ln M - θε} Σ_t A(t) φ(t - ε),    φ(x) = e^{-θx} (1 - e^{-x})_+  <=  sup φ <= 1.

The sum is a number of ordinary size, and an absolute error in it is a relative error in δ. Three errors are bounded:

1. *Window.* Only N consecutive points are kept; mass outside wraps round into them. Mass beyond t_+ is at most
   exp(r ln M(θ+λ)/M(θ) - λ t_+) for any λ > 0, likewise below. The window is set so that both are e^{-40}. What is
   outside changes the sum by at most its mass times sup φ: missing outside, surplus where it wraps.
2. *Rounding of the transform.* A transform of length N has relative error at most C log2(N) u in the Euclidean norm
   (Higham, Accuracy and Stability, section 24.1: C below 8 for radix 2; 16 is used). One coefficient F_k is then off
   by η = C log2(N) u sqrt(N) |w|; its r-th power by r (|F_k| + η)^{r-1} (η + 4u |F_k|), because powers are computed by
   repeated squaring; one value A(t) by the mean of these over k plus C log2(N) u |A|.
3. *Everything else.* Exponents have an absolute error of a few u times their size, and so masses have that relative
   error; r masses multiply. Sums add `_ROUNDING`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...numbers.arrays import Array
from .lattice import LatticeLaw

_UNIT = 2.0**-53
_FFT = 16.0
_WINDOW = 40.0
_ROUNDING = 1e-13
# The best Chernoff exponent for a normal law is sqrt(2·40) = 8.9 deviations; the neighbours are for skewed ones.
_CHERNOFF = (3.0, 6.0, 8.0, 9.0, 10.0, 13.0, 20.0, 40.0)
_PRECISION = 1e-7


@dataclass(frozen=True)
class TiltedSum:
    """The tilted law A of the sum of `size` losses, and bounds for δ(ε) from it.

    A(first + i) stands at the loss start + step·(first + i); `cell_error` bounds the error of each mass and
    `outside` the mass outside the window.
    """

    size: int
    theta: float
    log_moment: float
    start: float
    step: float
    first: int
    mass: Array
    cell_error: float
    outside: float
    scale_error: float
    shift_error: float

    def log_delta(self, epsilon: float, *, upper: bool) -> float:
        """ln of a bound for δ(ε); -∞ where the bound is 0."""
        # Upper bounds are read at a smaller ε, lower bounds at a larger.
        moved = epsilon - self.shift_error if upper else epsilon + self.shift_error
        position = (moved - self.start) / self.step - self.first
        begin = min(max(math.floor(position) + 1, 0), len(self.mass))
        # Where θx > 60, φ falls and is below φ(60/θ): those points are left out, and that much is allowed for them.
        reach = min(60.0 / (self.theta * self.step), float(len(self.mass)))
        end = min(begin + math.ceil(reach) + 1, len(self.mass))
        x = (np.arange(begin, end) - position) * self.step
        phi = np.exp(-self.theta * x) * -np.expm1(-x)
        kept = _sum(self.mass[begin:end] * phi)
        blur = self.cell_error * _sum(phi)
        highest = _highest(self.theta)
        if upper:
            total = (kept + blur) * (1.0 + _ROUNDING) + self.outside * highest
            total -= 2.0 * math.exp(-60.0) * math.expm1(-60.0 / self.theta)
        else:
            total = (kept - blur) * (1.0 - _ROUNDING) - self.outside * highest
        if total <= 0.0:
            return -math.inf
        scale = self.size * self.log_moment - self.theta * moved
        error = self.scale_error + 8.0 * _UNIT * (abs(scale) + self.size * abs(self.log_moment))
        return scale + math.log(total) + (error if upper else -error)

    def epsilon_above(self, delta: float, top: float) -> float:
        """An ε in [0, top] with δ(ε) <= delta for certain; `top` is known to be one."""

        def surplus(epsilon: float) -> float:
            return self.log_delta(epsilon, upper=True) - math.log(delta)

        at_zero, at_top = surplus(0.0), surplus(top)
        if at_zero <= 0.0:
            return 0.0
        if at_top > 0.0:
            return top
        return _close_in(surplus, 0.0, top, at_zero, at_top)[1]

    def epsilon_below(self, delta: float, top: float) -> float:
        """An ε in [0, top] with δ(ε) > delta for certain, or 0 if none was found, searching downwards from `top`.

        Far from where the tilted sum is centred the error terms win and the bound is empty; hence the search.
        """

        def surplus(epsilon: float) -> float:
            return self.log_delta(epsilon, upper=False) - math.log(delta)

        high, at_high, share = top, surplus(top), _PRECISION
        while at_high <= 0.0 and share < 1.0:
            low = top * (1.0 - share)
            at_low = surplus(low)
            if at_low > 0.0:
                return _close_in(surplus, low, high, at_low, at_high)[0]
            high, at_high, share = low, at_low, 2.0 * share
        return high if at_high > 0.0 else 0.0


def tilted_sum(law: LatticeLaw, size: int, theta: float) -> TiltedSum:
    """The sum of `size` independent losses with this law, tilted by θ."""
    tilted = _Tilted(law, theta)
    last = len(law.weight) - 1
    low, high = tilted.window(size)
    first, end = max(low, 0), min(high, size * last)
    length = _transform_length(max(end - first + 1, last + 1))
    # The exponent is lowered by one to allow for the rounding of the logarithms it was computed from.
    outside = ((low > 0) + (high < size * last)) * math.exp(1.0 - _WINDOW)
    spectrum = np.fft.rfft(tilted.mass, length)
    relative = _FFT * math.log2(length + 1) * _UNIT
    each = relative * math.sqrt(length * _sum(tilted.mass**2))
    magnitude = np.abs(spectrum)
    power_error = size * (magnitude + each) ** (size - 1) * (each + 4.0 * _UNIT * magnitude)
    wrapped = np.fft.irfft(_power(spectrum, size), length)
    # Both halves of the spectrum count; the real transform holds only one.
    cell_error = 2.0 * _sum(power_error) / length + relative * math.sqrt(_sum(wrapped**2))
    mass = np.roll(wrapped, -(first % length))
    return TiltedSum(
        size=size,
        theta=theta,
        log_moment=tilted.log_moment,
        start=size * law.lowest,
        step=law.step,
        first=first,
        mass=mass,
        cell_error=1.01 * cell_error,
        outside=outside,
        scale_error=size * (law.scale_error + 8.0 * _UNIT * tilted.largest_exponent),
        shift_error=size * (law.shift_error + 8.0 * _UNIT * law.step * last),
    )


def tilt_for_delta(law: LatticeLaw, size: int, delta: float) -> float:
    """A θ that centres the tilted sum near the ε with δ(ε) = delta; any θ is correct, a near one is precise.

    By Laplace's method δ(ε) is about e^{r ln M - θε} / (θ (1+θ) s sqrt(2π r)) when ε is the tilted mean and s the
    tilted deviation of one loss; the right side falls with θ.
    """
    target = math.log(delta)

    def surplus(log_theta: float) -> float:
        theta = math.exp(log_theta)
        tilted = _Tilted(law, theta)
        spread = max(tilted.deviation, 1e-3 * law.step) * math.sqrt(2.0 * math.pi * size)
        return size * (tilted.log_moment - theta * tilted.mean) - math.log(theta * (1.0 + theta) * spread) - target

    return _least_tilt(law, size, surplus)


def tilt_for_epsilon(law: LatticeLaw, size: int, epsilon: float) -> float:
    """A θ >= 0 for which the mean of the tilted sum is close to ε."""
    return _least_tilt(law, size, lambda log_theta: epsilon / size - _Tilted(law, math.exp(log_theta)).mean)


def _least_tilt(law: LatticeLaw, size: int, surplus: Callable[[float], float]) -> float:
    plain = _Tilted(law, 0.0)
    low = math.log(0.01 / (max(plain.deviation, 1e-3 * law.step) * math.sqrt(size)))
    # Beyond 2/step, neighbouring points differ by more than e² and only the few highest matter: nothing to gain.
    high = max(math.log(2.0 / law.step), low + 1.0)
    if surplus(low) <= 0.0:
        return math.exp(low)
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if surplus(middle) > 0.0 else (low, middle)
    return math.exp(low)


class _Tilted:
    """w_j e^{θ g_j} / M(θ), and its mean and deviation."""

    def __init__(self, law: LatticeLaw, theta: float) -> None:
        self._law = law
        self._theta = theta
        self.log_moment, self.mass = self._tilt(theta)
        # Masses below e^{-745} are 0, and those above carry the error of an exponent of this size at most.
        self.largest_exponent = 750.0 + abs(theta) * (law.step * len(law.weight) + abs(law.lowest))
        at = law.step * np.arange(len(law.weight))
        mean = _sum(self.mass * at)
        self.mean = law.lowest + mean
        self.deviation = math.sqrt(_sum(self.mass * (at - mean) ** 2))

    def window(self, size: int) -> tuple[int, int]:
        """Indices of the sum below and above which it has a tilted probability of at most e^{-_WINDOW} each."""
        law = self._law
        spread = max(self.deviation, 1e-3 * law.step) * math.sqrt(size)
        low, high = -math.inf, math.inf
        for strength in _CHERNOFF:
            slope = strength / spread
            rise = size * (self._tilt(self._theta + slope)[0] - self.log_moment)
            high = min(high, (rise + _WINDOW) / slope)
            fall = size * (self._tilt(self._theta - slope)[0] - self.log_moment)
            low = max(low, -(fall + _WINDOW) / slope)
        start = size * law.lowest
        return math.floor((low - start) / law.step) - 1, math.ceil((high - start) / law.step) + 1

    def _tilt(self, theta: float) -> tuple[float, Array]:
        law = self._law
        with np.errstate(divide="ignore"):
            exponent = np.log(law.weight) + theta * law.step * np.arange(len(law.weight))
        peak = float(exponent.max())
        mass = np.exp(exponent - peak)
        total = _sum(mass)
        return peak + math.log(total) + theta * law.lowest, mass / total


def _close_in(
    falling: Callable[[float], float], low: float, high: float, at_low: float, at_high: float
) -> tuple[float, float]:
    """A narrow bracket around the zero of a decreasing function: secants (Illinois), with a bisection at every fourth
    step."""
    side = 0
    for step in range(200):
        if high - low <= _PRECISION * high:
            break
        middle = 0.5 * (low + high)
        if step % 4 != 3 and math.isfinite(at_low) and math.isfinite(at_high):
            middle = low + (high - low) * min(max(at_low / (at_low - at_high), 1e-9), 1.0 - 1e-9)
        here = falling(middle)
        if here > 0.0:
            low, at_low, at_high = middle, here, (0.5 * at_high if side > 0 else at_high)
            side = 1
        else:
            high, at_high, at_low = middle, here, (0.5 * at_low if side < 0 else at_low)
            side = -1
    return low, high


def _sum(terms: Array) -> float:
    """Pairwise summation in one thread: a threaded dot product loses more by waiting than it gains."""
    return float(np.sum(terms))


def _highest(theta: float) -> float:
    """sup of e^{-θx} (1 - e^{-x}) over x > 0, at x = ln(1 + 1/θ), for θ > 0."""
    return math.exp(-theta * math.log1p(1.0 / theta)) / (1.0 + theta) * (1.0 + _ROUNDING)


def _power(base: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """base^exponent by repeated squaring: the relative error is at most `exponent` times that of one product."""
    out = np.ones_like(base)
    while exponent:
        if exponent & 1:
            out = out * base
        exponent >>= 1
        if exponent:
            base = base * base
    return out


def _transform_length(least: int) -> int:
    """The least length 2^a 3^b >= `least`, b <= 2: fast to transform."""
    return min(odd << max(0, math.ceil(math.log2(least / odd))) for odd in (1, 3, 9))
