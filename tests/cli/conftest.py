from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A folder with some events: 2,000 rows of 40 apps, in two countries, by 400 people."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shell = Shell(tmp_path, capsys)
    rows = [f"app{i * i % 40},{'FR' if i % 3 else 'DE'},u{i % 400},{1 + i % 5}" for i in range(2000)]
    shell.write("events.csv", "app,country,user,n\n" + "\n".join(rows) + "\n")
    return shell
