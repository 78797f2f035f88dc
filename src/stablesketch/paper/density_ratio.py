"""Figures 2 and 6 of the paper: D_{p,1}(x)/D_{p,2^p}(x), for p <= 1, where it falls, and for p between 1 and 2.

For p <= 1 the density is the library's. For 1 < p < 2, which the library does not need, it is the Fourier integral

    f(x) = (1/π) Re ∫_0^∞ exp(itx) (exp(-t^p) - 1) dt,    t = u e^{iφ},

on a path turned by φ = π/8: both factors decay there (pφ < π/2), and subtracting the 1, whose integral is imaginary,
leaves an integrand of the size of the result even far out.
"""

from __future__ import annotations

import math

import numpy as np

from ..law import StableLaw
from ..numbers.arrays import Array
from ..pictures.style import COLOURS, LINES
from .output import Output

ORDERS = tuple(round(0.1 * k, 1) for k in range(1, 11))
HIGH_ORDERS = (1.1, 1.9, 1.95, 1.99)
_TURN = math.pi / 8.0
_STEP = 1.0 / 64.0


def wide_density(p: float, x: Array) -> Array:
    """The density of the symmetric p-stable law at x > 0, 1 < p < 2, to about 1e-10, relative."""
    at = np.log(x)[:, None]
    v = np.arange(-60.0, 6.0, _STEP)  # v = ln(ux)
    turned = np.exp(1j * _TURN)
    ux = np.exp(v) * turned
    power = np.exp(p * (v - at)) * np.exp(1j * p * _TURN)
    terms = np.real(np.exp(1j * ux) * ux * np.expm1(-power))
    out: Array = _STEP / math.pi * terms.sum(axis=1) / x
    return out


def ratio(p: float, x: Array) -> Array:
    """D_{p,1}(x)/D_{p,2^p}(x) = 2 f(x)/f(x/2): a factor 2^p of the scale stretches x by 2."""
    out: Array
    if p <= 1.0:
        law = StableLaw(p)
        out = 2.0 * law.pdf(x) / law.pdf(x / 2.0)
    else:
        out = 2.0 * wide_density(p, x) / wide_density(p, x / 2.0)
    return out


def monotone_parts(values: Array) -> int:
    """How many times the direction of a curve changes, plus one; relative steps below 1e-9 do not count."""
    steps = np.diff(values)
    signs = np.sign(steps[np.abs(steps) > 1e-9 * np.abs(values[:-1])])
    return int(np.count_nonzero(np.diff(signs))) + 1 if len(signs) else 1


def run(output: Output) -> None:
    """figure-2-density-ratio and figure-6-density-ratio-above-1."""
    x = np.concatenate([[1e-6], np.linspace(0.05, 20.0, 400)])
    low = {p: ratio(p, x) for p in ORDERS}
    rows = [(p, float(a), float(b)) for p in ORDERS for a, b in zip(x, low[p], strict=True)]
    output.table("figure-2-density-ratio", ("p", "x", "ratio"), rows)
    figure, axes = output.canvas()
    for k, p in enumerate(ORDERS):
        axes.plot(x, low[p], LINES[k // 5], color=COLOURS[k % 5], label=f"p = {p:g}")
    axes.set(xlim=(0, 20), ylim=(0.4, 2.5), xlabel="$x$", ylabel="$D_{p,1}(x)\\;/\\;D_{p,2^p}(x)$")
    axes.set_title("The likelihood ratio of one entry, ρ = $2^p$")
    axes.legend(ncols=2)
    output.figure("figure-2-density-ratio", figure)
    inside = all(0.5**p * (1 - 1e-9) <= low[p].min() and low[p].max() <= 2.0 * (1 + 1e-9) for p in ORDERS)
    falls = all(monotone_parts(low[p]) == 1 for p in ORDERS)
    output.claim(
        "Figure 2", "for p ≤ 1 the ratio is bounded, between ρ^-1 and ρ^{1/p}", inside,
        f"ten p, {len(x)} points: within [2^-p, 2], {'falling everywhere' if falls else 'not monotone'}",
    )  # fmt: skip

    far = np.geomspace(1.0, 1000.0, 1501)
    high = {p: ratio(p, far) for p in HIGH_ORDERS}
    rows = [(p, float(a), float(b)) for p in HIGH_ORDERS for a, b in zip(far, high[p], strict=True)]
    output.table("figure-6-density-ratio-above-1", ("p", "x", "ratio"), rows)
    figure, axes = output.canvas()
    for k, p in enumerate(HIGH_ORDERS):
        axes.semilogx(far, high[p], LINES[k], color=COLOURS[k], label=f"p = {p:g}")
    axes.set(xlim=(1, 1000), ylim=(-0.05, 2.0), xlabel="$x$", ylabel="$D_{p,1}(x)\\;/\\;D_{p,2^p}(x)$")
    axes.set_title("Above p = 1 the ratio is not monotone")
    axes.legend(ncols=2)
    output.figure("figure-6-density-ratio-above-1", figure)
    parts = {p: monotone_parts(high[p]) for p in HIGH_ORDERS}
    output.claim(
        "Section 6, figure 6", "for p = 1.99 the ratio has three monotone parts",
        parts[1.99] == 3,
        "parts on [1, 1000]: " + ", ".join(f"{count} at p = {p:g}" for p, count in parts.items())
        + f"; least value at p = 1.99: {high[1.99].min():.4f}",
    )  # fmt: skip
