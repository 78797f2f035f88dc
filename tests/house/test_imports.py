"""What is imported by whom: nothing heavy by the package itself, and between its parts in one direction only."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import stablesketch
from stablesketch import _native

SOURCE = Path(stablesketch.__file__).parent
HEAVY = ["scipy", "pandas", "polars", "pyarrow", "duckdb", "matplotlib", "mpmath", "dp_accounting"]
HEAVY += ["pyspark", "apache_beam"]

WHOLE = "stablesketch"  # the package itself, whose public names come from all its parts

# A part may import those of a lower number. All may import what has no number (FOR_ALL).
LEVELS = {
    "law": 0,
    "page": 0,
    "sketch": 1,
    "privacy": 2,
    "statistic": 3,
    "plan": 4,
    "mechanism": 5,
    "ledger": 5,
    "collector": 6,
    "reading": 6,
    "audit": 7,
    "bounding": 7,
    "release": 8,
    "engines": 9,
    "monitor": 11,
    WHOLE: 10,
    "pictures": 10,
    "paper": 11,
    "report": 11,
    "planner_page": 12,
    "frames": 10,
    "pandas": 12,
    "polars": 12,
    "spark": 12,
    "beam": 12,
    "offered": 12,
    "cli": 13,
    "__main__": 14,
}
# The few that look up, each with its reason. They may do so within a function, or for the eyes of the type checker.
LOOKS_UP = {
    ("release", "pictures"): "a result draws itself",
    ("release", "report"): "a result explains itself",
    ("plan", "pictures"): "a plan draws itself",
    ("plan", "collector"): "plan.open() makes the collector of the plan",
    ("plan", "mechanism"): "the registry finds those of the package, and the interface names the state that one opens",
}
FOR_ALL = {"errors", "files", "format", "numbers", "secret", "text", "_native"}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> tuple[str, ...]:
    """("sketch", "wire") for sketch/wire.py; a package is named like its folder."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@functools.cache
def parts_of(source: Path) -> set[str]:
    """Found once for each folder of sources, not once for each file in it."""
    assert source == SOURCE
    return {name_of(other)[0] for other in modules() if name_of(other)} | FOR_ALL


def imported(path: Path) -> Iterator[tuple[int, str, bool]]:
    """(line, part, indented) for every import of a part of this package in the file, wherever it stands."""
    parts = parts_of(SOURCE)
    folder = name_of(path) if path.name == "__init__.py" else name_of(path)[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            if node.level:
                module = ["stablesketch", *folder[: len(folder) - node.level + 1], *module]
            # `from . import x` imports the part x, `from .law import x` the part law.
            targets = [[*module, alias.name] for alias in node.names]
        else:
            continue
        for target in targets:
            if target[0] == "stablesketch":
                part = target[1] if len(target) > 1 and target[1] in parts else WHOLE
                yield node.lineno, part, node.col_offset > 0


def test_imports_point_one_way() -> None:
    wrong = []
    for path in modules():
        name = name_of(path)
        if not name:
            continue  # the package itself shows all of it
        for line, part, indented in imported(path):
            if part in FOR_ALL or part == name[0] or (indented and (name[0], part) in LOOKS_UP):
                continue
            if name[0] in FOR_ALL or LEVELS[part] >= LEVELS[name[0]]:
                wrong.append(f"{path.relative_to(SOURCE)}:{line} imports {part}")
    assert not wrong


def test_duckdb_is_behind_one_name() -> None:
    """One file calls it and knows its errors; all others ask `DuckDB`, and never for its connection."""
    named = re.compile(r"""need\(["']duckdb|^\s*(import|from) duckdb""", re.MULTILINE)
    texts = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in modules()}
    assert {name for name, text in texts.items() if named.search(text)} == {"reading/duckdb.py"}
    asks = re.compile(r"\bduckdb\.(_|connection\b|cursor\b|execute\b|sql\b)")
    assert {name for name, text in texts.items() if asks.search(text)} == set()
    assert named.search('    except need("duckdb").Error:')
    assert asks.search("self._cursor = duckdb.connection.cursor()")


def test_every_exception_is_still_one() -> None:
    found = {(name_of(path)[0], part) for path in modules() if name_of(path) for _, part, _ in imported(path)}
    assert found >= LOOKS_UP.keys()


def test_every_part_has_a_level() -> None:
    """A new part must be given its place in the one order before anything can come to depend on it."""
    parts = {name_of(path)[0] for path in modules() if name_of(path)}
    assert parts <= (LEVELS.keys() - {WHOLE}) | FOR_ALL


def test_the_map_for_newcomers_has_this_order() -> None:
    page = (SOURCE.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = page.split("src/stablesketch/\n")[1].split("\n  pandas.py")[0]
    names = [line.split()[0].rstrip("/").removesuffix(".py") for line in drawn.splitlines()]
    assert sorted(names, key=lambda name: LEVELS[name]) == names
    assert {name for name in LEVELS if (SOURCE / name).is_dir()} <= set(names)


def test_the_check_sees_every_form_of_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    folder = tmp_path / "sketch" / "inner"
    folder.mkdir(parents=True)
    text = (
        "import stablesketch as ss\n"
        "from stablesketch import Sketch\n"
        "import stablesketch.law.stable\n"
        "from stablesketch import law\n"
        "from stablesketch.privacy import x\n"
        "from ...law import StableLaw\n"
        "from ... import errors\n"
        "from .. import wire\n"
        "from . import other\n"
        "import numpy\n"
        "def f():\n"
        "    from ...plan import y\n"
    )
    for name in ("module.py", "__init__.py"):
        (folder / name).write_text(text)
    for name in ("law", "privacy", "plan"):
        (tmp_path / f"{name}.py").touch()
    found = [WHOLE, WHOLE, "law", "law", "privacy", "law", "errors", "sketch", "sketch", "plan"]
    assert [part for _, part, _ in sorted(imported(folder / "module.py"))] == found
    assert [part for _, part, _ in sorted(imported(folder / "__init__.py"))] == found
    assert [part for _, part, indented in imported(folder / "module.py") if indented] == ["plan"]


def printed(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_package_loads_none_of_its_parts() -> None:
    code = (
        "import sys, stablesketch\n"
        "print('numpy' in sys.modules, sorted(name for name in sys.modules if name.startswith('stablesketch')))"
    )
    loaded = ["stablesketch", "stablesketch.frames", "stablesketch.frames.on_frame"]
    assert printed(code) == f"False {loaded}"


def test_using_all_that_it_offers_loads_nothing_heavy() -> None:
    code = "import sys, stablesketch\nfor name in stablesketch.__all__: getattr(stablesketch, name)\n"
    assert printed(f"{code}print([name for name in {HEAVY} if name in sys.modules])") == "[]"


def test_what_type_checkers_see_is_what_python_loads() -> None:
    """A name that is imported as itself is offered to users too (PEP 484)."""
    body = ast.parse((SOURCE / "offered.py").read_text(encoding="utf-8")).body[1:]
    seen = [(node.module or "", each) for node in body if isinstance(node, ast.ImportFrom) for each in node.names]
    assert len(seen) == len(body) == len(stablesketch.__all__)
    assert all(each.asname == each.name for _, each in seen)
    for home, each in seen:
        module = importlib.import_module(f"stablesketch.{home or each.name}")
        assert getattr(stablesketch, each.name) is (getattr(module, each.name) if home else module)


FUNCTIONS = [name for name in stablesketch.__all__ if (SOURCE / name).is_dir() and name != "paper"]


def test_some_functions_have_the_name_of_a_folder() -> None:
    assert FUNCTIONS == ["audit", "plan", "release"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_folder_does_not_take_the_place_of_the_function_of_its_name(name: str) -> None:
    """Whichever comes first, also `from stablesketch import`."""
    shown = f"print(callable(stablesketch.{name}))"
    assert printed(f"import stablesketch.{name}; {shown}") == "True"
    assert printed(f"import stablesketch; stablesketch.{name}; import stablesketch.{name}; {shown}") == "True"
    assert printed(f"import stablesketch.{name}; from stablesketch import {name}; print(callable({name}))") == "True"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'momnet'"):
        stablesketch.momnet  # type: ignore[attr-defined]  # noqa: B018


def test_only_public_names_are_listed() -> None:
    names = [name for name in dir(stablesketch) if not name.startswith("__")]
    assert names == sorted(stablesketch.__all__)


def test_any_part_may_be_imported_first() -> None:
    """No circle among them shows only where another part comes first."""
    names = [name for name in sorted(parts_of(SOURCE)) if name not in ("beam", "spark", "_native", "__main__")]
    code = (
        "import sys, importlib\n"
        f"for part in {names}:\n"
        "    for name in [name for name in sys.modules if name.startswith('stablesketch') and '_native' not in name]:\n"
        "        del sys.modules[name]\n"
        "    importlib.import_module('stablesketch.' + part)\n"
        "print('all')"
    )
    assert printed(code) == "all"


def test_counting_and_estimating_import_nothing_heavy() -> None:
    code = (
        "import sys, numpy as np, stablesketch as ss\n"
        "other = ss.Sketch(0.25, 20); other.update(['a']); other.estimate()\n"
        "sketch = ss.Sketch(0.25, 20, law='symmetric')\n"
        "sketch.update(['a', 'b']); sketch.update(np.arange(5), 3); sketch.update([b'c']); sketch.delete([b'c'])\n"
        "for method in ('pitman', 'geometric_mean', 'harmonic_mean', 'median'): sketch.estimate(method=method)\n"
        "ss.Sketch.from_bytes(sketch.to_bytes())\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert printed(code) == "[]"


@pytest.mark.parametrize("name", stablesketch.__all__)
def test_every_public_name_says_what_it_is(name: str) -> None:
    thing = getattr(stablesketch, name)
    assert inspect.getdoc(thing)
    if not inspect.isclass(thing) or issubclass(thing, Exception):
        return
    for attribute, value in vars(thing).items():
        if not attribute.startswith("_") and (
            callable(value) or isinstance(value, property | classmethod | staticmethod)
        ):
            assert inspect.getdoc(value), f"{name}.{attribute} has no docstring"


def test_public_names_are_sorted_and_said_once() -> None:
    assert sorted(set(stablesketch.__all__)) == sorted(stablesketch.__all__)


def test_every_module_says_what_it_is_for() -> None:
    for path in modules():
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{path} has no docstring"


def test_the_stub_of_the_compiled_core_names_all_of_it() -> None:
    """mypy sees the stub, Python the module: what the two name must be the same."""

    def named(body: list[ast.stmt]) -> dict[str, ast.stmt]:
        found: dict[str, ast.stmt] = {}
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[node.name] = node
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = node
        return {name: node for name, node in found.items() if not name.startswith("_")}

    stub = named(ast.parse((SOURCE / "_native.pyi").read_text(encoding="utf-8")).body)
    assert stub.keys() == {name for name in dir(_native) if not name.startswith("_")}
    for name, node in stub.items():
        if isinstance(node, ast.ClassDef) and not issubclass(getattr(_native, name), Exception):
            public = {attribute for attribute in vars(getattr(_native, name)) if not attribute.startswith("_")}
            assert named(node.body).keys() == public, name


def test_the_package_itself_can_be_sent_to_a_worker() -> None:
    assert pickle.loads(pickle.dumps(stablesketch)) is stablesketch
