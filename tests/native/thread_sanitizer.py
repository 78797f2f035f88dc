"""The races of tests/shared/races.py under the thread sanitizer: `make race RACE_PYTHON=/path/to/python3.14t`.

It takes a free-threaded Python that was itself built with the sanitizer: otherwise its own locks would look like races.
No distribution has one, so this is no part of the tests; CONTRIBUTING.md says how to make it. The package is built in a
temporary folder: two minutes, and three to run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def python() -> str:
    return os.environ["RACE_PYTHON"]


@pytest.fixture(scope="module")
def site(python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package, built with the sanitizer, by the compiler that built this Python."""
    folder = tmp_path_factory.mktemp("raced")
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_config_var('CXX').split()[0])"]
    compiler = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    command = [python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    command += ["--target", str(folder / "site"), "--config-settings", f"build-dir={folder / 'build'}"]
    command += ["--config-settings", "cmake.define.STABLESKETCH_SANITIZE_THREADS=ON", str(ROOT)]
    environment = {**os.environ, "CXX": compiler, "TSAN_OPTIONS": "report_bugs=0"}  # pip is not what is watched
    built = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1800)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    yield folder / "site"
    shutil.rmtree(folder)


def raced(python: str, site: Path, *arguments: str, tier: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "STABLESKETCH_TIER": tier, "TSAN_OPTIONS": "exitcode=66"}
    command = [python, "tests/native/race.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=3000)


def test_the_build_is_watched(python: str, site: Path) -> None:
    caught = raced(python, site, "--control")
    assert "interpreter lock: off" in caught.stdout
    assert caught.returncode == 66, caught.stderr[-3000:]
    assert "ThreadSanitizer: data race" in caught.stderr


@pytest.mark.parametrize("tier", ["", "plain"], ids=["best tier", "plain tier"])
def test_nothing_is_found(python: str, site: Path, tier: str) -> None:
    """The plain tier as well: the sanitizer does not see loads and stores of more than 16 bytes."""
    done = raced(python, site, "--rounds", "2", "--threads", "6", tier=tier)
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    assert "ThreadSanitizer" not in done.stderr
