"""An underscored name is its package's own: what another package needs has a public name, or stays where it is.

A package is a folder of the house with all that is below it; the modules at the top are one too. Whose attribute an
`_x` is cannot be read off `a._x` alone, so one that the package defines somewhere itself passes.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import stablesketch

SOURCE = Path(stablesketch.__file__).parent
TOP = "stablesketch"
ALLOWED = {
    "_native",  # the compiled core, a module for all
    "_replace", "_fields", "_asdict", "_make",  # public names of every NamedTuple
    "_jsparkSession", "_tagged_with_step",  # of Spark and Beam, which have no other way
}  # fmt: skip


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in ALLOWED


def package_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else TOP


def sources() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def defined(tree: ast.AST) -> Iterator[str]:
    """Names that something here defines: functions, classes, variables, arguments, attributes and slots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and of_its_own(node):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Assign) and any(getattr(to, "id", "") == "__slots__" for to in node.targets):
            yield from (each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant))


def of_its_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}


def used(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, name) of each private name that is imported, asked of an object, or asked of it by `getattr`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"getattr", "setattr", "hasattr"}:
            names = [each.value for each in node.args[1:2] if isinstance(each, ast.Constant)]
        else:
            continue
        yield from ((node.lineno, name) for name in names if is_private(name))


def trespasses(trees: Mapping[Path, ast.Module]) -> set[tuple[str, str, str]]:
    """(package, name, where) of each private name that is used in a package and not defined in it."""
    own: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        own[package_of(path)].update(defined(tree))
    return {
        (package_of(path), name, f"{path.relative_to(SOURCE)}:{line}")
        for path, tree in trees.items()
        for line, name in used(tree)
        if name not in own[package_of(path)]
    }


def test_no_package_uses_the_private_names_of_another() -> None:
    assert trespasses(sources()) == set()


def test_a_trespass_is_seen_in_each_of_its_forms() -> None:
    trees = {
        SOURCE / "plan" / "a.py": ast.parse("class A:\n    __slots__ = ('_slot',)\n    def _held(self): self._x = 1"),
        SOURCE / "plan" / "b.py": ast.parse("a._held()\na._x\na._slot\nfrom .a import A\na.__dict__\nrow._replace()"),
        SOURCE / "cli" / "c.py": ast.parse("a._held()\na._x = 2\nfrom ..plan.a import _A\ngetattr(a, '_slot')"),
        SOURCE / "d.py": ast.parse("from ._native import x\nimport stablesketch.plan._b"),
    }
    found = sorted((where, name) for _, name, where in trespasses(trees))
    assert found == [
        ("cli/c.py:1", "_held"), ("cli/c.py:2", "_x"), ("cli/c.py:3", "_A"), ("cli/c.py:4", "_slot"), ("d.py:2", "_b"),
    ]  # fmt: skip
