from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paid_commands import DATA

import stablesketch as ss
from stablesketch.cli.app import run

Inject = Callable[..., dict[str, Any]]


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What every run starts with: some events, a ledger, a secret, and a sketch under it."""
    folder = tmp_path / "template"
    folder.mkdir()
    rows = [f"app{i * i % 40},{'FR' if i % 3 else 'DE'},u{i % 50},{1 + i % 5}\n" for i in range(300)]
    (folder / "e.csv").write_text("app,country,user,n\n" + "".join(rows))
    (folder / "g.txt").write_text("FR\nDE\n")
    ss.Ledger(folder / "budget.db", epsilon=9, delta=1e-3)
    monkeypatch.chdir(folder)
    plan = ["plan", *DATA[4:], "--pairs", "300", "-o", "plan.json"]
    shard = ["sketch", "e.csv", "--key", "app", "--plan", "plan.json", "--secret", "s.key", "--shard", "a"]
    for arguments in (plan, ["secret", "new", "s.key"], [*shard, "-o", "a.ssk"]):
        assert run(arguments) == 0
    return folder


@pytest.fixture
def inject(tmp_path: Path, template: Path) -> Inject:
    """Runs a command once for every step, or every n-th, with a fault there. See injector.py."""

    def inject(arguments: list[str], **faults: int) -> dict[str, Any]:
        job = {"arguments": [*arguments, "--ledger", "budget.db"], "faults": faults}
        command = [sys.executable, str(Path(__file__).with_name("injector.py")), str(tmp_path)]
        done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return inject
