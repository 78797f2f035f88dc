"""The two ways in which every experiment is run, both on the real sketch: as in the paper, and as this library does it.

- **paper**: Algorithm 2. Every pair is kept with probability q, the sketch has 50 entries, F_p is estimated by the
  geometric mean and divided by q^p. Its true price is the sound accounting of privacy/sampling.py.
- **library**: no sampling; plan, collector, release, with the default estimator, for ε = 1 or less. If the stream is
  too short for that, the plan adds a floor. Its price is that of the plan.

A sketch is linear, so equal keys are summed first. Keeping each of f pairs of value 1 with probability q keeps a
binomial number of them. Seeds and secrets are fixed and public: for experiments only.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..plan import Plan, plan
from ..privacy import Privacy
from ..privacy.sampling import SampledCurve, Sampling
from ..secret import Secret
from ..sketch import Sketch
from ..sketch.entry_values import log_magnitudes
from ..sketch.estimators import log_estimates
from ..statistic import Moment
from .formulas import subsampled_epsilon

SIZE, RATE = 50, 0.02
EPSILON, DELTA = 1.0, 1e-6


@dataclass(frozen=True)
class KeyTotals:
    """Keys with their totals: a stream of `pairs` pairs with values up to `most`, added up."""

    keys: NDArray[np.int64]
    totals: NDArray[np.int64]
    pairs: int
    most: int = 1


@dataclass(frozen=True)
class Price:
    """The ε of 50 entries: claimed by the paper (δ = 0), and certified for Algorithm 2 and the library (δ = 1e-6)."""

    claimed: float
    sampled: float
    library: float


def moment(totals: NDArray[np.int64], p: float) -> float:
    """F_p, exactly to rounding."""
    return float(np.sum(totals.astype(np.float64) ** p))


def generator(label: str) -> np.random.Generator:
    """Random numbers that belong to this label only, the same in every run."""
    return np.random.default_rng(np.frombuffer(hashlib.sha256(label.encode()).digest(), np.uint32))


def public_secret(label: str) -> Secret:
    """A secret that anyone can compute: it protects nobody, and makes an experiment repeatable."""
    return Secret.from_bytes(hashlib.sha256(f"stablesketch paper/{label}".encode()).digest())


def paper_estimate(stream: KeyTotals, p: float, label: str) -> float:
    """Algorithm 2: sample, sketch, geometric mean, divided by q^p. 0 for an empty sample."""
    kept = generator(f"sample/{label}").binomial(stream.totals, RATE)
    return sampled_estimate(stream.keys[kept > 0], kept[kept > 0], p, label)


def sampled_estimate(keys: NDArray[np.int64], kept: NDArray[np.int64], p: float, label: str) -> float:
    """The second half of Algorithm 2, from the kept pairs."""
    if not len(keys):
        return 0.0
    sketch = Sketch(p, SIZE, public_secret(label), law="symmetric")
    sketch.update(keys, kept)
    logs, signs = log_magnitudes(sketch.entries())
    log_estimate = float(log_estimates(np.array(logs), np.array(signs), p, "geometric_mean"))
    return math.exp(log_estimate - p * math.log(RATE))


@lru_cache(maxsize=512)
def library_plan(p: float, pairs: int, most: int, size: int = SIZE) -> Plan:
    """The plan of `size` entries that reaches ε = 1 or less, without a floor if the stream is long enough."""
    return plan(Moment(p), Privacy(EPSILON, DELTA, pairs, most, relation="replace"), size=size, mechanism="bare")


def library_release(stream: KeyTotals, p: float, label: str, size: int = SIZE, way: str = "library") -> float:
    """plan → collector → release, with the stream added up by key first."""
    collector = library_plan(p, stream.pairs, stream.most, size).open(public_secret(f"{way}/{label}"), shard="paper")
    collector.add_folded(collector.fingerprint(stream.keys), stream.totals, stream.pairs)
    return collector.release().value


@lru_cache(maxsize=512)
def price(p: float, pairs: int, most: int, keys: int) -> Price:
    """What the two ways cost for a stream of this many pairs, and what the paper claims for the first."""
    privacy = Privacy(1.0, DELTA, pairs, most, relation="replace")
    return Price(
        claimed=subsampled_epsilon(pairs, keys, most, p, SIZE, RATE),
        sampled=SampledCurve(p, SIZE, privacy, Sampling(RATE)).epsilon(DELTA),
        library=library_plan(p, pairs, most).epsilon,
    )
