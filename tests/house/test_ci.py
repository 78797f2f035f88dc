"""`.ci/run`: the fast tests, then the slow ones, and the first failure ends it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="an sdist has no .ci folder")


def test_it_can_be_run() -> None:
    assert os.access(SCRIPT, os.X_OK)
    subprocess.run(["bash", "-n", SCRIPT], check=True)


def test_fast_tests_then_slow_ones_and_a_failure_is_one() -> None:
    """`set -e` ends the script at a line that fails, unless an operator stands behind it; these two have none."""
    commands = [line for line in SCRIPT.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    assert commands[0] == "set -euo pipefail"
    assert commands[-2:] == ["make test", "make test-slow"]


def test_only_ci_installs() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert 'may_install() { [[ "${CI:-}" == true && "$(id -u)" == 0 ]]' in text
    before, _, _ = text.partition("apt-get update")
    assert before.rstrip().endswith("if may_install; then")
    assert "apt-get install" not in before
