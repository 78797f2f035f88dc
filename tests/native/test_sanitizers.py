"""The compiled core under the address and undefined-behaviour sanitizers: the tests again, watched.

A build of its own in a temporary folder; the installed one is left alone. Fresh on two cores: two minutes to build,
two to run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WATCHED = ["tests/sketch", "tests/engines/local/test_fold.py"]
# Statistics and mpmath say nothing about memory, and take their time.
LEFT_OUT = [
    f"tests/sketch/{name}" for name in ("estimators", "test_register_law.py", "test_statistics.py", "test_table.py")
]

# Runs pytest with the package from `site` only: an editable install would otherwise be found first.
RUN = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])
import stablesketch._native
assert stablesketch._native.__file__.startswith(sys.argv[1]), stablesketch._native.__file__
import pytest
sys.exit(pytest.main(sys.argv[2:]))
"""


def runtime(name: str) -> Path:
    """A library of the compiler that must be loaded before Python is."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("SANITIZERS NOT RUN: they need g++ (Debian and Ubuntu: apt-get install g++)")
    found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
    if not Path(found.strip()).is_absolute():
        pytest.skip(
            f"SANITIZERS NOT RUN: g++ has no {name} (Debian and Ubuntu: apt-get install libgcc-dev; Fedora: libasan)"
        )
    return Path(found.strip()).resolve()


@pytest.fixture(scope="module")
def libraries() -> str:
    # libstdc++ too, for the sanitizer must find __cxa_throw before the extension brings it along.
    return f"{runtime('libasan.so')}:{runtime('libstdc++.so')}"


@pytest.fixture(scope="module")
def site(libraries: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package, built with the sanitizers."""
    folder = tmp_path_factory.mktemp("sanitized")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    command += ["--target", str(folder / "site"), "--config-settings", f"build-dir={folder / 'build'}"]
    command += ["--config-settings", "cmake.define.STABLESKETCH_SANITIZE=ON", str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CXX": "g++"}, timeout=600)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    yield folder / "site"
    shutil.rmtree(folder)


@pytest.mark.slow
def test_the_build_is_watched(site: Path, libraries: str) -> None:
    """Without its runtime a sanitized library refuses to load: so this one is sanitized."""
    command = [sys.executable, "-c", RUN, str(site), "--version"]
    alone = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert alone.returncode != 0
    assert "ASan runtime does not come first" in alone.stderr


@pytest.mark.slow
def test_nothing_is_found(site: Path, libraries: str) -> None:
    environment = {
        **os.environ,
        "LD_PRELOAD": libraries,
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself keeps what it has until the end
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    command = [sys.executable, "-c", RUN, str(site), "-q", "-p", "no:cacheprovider", *WATCHED]
    command += [f"--ignore=tests/sketch/{name}" for name in LEFT_OUT]
    watched = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=600)
    report = watched.stdout[-5000:] + watched.stderr[-5000:]
    assert watched.returncode == 0, report
    assert " passed" in watched.stdout, report
