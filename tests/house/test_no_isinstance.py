"""Nobody asks which statistic or which mechanism it has, but these themselves: what they know, they are asked for.

So a new statistic is its class and a new mechanism its file (test_toy_statistic.py), and nothing else is changed. Nor
does anybody else name one, in code or in a text: a message that lists some of them would leave out the new one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import stablesketch
from stablesketch import statistic
from stablesketch.plan.mechanism import Mechanism, every_mechanism
from stablesketch.statistic import STATISTICS, Statistic

SOURCE = Path(stablesketch.__file__).parent
MAY_ASK = {"statistic", "mechanism"}
BELOW = {"law", "sketch", "privacy", "paper"}  # where p is the order of a law
CLASSES = {
    name
    for name, kind in vars(statistic).items()
    if isinstance(kind, type) and issubclass(kind, Statistic) and kind is not Statistic
}
MECHANISMS = {"sketch", "exact", "bare"}
WAYS = {kind.__name__ for way in every_mechanism() for kind in type(way).__mro__ if issubclass(kind, Mechanism)}

ORDERS_OF_LAWS = {"law", "sketch", "privacy"}  # where p is the order of a law, and no statistic is known

# How many lines, and the reason; the numbers may only fall.
ALLOWED = {
    "plan/asked.py": (3, "what is asked for, in the words of who asks"),
    "plan/mechanism.py": (1, "whether a plan is one of this mechanism"),
    "plan/plan_text.py": (5, "the names of mechanisms in plans of version 0.1.0"),
    "planner_page/answer.py": (1, "a choice on the page, in the words of who asks"),
}

# Who names a statistic, and the reason; again the numbers may only fall.
NAMES = {
    "cli/monitor.py": (2, "examples of commands, and one in the help"),
    "cli/options.py": (1, "the help of an option that some statistics need"),
    "cli/plan.py": (1, "examples of commands"),
    "cli/release.py": (1, "examples of commands"),
    "cli/demo.py": (4, "a demonstration of one statistic"),
}
SPOKEN = re.compile(
    rf"\b({'|'.join({*STATISTICS, *CLASSES} - {'total', 'Total'})}|entropy|entropies|moments|Hill numbers?|Rényi)\b"
)
OTHER_THINGS = re.compile(r"select distinct|count\(distinct|invalid moment", re.IGNORECASE)  # SQL, and that of a loss


def names(tree: ast.AST) -> Iterator[int]:
    """The lines that name a statistic: its class, or its name in a text that is not a docstring."""
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            of_options = isinstance(node, ast.Attribute) and named_last(node.value) == "options"  # options.Total
            named = named_last(node) in CLASSES and not of_options
        else:
            text = node.value if isinstance(node, ast.Constant) and id(node) not in documented else None
            named = isinstance(text, str) and bool(SPOKEN.search(text)) and not OTHER_THINGS.search(text)
        if named:
            yield node.lineno


def asks(tree: ast.AST, *, by_order: bool = True) -> Iterator[int]:
    """The lines that ask which statistic or which mechanism something is."""
    orders = set(ordered(tree)) if by_order else None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and asked_by_call(node):
            yield node.lineno
        elif isinstance(node, ast.MatchClass):
            if words(node.cls) & CLASSES:
                yield node.cls.lineno
        elif isinstance(node, ast.Match | ast.Subscript):
            chosen_by = node.subject if isinstance(node, ast.Match) else node.slice
            if is_mechanism(chosen_by) or (by_order and isinstance(node, ast.Match) and is_order(chosen_by)):
                yield node.lineno
        elif isinstance(node, ast.Dict):
            if any(words(key) & CLASSES for key in node.keys if isinstance(key, ast.Name | ast.Attribute)):
                yield node.lineno
        elif isinstance(node, ast.Compare) and tells(orders, node.left, *node.comparators):
            yield node.lineno


def asked_by_call(node: ast.Call) -> bool:
    """Whether a call asks for a class, for what only some statistics have, or how the name of one begins."""
    if isinstance(node.func, ast.Name) and node.func.id in {"isinstance", "issubclass"}:
        return bool(words(node.args[1]) & (CLASSES | WAYS))
    if isinstance(node.func, ast.Name) and node.func.id in {"hasattr", "getattr"}:
        return named_last(node.args[0]) == "statistic"
    begins = isinstance(node.func, ast.Attribute) and node.func.attr in {"startswith", "endswith"}
    return begins and "statistic" in words(node.func)


def ordered(tree: ast.AST) -> Iterator[str]:
    """Names that the order of a statistic is kept under."""
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            targets = [node.target]
        elif isinstance(node, ast.For | ast.comprehension) and any(map(is_order, yielded(node.iter))):
            yield named_last(node.target)
        for to in targets:
            given = node.value  # type: ignore[attr-defined]  # each of these has a value, or None
            pairs = zip(each(to), [] if given is None else each(given), strict=False)
            yield from (name.id for name, value in pairs if isinstance(name, ast.Name) and is_order(value))


def each(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def yielded(node: ast.expr) -> list[ast.expr]:
    """What a loop over this goes through, as far as it can be seen."""
    if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        return [node.elt]
    return node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []


def is_order(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "p"


def is_mechanism(node: ast.expr) -> bool:
    """Whether this is the name of a mechanism: that of a plan, a question or a release."""
    return isinstance(node, ast.Attribute) and node.attr == "mechanism"


def named_last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def tells(orders: set[str] | None, *sides: ast.expr) -> bool:
    """Whether a statistic is compared with one that was made, or its class, name, order or mechanism with another.

    `orders` are names of orders; None where none is that of a statistic."""
    sides = tuple(side.target if isinstance(side, ast.NamedExpr) else side for side in sides)
    made = any(isinstance(side, ast.Call) and words(side.func) & CLASSES for side in sides)
    order = orders is not None and any(is_order(side) or named_last(side) in orders for side in sides)
    said = set().union(*(words(side) for side in sides if not isinstance(side, ast.Constant)))
    constants = {each.value for side in sides for each in ast.walk(side) if isinstance(each, ast.Constant)}
    kind = bool({"type", "__class__"} & said) and bool((said | constants) & {*CLASSES, "statistic"})
    way = any(map(is_mechanism, sides)) and not all("mechanism" in words(side) for side in sides)
    texts = {each for each in constants if isinstance(each, str)}
    named = "statistic" in said and ("name" in said or bool(texts))
    return made or order or kind or named or way or ("mechanism" in said and bool(constants & MECHANISMS))


def words(node: ast.AST) -> set[str]:
    """All names, attributes and keys in an expression."""
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    found |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return found | {
        each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def found_in(path: Path) -> list[int]:
    by_order = path.relative_to(SOURCE).parts[0] not in BELOW
    return sorted(set(asks(ast.parse(path.read_text(encoding="utf-8")), by_order=by_order)))


def test_nobody_asks_which_it_is() -> None:
    others = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in MAY_ASK]
    found = {str(path.relative_to(SOURCE)): lines for path in others if (lines := found_in(path))}
    assert {name: lines for name, lines in found.items() if name not in ALLOWED} == {}
    assert {name: len(lines) for name, lines in found.items()} == {name: most for name, (most, _) in ALLOWED.items()}


def test_nobody_names_one() -> None:
    """The paper's own formulas are of named statistics, and so is the mathematics below."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] not in MAY_ASK | BELOW | {"__init__.py"}:  # which has the public names
            lines = sorted(set(names(ast.parse(path.read_text(encoding="utf-8")))))
            if lines:
                found[str(path.relative_to(SOURCE))] = len(lines)
    assert found == {name: most for name, (most, _) in NAMES.items()}


@pytest.mark.parametrize(
    "line",
    [
        "Profile.point_name",
        "ss.Hill(0.5)",
        'stat("Moment", 0.5)',
        'print("Draw a moment, or an index")',
        'f"moment takes --p, {others} --order"',
        '_FIRST = "hill"',
        'x = "must not be for exact entropy"',
    ],
)
def test_every_way_to_name_one_is_seen(line: str) -> None:
    assert list(names(ast.parse(line)))


@pytest.mark.parametrize(
    "line", ["usual().named", '"""Of a moment."""', "options.Total", '"select distinct x"', '"the total of all"']
)
def test_other_words_name_none(line: str) -> None:
    assert not list(names(ast.parse(line)))


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
        "type(plan.statistic) is Moment",
        'type(asked).__name__ == "Hill"',
        "wanted.__class__ in (ss.Hill, ss.Renyi)",
        "wanted.p > 1.0",
        "noise, p = plan.noise, plan.statistic.p\nleast = 1.0 if p < 1.0 else noise",
        "{Moment: 1, Hill: 2}[type(one)]",
        'hasattr(plan.statistic, "order")',
        'getattr(statistic, "order", 0.0)',
        'release.statistic.startswith("Hill")',
        'str(plan.statistic) == "total"',
        'release.statistic in ("total", "Shannon entropy")',
        "p: float = plan.statistic.p\nif p > 1.0:\n    pass",
        "if (p := plan.statistic.p) > 1.0:\n    pass",
        "any(p > 1.0 for p in (one.statistic.p for one in plan.inputs))",
        "match plan.statistic.p:\n    case 1.0:\n        pass",
        'match plan.mechanism:\n    case "bare":\n        pass',
        '{"bare": 1, "exact": 2}[plan.mechanism]',
        "plan.mechanism in NOISY",
        "plan.mechanism == BARE",
        "isinstance(mechanism_of(plan), Norm)",
        "type(plan.statistic) in KINDS",
    ],
)
def test_every_way_to_ask_is_seen(line: str) -> None:
    assert list(asks(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(given, Statistic)",
        "plan.statistic.relative",
        'path.name == "x"',
        "first.statistic == second.statistic",
        "pairs ** plan.statistic.p",
        "{name: 1}",
        "first.mechanism == second.mechanism",
        "isinstance(rows, Mapping)",
    ],
)
def test_what_is_no_question_is_left_alone(line: str) -> None:
    assert not list(asks(ast.parse(line)))
