"""The compiled core under the address and undefined-behaviour sanitizers: the tests again, watched, and the fuzzer.

A build of its own in a temporary folder; the installed one is left alone. Fresh on two cores: two minutes to build,
two to run, one to fuzz; `make fuzz SECONDS=3600` fuzzes for an hour.
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

# Runs a module or a file with the package from `site` only: an editable install would otherwise be found first.
RUN = """
import runpy, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])
import stablesketch._native
assert stablesketch._native.__file__.startswith(sys.argv[1]), stablesketch._native.__file__
sys.argv = sys.argv[2:]
(runpy.run_path if sys.argv[0].endswith(".py") else runpy.run_module)(sys.argv[0], run_name="__main__")
"""
FUZZER = "tests/attacks/fuzz_decoders.py"
# An int32 column of six rows that claims seven: what the interface cannot tell, and the sanitizer must.
ROWS = "010000000200000003000000040000000500000006000000"
BEYOND = f'{{"format":"i","length":7,"offset":0,"null_count":0,"buffers":[null,"{ROWS}"],"lied":{{}}}}'


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
    built = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CXX": "g++"}, timeout=1800)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    yield folder / "site"
    shutil.rmtree(folder)


def watched(site: Path, libraries: str, *arguments: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "LD_PRELOAD": libraries,
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # Python itself keeps what it has until the end
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",  # or small buffers would lie side by side in Python's own pages
    }
    command = [sys.executable, "-c", RUN, str(site), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=timeout)


@pytest.mark.slow
def test_the_build_is_watched(site: Path, libraries: str) -> None:
    """Without its runtime a sanitized library refuses to load; with it, a row beyond a buffer ends the process."""
    command = [sys.executable, "-c", RUN, str(site), "pytest", "--version"]
    alone = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert alone.returncode != 0
    assert "ASan runtime does not come first" in alone.stderr
    caught = watched(site, libraries, FUZZER, "--one", "arrow", BEYOND)
    assert caught.returncode != 0
    assert "heap-buffer-overflow" in caught.stderr


@pytest.mark.slow
def test_nothing_is_found(site: Path, libraries: str) -> None:
    ignored = [f"--ignore={name}" for name in LEFT_OUT]
    done = watched(site, libraries, "pytest", "-q", "-p", "no:cacheprovider", *WATCHED, *ignored)
    report = done.stdout[-5000:] + done.stderr[-5000:]
    assert done.returncode == 0, report
    assert " passed" in done.stdout, report


@pytest.mark.slow
def test_mutants_of_all_that_is_read_find_nothing(site: Path, libraries: str) -> None:
    """As many as a minute allows, of every decoder and of Arrow columns; checksums repaired."""
    seconds = float(os.environ.get("STABLESKETCH_FUZZ_SECONDS", "60"))
    seed = os.environ.get("STABLESKETCH_FUZZ_SEED", "3")
    options = ["--watched", "--inputs", "1000000000", "--seconds", str(seconds), "--seed", seed]
    done = watched(site, libraries, FUZZER, *options, timeout=2 * seconds + 1200)
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert "inputs, 0 kinds of untyped errors" in done.stdout
