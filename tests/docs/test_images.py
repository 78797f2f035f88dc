"""Pictures of the documentation: a program makes each, and none shows words or numbers that are no longer true.

Words in an SVG are outlines; matplotlib writes each as a comment beside them. Other versions of matplotlib may draw
other outlines, so the words are compared, not the bytes. tests/browser compares the pictures of the live page with it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
sys.path.append(str(ROOT / "benchmarks"))  # as readme_picture of test_readme_command.py

from doc_pictures import PICTURES, followed  # noqa: E402
from readme_picture import draw as draw_readme  # noqa: E402
from speed_plot import draw as draw_speed  # noqa: E402
from speed_table import read as read_speed  # noqa: E402

# The picture → the program that makes it.
MADE_BY = {
    **{picture: "doc_pictures.py" for _, picture in PICTURES},
    "error.svg": "error_picture.py",
    "layouts.svg": "layout_picture.py",
    "live-page.png": "live_page_picture.py",
    "live-page-dark.png": "live_page_picture.py",
    "packages.svg": "readme_picture.py",
    "packages-phone.svg": "readme_picture.py",
    "paper-real.svg": "make paper",
    "paper-theorem-4.svg": "make paper",
    "paper-uniform.svg": "make paper",
    "performance.svg": "speed_plot.py",
}


def words(svg: str) -> list[str]:
    return re.findall(r"<!-- (.*?) -->", svg)


def without_numbers(svg: str) -> set[str]:
    """The words of a picture of random numbers: how many ticks an axis has may differ, too."""
    return {re.sub(r"\d[\d,.]*", "#", each) for each in words(svg)}


def stored(name: str) -> str:
    return (IMAGES / name).read_text(encoding="utf-8")


def drawn_by(program: str, output: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / program), "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_picture_is_made_by_a_program() -> None:
    assert {path.name for path in IMAGES.iterdir()} == set(MADE_BY)
    for program in set(MADE_BY.values()) - {"make paper"}:
        assert (ROOT / "benchmarks" / program).exists()


def test_the_picture_of_speed_is_that_of_its_table(tmp_path: Path) -> None:
    draw_speed(read_speed(ROOT / "docs" / "performance.csv"), tmp_path / "performance.svg")
    assert words((tmp_path / "performance.svg").read_text(encoding="utf-8")) == words(stored("performance.svg"))


def test_the_picture_of_layouts_is_that_of_its_table(tmp_path: Path) -> None:
    drawn_by("layout_picture.py", tmp_path / "layouts.svg")
    assert words((tmp_path / "layouts.svg").read_text(encoding="utf-8")) == words(stored("layouts.svg"))


@pytest.mark.slow
def test_the_picture_of_errors_is_what_plans_say_and_releases_do(tmp_path: Path) -> None:
    """The secrets are fixed, so a correct program draws the same every time."""
    drawn_by("error_picture.py", tmp_path / "error.svg")
    assert words((tmp_path / "error.svg").read_text(encoding="utf-8")) == words(stored("error.svg"))


@pytest.mark.slow
@pytest.mark.parametrize(("page", "picture"), PICTURES)
def test_following_a_page_draws_its_picture(page: str, picture: str) -> None:
    """Numbers are left out: releases are random. The title names the first group, which is far ahead in each page."""
    drawn, _ = followed(page, picture)
    assert without_numbers(drawn.decode()) == without_numbers(stored(picture))


@pytest.mark.parametrize(("page", "picture"), [each for each in PICTURES if each[1] != "plan.svg"])
def test_a_picture_shows_the_numbers_of_the_output_above_it(page: str, picture: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    above = text.partition(f"images/{picture}")[0]
    output = re.findall(r"^```text\n(.*?)^```", above, re.DOTALL | re.MULTILINE)[-1]
    values = re.findall(r"^(?:[A-Z]{2,3}|order [\d.]+) +([\d.,]+?),? ", output, re.MULTILINE)
    assert len(values) >= 3
    shown = [float(each.replace(",", "")) for each in re.findall(r"\d[\d,.]*\d|\d", " ".join(words(stored(picture))))]
    for value in (float(each.replace(",", "")) for each in values):
        assert any(abs(each / value - 1.0) < 0.005 for each in shown if each), value


def test_the_first_picture_shows_the_table_of_the_readme() -> None:
    table = re.findall(
        r"^(\w+) +([\d.]+)  +([\d.]+) +([\d.]+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M
    )
    assert len(table) == 6
    for name in ("packages.svg", "packages-phone.svg"):
        shown = words(stored(name))
        for package, value, _, _ in table:
            assert package in shown
            assert f"{float(value):,.0f}" in shown


@pytest.mark.parametrize("narrow", [False, True])
def test_the_first_picture_has_the_words_of_its_program(narrow: bool) -> None:
    packages = [each for each in words(stored("packages.svg")) if each.isalpha()]
    released = {name: SimpleNamespace(value=700.0, low=650.0, high=709.0) for name in packages}
    out = BytesIO()
    draw_readme(released, dict.fromkeys(packages, 700.0), narrow=narrow).savefig(out, format="svg")
    name = "packages-phone.svg" if narrow else "packages.svg"
    assert without_numbers(out.getvalue().decode()) == without_numbers(stored(name))


def test_pictures_of_the_paper_have_the_words_of_their_programs() -> None:
    """Drawing them anew takes a quarter of an hour, and data: `make paper`."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/stablesketch/paper").glob("*.py"))
    for name in (each for each, program in MADE_BY.items() if program == "make paper"):
        sentences = [each for each in words(stored(name)) if re.fullmatch(r"[A-Za-z',() ]{12,}", each)]
        assert sentences
        assert [each for each in sentences if each not in sources] == []
