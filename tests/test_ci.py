"""`.ci/run` with a stand-in for make: the order of things, and that a failure is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "run"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="an sdist has no .ci folder")
TOOLS = ["bash", "dirname", "env", "id"]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A copy of the script beside a folder `bin` that has few tools, and a make that writes down what it is asked."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci" / "run")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None, name
        (tools / name).symlink_to(found)
    tool(tools / "c++", "exit 0")
    tool(tools / "make", 'echo "$1" >> asked; [ "$1" != "$FAILING" ]')
    return tmp_path


def tool(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run(machine: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [machine / ".ci" / "run"],
        env={"PATH": str(machine / "bin"), "PYTHON": sys.executable, "FAILING": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def asked(machine: Path) -> list[str]:
    file = machine / "asked"
    return file.read_text().split() if file.exists() else []


def test_fast_tests_then_slow_ones(machine: Path) -> None:
    assert os.access(SCRIPT, os.X_OK)
    result = run(machine)
    assert result.returncode == 0, result.stderr
    assert asked(machine) == ["test", "test-slow"]


@pytest.mark.parametrize(("failing", "before"), [("test", ["test"]), ("test-slow", ["test", "test-slow"])])
def test_a_failure_is_one(machine: Path, failing: str, before: list[str]) -> None:
    assert run(machine, FAILING=failing).returncode != 0
    assert asked(machine) == before


def test_a_missing_compiler_is_named_and_not_installed(machine: Path) -> None:
    (machine / "bin" / "c++").unlink()
    result = run(machine)
    assert result.returncode == 1
    assert "g++" in result.stderr
    assert asked(machine) == []


def test_only_ci_installs(machine: Path) -> None:
    """As root in CI what is missing is installed; any other time the system is left alone."""
    (machine / "bin" / "c++").unlink()
    (machine / "bin" / "id").unlink()
    tool(machine / "bin" / "id", "echo 0")
    tool(machine / "bin" / "apt-get", 'echo "$*" >> installed')
    assert run(machine).returncode == 1
    assert not (machine / "installed").exists()
    assert run(machine, CI="true").returncode == 0
    assert "g++" in (machine / "installed").read_text().split()
    assert asked(machine) == ["test", "test-slow"]
