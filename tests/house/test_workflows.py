"""The workflows of GitHub, as far as they can be checked without it; `make lint` has zizmor look at them too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="an sdist has no .github folder")
each = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def jobs(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"])


@each
def test_actions_are_pinned_to_a_commit_and_say_which_version_it_is(path: Path) -> None:
    used = re.findall(r"uses: (?!\./)(.*)", path.read_text(encoding="utf-8"))
    assert [line for line in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


def test_an_action_has_the_same_commit_everywhere() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    pinned = set(re.findall(r"uses: ([\w-]+/[\w-]+)@(\S+)", text))
    assert len(pinned) == len({action for action, _ in pinned})


@each
def test_a_job_may_do_what_it_says_and_ends(path: Path) -> None:
    """Nothing is permitted at the top; only what publishes or deploys may ask for an identity."""
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {}
    for name, job in jobs(path).items():
        assert "permissions" in job, name
        assert "uses" in job or job["timeout-minutes"] <= 300, name
        if job["permissions"] != {"contents": "read"}:
            assert name in ("publish", "deploy")
            assert "environment" in job


def test_what_they_run_is_there() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    run = re.findall(r"run: make ([a-z-]+)", text)
    assert {"demo", "test", "test-slow", "docs"} <= set(run) <= targets
    for script in re.findall(r"tests/\S+\.py", text):
        assert (ROOT / script).is_file()
