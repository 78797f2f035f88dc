"""No two things with one name: a reader who looks for a type or a function finds one."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import stablesketch

SOURCE = Path(stablesketch.__file__).parent

# A transform of Beam is named after what it gives, as Beam's own are, and users write beam.Release and ss.Release.
ALLOWED = {
    "Release": {"statistic/published.py", "engines/beam/transform.py"},
    "Sketch": {"sketch/sketch.py", "engines/beam/sketch.py"},
}
VARIABLES = {"TypeVar", "ParamSpec"}

# Functions that share a name, because they are always called by their module, or do the same in another interface.
SHARED = {
    **dict.fromkeys(("audit", "exact", "merge", "plan", "release", "sketch"), "a command, and what Python has for it"),
    **dict.fromkeys(("decode", "encode", "read", "write"), "of a format, called by its module"),
    **dict.fromkeys(("deviation", "estimate", "log_estimates", "size_for"), "of an estimator, called by its module"),
    **dict.fromkeys(("main", "run", "new", "show"), "what a command, or a figure of the paper, runs"),
    "sensitivity": "what holds, and what the paper says",
}


def types(tree: ast.Module) -> Iterator[str]:
    """The classes of a module, and what it calls other types. A variable of types is of its module alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign) and not (isinstance(node.value, ast.Call) and called(node.value) in VARIABLES):
            yield from (to.id for to in node.targets if isinstance(to, ast.Name) and is_type(to.id))


def called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def is_type(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def test_no_two_types_have_one_name() -> None:
    """Options of the command line are named after what they set, and always with their module: options.Mechanism."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] == "cli" and path.name == "options.py":
            continue
        for name in types(ast.parse(path.read_text(encoding="utf-8"))):
            found[name].add(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in found.items() if len(places) > 1} == ALLOWED


def test_every_form_of_a_type_is_seen() -> None:
    text = "class Aa: ...\nBb = list[int]\nCc = Literal['x']\nTt = TypeVar('Tt')\nDd = Ee = dict\nMOST = 3\nf = g()"
    assert sorted(types(ast.parse(text))) == ["Aa", "Bb", "Cc", "Dd", "Ee"]


def test_every_registry_has_a_name_of_its_own() -> None:
    places = [path for path in SOURCE.rglob("*.py") if "\ndef register(" in path.read_text(encoding="utf-8")]
    assert places == [SOURCE / "statistic" / "registry.py"]


def test_no_two_public_functions_have_one_name() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in found.items() if len(set(places)) > 1 and name not in SHARED} == {}
    assert SHARED.keys() == {name for name, places in found.items() if len(set(places)) > 1}
