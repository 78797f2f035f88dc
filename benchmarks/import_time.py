"""How long `import stablesketch` takes: the median of several fresh interpreters.

    python benchmarks/import_time.py [--runs 11]

The import is timed inside the interpreter, so the interpreter's start does not count. The package loads its names when
they are first used; loading all of them, with numpy, is shown separately. A first run, which fills the disk caches, is
discarded.

The package is timed as pip installs it: its files, with their bytecode, in a folder. A checkout has an import hook of
the build tool and possibly no bytecode, unlike a user's installation.
"""

from __future__ import annotations

import argparse
import compileall
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import stablesketch
from stablesketch import _native

PROBE = """
import sys, time
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])
start = time.perf_counter()
import stablesketch
middle = time.perf_counter()
for name in stablesketch.__all__:
    getattr(stablesketch, name)
print(middle - start, time.perf_counter() - middle)
assert stablesketch.__file__.startswith(sys.argv[1])
"""


@cache
def installed() -> tempfile.TemporaryDirectory[str]:
    """A folder with the package in it, removed at the end of the process."""
    folder = tempfile.TemporaryDirectory(prefix="stablesketch-import-")
    package = Path(folder.name) / "stablesketch"
    shutil.copytree(Path(stablesketch.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(str(_native.__file__), package)
    compileall.compile_dir(package, quiet=1)
    return folder


def measure() -> tuple[float, float]:
    """Seconds for `import stablesketch`, and for loading everything it offers, numpy included."""
    command = [sys.executable, "-c", PROBE, installed().name]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    own, offered = map(float, output.split())
    return own, offered


def main() -> None:
    parser = argparse.ArgumentParser(description="How long import stablesketch takes.")
    parser.add_argument("--runs", type=int, default=11, help="fresh interpreters to time (default 11)")
    options = parser.parse_args()
    measure()
    runs = [measure() for _ in range(options.runs)]
    own, offered, both = (
        statistics.median(seconds) for seconds in ([a for a, _ in runs], [b for _, b in runs], [a + b for a, b in runs])
    )
    print(f"import {1e3 * own:.0f} ms, all it offers {1e3 * offered:.0f} ms, together {1e3 * both:.0f} ms")


if __name__ == "__main__":
    main()
