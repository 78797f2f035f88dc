"""No two things with one name: a reader who looks for a class finds one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import stablesketch

SOURCE = Path(stablesketch.__file__).parent

# A transform of Beam is named after what it gives, as Beam's own are, and users write beam.Release and ss.Release.
ALLOWED = {
    "Release": {"published.py", "engines/beam/transform.py"},
    "Sketch": {"sketch/sketch.py", "engines/beam/sketch.py"},
}


def test_no_two_classes_have_one_name() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in found.items() if len(places) > 1} == ALLOWED


def test_every_registry_has_a_name_of_its_own() -> None:
    places = [path for path in SOURCE.rglob("*.py") if "\ndef register(" in path.read_text(encoding="utf-8")]
    assert places == [SOURCE / "statistic" / "registry.py"]
