"""Prometheus and its checker, as Debian has them; and the queries of the dashboard."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

FILES = Path(__file__).parents[3] / "docs" / "monitoring"


def program(name: str) -> str:
    """Where it is; where there is none, the rest of the test is skipped, but never in CI, which installs it."""
    found = shutil.which(name)
    if found is None:
        reason = f"metrics NOT CHECKED by {name}: apt-get install prometheus"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return found


def promtool(*arguments: str | Path, text: bytes = b"") -> None:
    done = subprocess.run([program("promtool"), *arguments], input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def dashboard_queries(metric: str) -> list[str]:
    """As Grafana would send them, for all monitors."""
    panels = json.loads((FILES / "grafana.json").read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    return [each.replace("${metric}", metric).replace("$instance", ".+") for each in asked]
