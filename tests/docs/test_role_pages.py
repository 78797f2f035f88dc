"""Three newcomers with files of up to two million rows or cells follow their page to a report they can hand on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from page_runner import reader_here
from role_files import abundances, app_opens, counts, flows, sightings
from test_snippets import ROOT, blocks

pytestmark = pytest.mark.slow

MOST_COMMANDS = 5


BRINGS: dict[str, dict[str, Callable[[Path], None]]] = {
    "data-engineers": {"app_opens.csv": app_opens},
    "ecologists": {"abundances.csv": abundances, "counts.csv": counts, "sightings.csv": sightings},
    "operators": {"eve.json.gz": flows},
}
HANDS_ON = {
    "data-engineers": ["apps.html"],
    "ecologists": ["profiles.html"],
    "operators": ["entropy.html"],
}


@pytest.mark.parametrize("role", BRINGS)
def test_the_page_leads_to_a_report(role: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / "for" / f"{role}.md"
    commands = [line for block in blocks(page) if block.language == "sh" for line in block.text.splitlines()]
    assert sum(not line.startswith(" ") for line in commands) <= MOST_COMMANDS
    for name, write in BRINGS[role].items():
        write(tmp_path / name)
    reader_here(tmp_path).follow(page)
    for name in HANDS_ON[role]:
        report = (tmp_path / name).read_text(encoding="utf-8")
        assert "ε" in report
        assert "<svg" in report
