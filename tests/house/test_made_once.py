"""What a release says is decided before it is made, in one place, and no release is changed afterwards. One function
publishes it, wherever the data are.

Its ε and δ, its relation and what it protects are its `Terms`, which are made where something is decided. A `Release`
is made of them by the state of a mechanism, or read from its JSON. All that comes later is the number of its record,
which a ledger gives it (`Release.recorded`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import stablesketch
from stablesketch import Release

SOURCE = Path(stablesketch.__file__).parent
SAID = {field.name for field in fields(Release)}

# Who makes another object of one that has such fields, and the reason.
OTHERS = {
    "statistic/published.py": "the number of the record",
    "mechanism/shared/belief.py": "a finding, before anything is released",
    "mechanism/counter.py": "a finding, before anything is released",
    "mechanism/entropy/noise.py": "a finding, before anything is released",
    "sketch/estimates.py": "an estimate, which is not private",
}
OF_FEW = {"low", "high", "points", "record", "total"}  # fields that little else has


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield str(path.relative_to(SOURCE)), node


def changes(node: ast.Call) -> bool:
    """Whether a call of `replace` may change what a release says: by a field that little else has, or by its name."""
    named = {each.arg for each in node.keywords}
    first = node.args[0]
    last = first.attr if isinstance(first, ast.Attribute) else first.id if isinstance(first, ast.Name) else ""
    return bool(named & OF_FEW) or (last in {"release", "released"} and bool(named & SAID))


def test_terms_are_made_where_something_is_decided() -> None:
    assert {place for place, _ in calls("Terms")} == {"collector/releasing.py", "release/decide.py"}


def test_a_release_is_made_in_one_place() -> None:
    assert {place for place, _ in calls("Release")} == {"mechanism/shared/state.py"}


def test_one_file_publishes_whatever_is_decided() -> None:
    """Local and Spark by `run_source`; a step of Beam's pipeline, the monitor and stored collectors call it themselves.
    A collector that is released in Python has no decision: its plan says everything.
    """
    assert {place for place, _ in calls("run_source")} == {"engines/local/release.py", "engines/spark/release.py"}
    assert {place for place, _ in calls("publish")} == {
        "cli/stored.py", "engines/beam/transform.py", "release/run.py",
    }  # fmt: skip
    assert {place for place, _ in calls("publish_side_by_side")} == {
        "monitor/state/open_windows.py", "release/publish.py",
    }  # fmt: skip
    assert {place for place, _ in calls("released")} == {"collector/releasing.py", "release/publish.py"}
    assert {place for place, _ in calls("selected")} == {"release/publish.py"}
    deciding = {"engines/beam/transform.py", "monitor/watch.py", "release/run.py"}
    asking = {"cli/dry_run.py", "planner_page/answer.py"}  # what would be decided
    assert {place for place, _ in calls("decide")} == deciding | asking


def test_no_release_is_changed_afterwards() -> None:
    assert OF_FEW < SAID
    assert {place for place, node in calls("replace") if changes(node)} == OTHERS.keys()


def test_a_change_is_seen_in_each_of_its_forms() -> None:
    for text in ("replace(own, low=0.0)", "replace(one.release, epsilon=2.0)", "replace(release, relation='replace')"):
        (node,) = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call)]
        assert changes(node)
    for text in ("replace(privacy, epsilon=1.0)", "replace(plan, inputs=())"):
        (node,) = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call)]
        assert not changes(node)
