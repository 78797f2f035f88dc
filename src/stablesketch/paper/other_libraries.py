"""Histograms by other libraries for differential privacy, if they are installed: opendp and diffprivlib."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..numbers.arrays import Array

Histogram = Callable[[NDArray[np.int64], int], Array]

# Both pass every bin through Python; more than this takes minutes.
MOST_BINS = {"opendp": 2_000_000, "diffprivlib": 200_000}


def histograms(epsilon: float, most: int) -> list[tuple[str, Histogram]]:
    """(library and version, function from keys below `domain` to noisy counts of all bins), for those that import."""
    found = []
    for make in (_opendp, _diffprivlib):
        try:
            found.append(make(epsilon, most))
        except Exception:  # a missing library, or one that does not match its dependencies
            continue
    return found


def _opendp(epsilon: float, most: int) -> tuple[str, Histogram]:
    from importlib.metadata import version

    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, metric = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measure = dp.m.make_laplace(domain, metric, scale=2.0 * most / epsilon)

    def histogram(keys: NDArray[np.int64], bins: int) -> Array:
        counts = np.bincount(keys, minlength=bins)
        return np.array(measure(counts.tolist()), dtype=np.float64)

    return f"opendp {version('opendp')}", histogram


def _diffprivlib(epsilon: float, most: int) -> tuple[str, Histogram]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import diffprivlib
        from diffprivlib.tools import histogram as private_histogram

    def histogram(keys: NDArray[np.int64], bins: int) -> Array:
        # It protects adding or removing a value of 1; a replacement is two of those.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            counts, _ = private_histogram(keys, epsilon=epsilon / 2.0 / most, bins=bins, range=(-0.5, bins - 0.5))
        return np.asarray(counts, dtype=np.float64)

    return f"diffprivlib {diffprivlib.__version__}", histogram
