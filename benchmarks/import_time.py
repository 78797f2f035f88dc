"""How long `import stablesketch` takes: the median of several fresh interpreters.

    python benchmarks/import_time.py [--runs 11]

The import is timed inside the interpreter, so its own start does not count; numpy, which has to be imported first, is
shown apart. One run beforehand is thrown away: it fills the caches of the disk.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

PROBE = """
import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import stablesketch
print(middle - start, time.perf_counter() - middle)
"""


def measure() -> tuple[float, float]:
    """Seconds for numpy, and for stablesketch on top of it."""
    output = subprocess.run([sys.executable, "-c", PROBE], check=True, capture_output=True, text=True).stdout
    numpy, own = map(float, output.split())
    return numpy, own


def main() -> None:
    parser = argparse.ArgumentParser(description="How long import stablesketch takes.")
    parser.add_argument("--runs", type=int, default=11, help="fresh interpreters to time (default 11)")
    options = parser.parse_args()
    measure()
    runs = [measure() for _ in range(options.runs)]
    numpy, own, both = (
        statistics.median(seconds) for seconds in ([a for a, _ in runs], [b for _, b in runs], [a + b for a, b in runs])
    )
    print(f"numpy {1e3 * numpy:.0f} ms, stablesketch {1e3 * own:.0f} ms, together {1e3 * both:.0f} ms")


if __name__ == "__main__":
    main()
