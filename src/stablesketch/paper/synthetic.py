"""Figure 4 of the paper: the error against the length of synthetic streams, as in the paper and by this library.

The keys come from a domain of 1,000, uniform or binomial (Bin(999, 1/2): the paper does not say which), with values 1,
50 entries and q = 0.02. It shows the median and quartiles of |estimate/F_p - 1| over 100 runs, each with its own
stream, sample and secret.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..numbers.arrays import Array
from ..pictures.style import COLOURS, GREY, LINES
from ..privacy.sample_moment import predicted_bias
from .algorithm import RATE, KeyTotals, generator, library_release, moment, paper_estimate, price
from .output import Output

DOMAIN = 1_000
ORDERS = (0.25, 0.5, 0.75, 1.0)
WAYS = ("paper", "library")
LIMITS = {"uniform": 0.8, "binomial": 0.4}  # of the paper's axes


class SyntheticRow(NamedTuple):
    """One point of the figure; `bias` is the predicted sampling bias."""

    p: float
    n: int
    way: str
    median: float
    lower_quartile: float
    upper_quartile: float
    epsilon: float
    claimed_epsilon: float
    bias: float


def key_chances(kind: str) -> Array:
    """The probability of each of the 1,000 keys."""
    if kind == "uniform":
        return np.full(DOMAIN, 1.0 / DOMAIN)
    n = DOMAIN - 1
    logs = np.array([math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(DOMAIN)])
    chances = np.exp(logs - n * math.log(2.0))
    out: Array = chances / chances.sum()
    return out


def run(output: Output) -> None:
    """figure-4-uniform and figure-4-binomial."""
    lengths = [10**4, 10**5, 10**6, 10**7] if output.quick else [round(10 ** (4 + k / 2)) for k in range(7)]
    runs = 30 if output.quick else 100
    uniform: list[SyntheticRow] = []
    for kind in LIMITS:
        rows = _rows(output, kind, lengths, runs)
        uniform = uniform or rows
        output.table(f"figure-4-{kind}", SyntheticRow._fields, rows)
        _draw(output, kind, rows)
        _judge(output, kind, rows, runs, uniform)


def _rows(output: Output, kind: str, lengths: list[int], runs: int) -> list[SyntheticRow]:
    rows: list[SyntheticRow] = []
    chances, keys = key_chances(kind), np.arange(DOMAIN)
    for n in lengths:
        output.say(f"{kind} keys, n = {n:,}: {runs} runs for each of {len(ORDERS)} p, both ways")
        streams = [generator(f"{kind}/{n}/{run}").multinomial(n, chances) for run in range(runs)]
        for p in ORDERS:
            cost = price(p, n, 1, DOMAIN)
            errors: dict[str, list[float]] = {way: [] for way in WAYS}
            for number, totals in enumerate(streams):
                stream = KeyTotals(keys[totals > 0], totals[totals > 0], n)
                exact, label = moment(stream.totals, p), f"{kind}/{n}/{p}/{number}"
                errors["paper"].append(abs(paper_estimate(stream, p, label) / exact - 1.0))
                errors["library"].append(abs(library_release(stream, p, label) / exact - 1.0))
            bias = predicted_bias(streams[0], RATE, p)
            for way in WAYS:
                low, middle, high = (float(q) for q in np.quantile(errors[way], (0.25, 0.5, 0.75)))
                paid = cost.sampled if way == "paper" else cost.library
                claimed = cost.claimed if way == "paper" else paid
                rows.append(SyntheticRow(p, n, way, middle, low, high, paid, claimed, bias if way == "paper" else 0.0))
    return rows


def _draw(output: Output, kind: str, rows: list[SyntheticRow]) -> None:
    figure, panels = output.canvas(13.0, 5.6, columns=2)
    titles = {
        "paper": "As the paper ran it: q = 0.02, geometric mean",
        "library": "As this library would: ε ≤ 1, no sampling",
    }
    top = max(LIMITS[kind], 1.05 * max(row.upper_quartile for row in rows))
    for axes, way in zip(panels, WAYS, strict=True):
        for k, p in enumerate(ORDERS):
            mine = [row for row in rows if row.p == p and row.way == way]
            n, epsilon = [row.n for row in mine], (mine[0].epsilon, mine[-1].epsilon)
            label = f"p = {p:g}: ε = {_short(epsilon[0])} … {_short(epsilon[1])}"
            axes.semilogx(n, [row.median for row in mine], "o" + LINES[k], color=COLOURS[k], label=label, markersize=5)
            axes.fill_between(
                n,
                [r.lower_quartile for r in mine],
                [r.upper_quartile for r in mine],
                color=COLOURS[k],
                alpha=0.12,
                linewidth=0,
            )
            if way == "paper":
                bias = [abs(row.bias) for row in mine]
                axes.semilogx(n, bias, color=COLOURS[k], linewidth=1.0, linestyle=(0, (1, 1)))
        if way == "paper":
            axes.plot([], [], color=GREY, linewidth=1.2, linestyle=(0, (1, 1)), label="predicted sampling bias")
        axes.set(xlim=(1e4, 1e7), ylim=(0, top), xlabel="stream size $n$", ylabel="multiplicative error γ")
        axes.set_title(titles[way])
        axes.legend(title="true ε at δ = $10^{-6}$, from $n = 10^4$ to $10^7$", title_fontsize=11, loc="upper right")
    output.figure(f"figure-4-{kind}", figure)


def _moved(rows: list[SyntheticRow], p: float) -> float:
    """How much the median error of Algorithm 2 changes with n."""
    medians = [row.median for row in rows if row.p == p and row.way == "paper"]
    return max(medians) - min(medians)


def _short(value: float) -> str:
    return "0" if value < 1e-6 else f"{value:.2g}"


def _judge(output: Output, kind: str, rows: list[SyntheticRow], runs: int, uniform: list[SyntheticRow]) -> None:
    errors = {(row.p, row.n, row.way): row.median for row in rows}
    lengths = sorted({row.n for row in rows})
    first, last = lengths[0], lengths[-1]
    shown = ", ".join(f"{errors[p, first, 'paper']:.2f} → {errors[p, last, 'paper']:.2f} (p = {p:g})" for p in ORDERS)
    low = {p: errors[p, first, "paper"] for p in ORDERS}
    bias = next(row.bias for row in rows if row[:3] == (0.25, first, "paper"))
    if kind == "uniform":
        falls = low[0.25] > 2.0 * errors[0.25, last, "paper"]
        output.claim(
            "Section 5.2, uniform keys", "the error falls as the stream grows", falls,
            f"n = 10^4 → 10^7, medians of {runs}: {shown}",
        )  # fmt: skip
        flat = [errors[0.25, n, "library"] for n in lengths]
        output.claim(
            "Section 5.2, uniform keys", "conjecture: the fall is an effect of sub-sampling",
            abs(low[0.25] + bias) < 0.05 and max(flat) < 0.2,
            f"predicted sampling bias at n = 10^4, p = 0.25: {bias:.3f}; without sampling the error is flat, "
            f"{min(flat):.3f} to {max(flat):.3f} over all n",
        )  # fmt: skip
        output.claim(
            "Section 5.2, uniform keys", "p close to 0 has large errors, p close to 1 small ones",
            low[0.25] > low[0.5] > low[1.0],
            "at n = 10^4: " + ", ".join(f"{low[p]:.2f} (p = {p:g})" for p in ORDERS)
            + f"; a matter of sampling alone: without it {errors[0.25, first, 'library']:.2f} at p = 0.25, "
            f"{errors[1.0, first, 'library']:.2f} at p = 1",
        )  # fmt: skip
    else:
        most = max(errors[p, n, "paper"] for p in ORDERS for n in lengths)
        spread = max(_moved(rows, p) for p in ORDERS)
        others = max(_moved(uniform, p) for p in ORDERS)
        output.claim(
            "Section 5.2, binomial keys", "the error is stable in n, with small fluctuations",
            spread < others / 3.0,
            f"medians move by at most {spread:.2f} (uniform keys: {others:.2f}), the largest is {most:.2f}: {shown}; "
            f"at p = 0.25 the predicted bias is {bias:.3f} at n = 10^4, so that there it does fall",
        )  # fmt: skip
