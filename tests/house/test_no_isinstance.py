"""Nobody asks which statistic or which mechanism it has, but these themselves: what they know, they are asked for.

So a new statistic is its class and a new mechanism its file (test_toy_statistic.py), and nothing else is changed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import stablesketch
from stablesketch import statistic
from stablesketch.statistic import STATISTICS, Statistic

SOURCE = Path(stablesketch.__file__).parent
MAY_ASK = {"statistic", "mechanism"}
CLASSES = {
    name
    for name, kind in vars(statistic).items()
    if isinstance(kind, type) and issubclass(kind, Statistic) and kind is not Statistic
}
MECHANISMS = {"sketch", "exact", "bare"}
ASKING = {"isinstance", "issubclass"}

# How many lines, and the reason; the numbers may only fall.
ALLOWED = {
    "plan/asked.py": (4, "what is asked for, in the words of who asks"),
    "plan/plan.py": (1, "what was asked for"),
    "plan/planner.py": (1, "what is asked for"),
    "plan/plan_text.py": (7, "which sketches version 0.1.0 released without noise"),
    "paper/baselines.py": (1, "a study of both mechanisms"),
    "planner_page/answer.py": (1, "the paper's theorems end at order 1"),
    "report/commands.py": (1, "options as they are typed"),
    "release/question.py": (1, "what is asked for, in the words of who asks"),
}


def asks(tree: ast.AST) -> Iterator[int]:
    """The lines that ask which statistic or which mechanism something is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKING:
            if words(node.args[1]) & CLASSES:
                yield node.lineno
        elif isinstance(node, ast.MatchClass):
            if words(node.cls) & CLASSES:
                yield node.cls.lineno
        elif isinstance(node, ast.Compare) and tells(node.left, *node.comparators):
            yield node.lineno


def tells(*sides: ast.expr) -> bool:
    """Whether a statistic is compared with one that was made, or its name, order or mechanism with a constant."""
    made = any(isinstance(side, ast.Call) and words(side.func) & CLASSES for side in sides)
    order = any(isinstance(side, ast.Attribute) and side.attr == "p" and "statistic" in words(side) for side in sides)
    said = set().union(*(words(side) for side in sides if not isinstance(side, ast.Constant)))
    constants = {side.value for side in sides if isinstance(side, ast.Constant)}
    named = "statistic" in said and ("name" in said or bool(constants & STATISTICS.keys()))
    return made or order or named or ("mechanism" in said and bool(constants & MECHANISMS))


def words(node: ast.AST) -> set[str]:
    """All names, attributes and keys in an expression."""
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    found |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return found | {
        each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def found_in(path: Path) -> list[int]:
    return sorted(set(asks(ast.parse(path.read_text(encoding="utf-8")))))


def test_nobody_asks_which_it_is() -> None:
    others = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in MAY_ASK]
    found = {str(path.relative_to(SOURCE)): lines for path in others if (lines := found_in(path))}
    assert {name: lines for name, lines in found.items() if name not in ALLOWED} == {}
    assert {name: len(lines) for name, lines in found.items()} == {name: most for name, (most, _) in ALLOWED.items()}


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(plan.statistic, Moment | ss.Total)",
        "issubclass(kind, (int, Hill))",
        "plan.statistic == Moment(0.5)",
        "Shannon() not in measured",
        "plan.statistic.p < 1.0",
        "statistic.name != wanted",
        'plan.mechanism == "bare"',
        'content["statistic"]["name"] == "distinct"',
        "match s:\n    case Moment(p):\n        pass",
    ],
)
def test_every_way_to_ask_is_seen(line: str) -> None:
    assert list(asks(ast.parse(line)))


@pytest.mark.parametrize("line", ["isinstance(given, Statistic)", "plan.statistic.relative", 'path.name == "x"'])
def test_what_is_no_question_is_left_alone(line: str) -> None:
    assert not list(asks(ast.parse(line)))
