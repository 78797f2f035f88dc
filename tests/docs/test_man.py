"""The manual page is what the help says."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "docs" / "site"


def test_the_manual_page_is_up_to_date() -> None:
    """If it is not: make man."""
    made = runpy.run_path(str(SITE / "man.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["man_page"]()


@pytest.mark.skipif(shutil.which("groff") is None, reason="NO GROFF. Install it: apt-get install groff")
def test_the_manual_page_is_roff() -> None:
    page = SITE.parent / "stablesketch.1"
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-K", "utf8", page], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "--pairs-per-person" in done.stdout
