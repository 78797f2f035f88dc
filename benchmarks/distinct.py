"""Counting distinct keys privately: relative errors of several methods at equal bytes, in one table.

    python benchmarks/distinct.py [--trials 100]

ε = 1, δ = 1e-9, one pair added or removed, streams of any length; sketches of 4, 16, 64 KiB; generated streams in which
key number k occurs 1 + floor(keys/(10 (k + 1))) times. Measured (root mean square of `trials` runs, a tenth as many for
the peer, which takes keys one by one):

- **secret phantoms**: registers of 32 bits and a secret number of phantoms, as in the library;
- **DataSketches HLL** (4 bits and exceptions, two halves merged): no privacy at all, for comparison. Left out if not
  installed.

Computed:

- **public phantoms**: HyperLogLog registers of 6 bits with as many phantoms as the simple bound requires,
  m/(1 - e^-ε), at the Cramér-Rao bound;
- **F_0.05** from a p-stable sketch with a floor, as its plan predicts, and its bias F_0.05/F_0 - 1;
- **exact + Laplace**: all keys in memory.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import stablesketch as ss
from stablesketch.privacy.discrete_laplace import variance
from stablesketch.privacy.distinct import distinct_deviation, phantoms_for
from stablesketch.sketch.distinct import DistinctRegisters, blob_bytes
from stablesketch.sketch.entry_values import entry_bytes

try:
    import datasketches
except ImportError:
    datasketches = None

PRIVACY = ss.Privacy(epsilon=1.0, delta=1e-9, pairs=0, relation="add_remove")
STREAMS = (3_399, 103_564, 658_045)
BYTES = (4096, 16_384, 65_536)
HEADINGS = ("distinct keys", "bytes", "secret phantoms", "(predicted)", "DataSketches HLL", "public phantoms", "F_0.05",
            "its bias", "exact + Laplace")  # fmt: skip


def secret_phantoms(keys: int, size: int, trials: int) -> tuple[float, float]:
    """Relative error measured through the real path, and what is predicted."""
    phantoms, registers = phantoms_for(PRIVACY), (size - blob_bytes(0)) // 4
    errors = []
    for _ in range(trials):
        secret = ss.Secret.generate()
        counted = DistinctRegisters(registers, secret)
        counted.add(range(keys))
        counted.add_phantoms(phantoms.draw(secret))
        errors.append((counted.estimate() - phantoms.mean) / keys - 1.0)
    return float(np.sqrt(np.mean(np.square(errors)))), distinct_deviation(keys, registers, phantoms) / keys


def hyperloglog(keys: int, size: int, trials: int) -> float:
    """The merged estimate of DataSketches, with the largest 2^k registers of 4 bits that fit."""
    if datasketches is None:
        return math.nan
    k = int(math.log2(2 * size))
    errors = []
    for trial in range(trials):
        union = datasketches.hll_union(k)
        for half in (0, 1):
            sketch = datasketches.hll_sketch(k, datasketches.tgt_hll_type.HLL_4)
            for key in range(half, keys, 2):
                sketch.update(trial << 40 | key)
            union.update(sketch)
        errors.append(union.get_estimate() / keys - 1.0)
    return float(np.sqrt(np.mean(np.square(errors))))


def public_phantoms(keys: int, size: int) -> float:
    """1/I - t for t keys and phantoms in registers that keep the largest of values of chance 2^-k."""
    registers = size * 8 // 6
    total = keys + math.ceil(registers / -math.expm1(-PRIVACY.epsilon))
    chance = 2.0 ** -np.arange(1, 60)
    x = total / registers * chance
    information = registers * float(np.sum(np.exp(-x) * x**2 / np.expm1(np.minimum(x, 700.0))))
    return math.sqrt(total**2 / information - total) / keys


def small_moment(keys: int, size: int) -> tuple[float, float]:
    """(predicted relative deviation, bias) of F_0.05 as an estimate of F_0."""
    moment = float(np.sum((1.0 + np.floor(keys / (10.0 * np.arange(1, keys + 1)))) ** 0.05))
    plan = ss.plan(
        ss.Moment(0.05),
        PRIVACY,
        size=int(size / entry_bytes(0.05, moment, "symmetric")),
        expected=moment,
        mechanism="bare",
    )
    return plan.error, moment / keys - 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    trials = parser.parse_args().trials
    print(" | ".join(HEADINGS))
    for keys in STREAMS:
        for size in BYTES:
            measured, predicted = secret_phantoms(keys, size, trials)
            deviation, bias = small_moment(keys, size)
            exact = math.sqrt(variance(phantoms_for(PRIVACY).scale)) / keys
            peer = hyperloglog(keys, size, max(1, trials // 10))
            errors = (measured, predicted, peer, public_phantoms(keys, size), deviation, bias, exact)
            print(f"{keys:,} | {size:,} | " + " | ".join(f"{100.0 * error:.3g}%" for error in errors), flush=True)


if __name__ == "__main__":
    main()
