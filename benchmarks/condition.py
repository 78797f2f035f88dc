"""How far finite precision moves an estimate: the bound behind NUMERICAL_ERROR in privacy/precision.py.

    python benchmarks/condition.py [--markdown]

For n keys of weight 1, an entry a = Σ X_k and errors e(X) of X relative to itself, the mean of Σ |X_k| e(X_k)/|a| given
ln|a| is an integral, because given X_1 the rest is stable of scale n - 1:

    c(a) = n/(|a| f_n(a)) ∫ |x| e(x) f(x) f_{n-1}(a - x) dx.

The line is cut where x, or a - x, changes its sign. Each of the three parts is smooth in the logarithm of its variable,
so the trapezoid rule converges fast. With w_j the derivatives of ln T by ln|a_j|, the bound is the mean of
Σ_j w_j c(a_j), and with e = 1 its share of p is the condition number R. For large sizes w is proportional to -(ln h)'',
with h the density of ln|a|; at 5 entries, four of them are simulated and the fifth is integrated over.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from stablesketch import StableLaw
from stablesketch._native import Entries
from stablesketch.law.log_magnitude import log_magnitude
from stablesketch.law.tabulated import tabulated_log_density
from stablesketch.privacy.precision import NUMERICAL_ERROR
from stablesketch.sketch.entry_law import EntryLaw

LN2 = math.log(2.0)
ORDERS = (0.05, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
KEYS = (2, 100, 2**14, 10**6, 2**30, 2**40)
STEP = 0.125
BLOCK = 16


def table_error(p: float) -> float:
    """Above what is certified at some p (docs/math-noisy-estimate.md, "The tables, certified")."""
    return 1e-15 if p >= 0.15 else 4e-15 if p >= 0.12 else 8e-15


def error_of_x(p: float, y: np.ndarray) -> np.ndarray:
    """e(X) at |X| = e^y: table, random bits, resolution; see native/variate.hpp for what t is."""
    values = log_magnitude(p).values(y)
    upper = values.sf < values.cdf
    tail = np.minimum(values.sf, values.cdf)  # ln(t/2)
    granularity = np.maximum(2.0**-53, np.exp(-64.0 * LN2 - tail))  # half of 2^-62, over t
    continued = upper & (tail < -15.0 * LN2)
    granularity[continued] = 2.0**-53
    # ln|x| moves by tail/density for each unit of ln t. Far below, where t has no digits left, x is negligible.
    bits = np.exp(np.minimum(np.log(granularity) + tail - values.density, 0.0))
    resolution = np.exp(np.minimum(-(Entries(EntryLaw("symmetric", p), 1).resolution + 1) * LN2 - y, 0.0))
    return table_error(p) + bits + resolution


def condition(
    p: float, keys: int, y: np.ndarray, error: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """c at ln|a| = y + ln(n)/p, for e = 1 and for the error given."""
    log_h = tabulated_log_density(p)
    one, all_keys = math.log(keys - 1) / p, math.log(keys) / p
    line = np.arange(log_h.low - 40.0, all_keys + 40.0 / p, STEP)
    errors = error(line)
    cut = np.arange(-60.0 / p, 60.0 / p, STEP)
    below, above = -np.logaddexp(0.0, -cut), -np.logaddexp(0.0, cut)  # ln s and ln(1 - s): x = sa, the rest (1 - s)a
    out = np.zeros((2, len(y)))
    for start in range(0, len(y), BLOCK):
        block = slice(start, start + BLOCK)
        a = (y[block] + all_keys)[:, None]
        sum_ = np.logaddexp(a, line)
        for x, rest, share in ((a + below, a + above, below), (sum_, line, 0.0), (line, sum_, line - sum_)):
            x, rest = (np.ascontiguousarray(part) for part in np.broadcast_arrays(x, rest))
            logs = math.log(0.5 * STEP * keys) + share + log_h(x) + log_h(rest - one)
            terms = np.exp(logs - log_h(y[block])[:, None])
            out[:, block] += terms.sum(axis=1), (terms * np.interp(x, line, errors)).sum(axis=1)
    return out[0], out[1]


def weights(p: float, y: np.ndarray) -> np.ndarray:
    """w_j/p of the Pitman estimate: E[ψ'(y_j - μ)] under the posterior less that under posterior/F, ψ = ln h."""
    table, out = tabulated_log_density(p), np.empty_like(y)
    reach = 36.0 / (p * math.sqrt(y.shape[1]))
    at = np.linspace(-reach, reach, 1_201)
    for i, row in enumerate(y):
        value, slope, _ = table.derivatives(row[:, None] - at)
        plain = value.sum(axis=0)
        densities = (np.exp(logs - logs.max()) for logs in (plain, plain - p * at))
        first, second = (slope @ density / density.sum() for density in densities)
        out[i] = (first - second) / p
    return out


@lru_cache
def places(p: float) -> np.ndarray:
    """Values of ln|a| - ln(n)/p, from where h is practically e^y to where it is a power."""
    return np.arange(tabulated_log_density(p).low - 35.0, 30.0 / p, 0.5)


@lru_cache
def weight_of_five(p: float, sketches: int) -> np.ndarray:
    """5 h(y) E[w_1/p | y_1 = y] at the places, one row for each sketch: the other four entries are simulated."""
    y, others = places(p), StableLaw(p).sample_logs((sketches, 4), np.random.default_rng(5))[0]
    out = np.empty((sketches, len(y)))
    for i, four in enumerate(others):
        entries = np.column_stack([y, np.broadcast_to(four, (len(y), 4))])
        out[i] = weights(p, entries)[:, 0]
    return 5.0 * np.exp(tabulated_log_density(p)(y)) * out


def row(p: float, keys: int, sketches: int = 0) -> tuple[float, float, float, float]:
    """R; the bound over η at large sizes; the same at 5 entries, with its standard error (nan without sketches)."""
    table, y = tabulated_log_density(p), places(p)
    number, error = condition(p, keys, y, lambda line: error_of_x(p, line))
    error *= p / NUMERICAL_ERROR
    weight = np.maximum(-table.derivatives(y)[2], 0.0) * np.exp(table(y))
    weight /= weight.sum()
    small = math.nan, math.nan
    if sketches:
        each = weight_of_five(p, sketches)
        total, bound = each.sum(axis=1), each @ error
        mean = float(bound.mean() / total.mean())  # in the mean the weights add up to 1
        small = mean, float((bound - mean * total).std() / total.mean() / math.sqrt(sketches))
    return float(weight @ number), float(weight @ error), *small


def main() -> None:
    parser = argparse.ArgumentParser(description="The mean error of ln T, bounded, in units of the declared one.")
    parser.add_argument("--sketches", type=int, default=200, help="sketches of 5 entries to simulate")
    parser.add_argument("--markdown", action="store_true", help="print the table as markdown")
    options = parser.parse_args()
    lines = [("p", "keys", "R", "bound/η, large sizes", "bound/η, 5 entries")]
    for p in ORDERS:
        for keys in KEYS:
            number, large, small, doubt = row(p, keys, options.sketches)
            lines.append((f"{p:g}", f"{keys:,}", f"{number:.2f}", f"{large:.3f}", f"{small:.3f} ± {doubt:.3f}"))
    if options.markdown:
        lines.insert(1, ("---",) * 5)
        print("\n".join("| " + " | ".join(line) + " |" for line in lines))
    else:
        print("\n".join("  ".join(text.rjust(20) for text in line) for line in lines))


if __name__ == "__main__":
    main()
