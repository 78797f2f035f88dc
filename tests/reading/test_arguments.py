"""One list of the arguments of reading, with one set of defaults, for all that reads: releases are in
tests/release/test_question.py, Beam in tests/engines/beam/test_beam_question.py.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import stablesketch as ss
from stablesketch.cli import exact, monitor, pilot, sketch
from stablesketch.cli.option_groups import with_groups
from stablesketch.engines.spark.sketch import sketch as on_spark
from stablesketch.engines.spark.sketch import sketch_by
from stablesketch.monitor.watch import Watch
from stablesketch.reading.arguments import OfFiles, OfGroups, OfPairs, OfRows
from stablesketch.release.arguments import DEFAULTS, What, WhatOfColumns, WhatOfFiles

SOURCE = Path(ss.__file__).parent
FILES, GROUPS, PAIRS, ROWS = (set(inspect.get_annotations(kind)) for kind in (OfFiles, OfGroups, OfPairs, OfRows))
OF_EXACT = {"person", "pairs_per_person", "groups_per_person"}
OF_COLLECTORS = {"plan", "secret", "shard", "clip"}
DOORS: list[tuple[Callable[..., Any], set[str]]] = [
    (ss.exact, {"data", "statistic", *FILES, *OF_EXACT}),
    (ss.collect, {"data", "separate", *FILES, *OF_COLLECTORS}),
    (on_spark, {"df", *PAIRS, *OF_COLLECTORS}),
    (sketch_by, {"df", "separate", "open_groups", *GROUPS, *OF_COLLECTORS}),
]
COMMANDS: list[tuple[Callable[..., Any], set[str]]] = [
    (exact.exact, FILES),
    (sketch.sketch, FILES - {"by"}),  # one shard; groups are for ss.collect
    (pilot.private, FILES - GROUPS - {"wide"} | ROWS),  # counts the rows of people
]


def test_a_release_takes_the_whole_list() -> None:
    released = [set(inspect.get_annotations(kind)) for kind in (What, WhatOfColumns, WhatOfFiles)]
    assert all(own < whole for own, whole in zip((ROWS, GROUPS, FILES), released, strict=True))


@pytest.mark.parametrize(("door", "names"), DOORS, ids=lambda it: getattr(it, "__name__", ""))
def test_help_shows_every_argument_with_its_default(door: Callable[..., Any], names: set[str]) -> None:
    found = inspect.signature(door).parameters
    assert found.keys() == names
    assert {found[name].kind for name in GROUPS & names} == {inspect.Parameter.KEYWORD_ONLY}
    defaults = {name: one.default for name, one in found.items() if one.default is not one.empty and name in DEFAULTS}
    assert defaults == {name: DEFAULTS[name] for name in defaults}
    assert names & (FILES | {"clip"}) - {"key"} - defaults.keys() == ({"by"} if door is sketch_by else set())


@pytest.mark.parametrize(("command", "names"), COMMANDS, ids=lambda it: getattr(it, "__name__", ""))
def test_the_command_line_has_the_same_defaults(command: Callable[..., Any], names: set[str]) -> None:
    found = inspect.signature(with_groups(command)).parameters
    assert found.keys() & FILES == names
    defaults = {name: found[name].default for name in found.keys() & DEFAULTS.keys() - {"person"}}  # pilot needs it
    assert defaults == {name: DEFAULTS[name] for name in defaults}


def test_the_monitor_skips_invalid_lines_at_both_doors() -> None:
    assert inspect.signature(with_groups(monitor.monitor)).parameters["on_bad"].default == Watch.on_bad == "skip"
    assert inspect.signature(Watch.of).parameters["on_bad"].default == Watch.on_bad


WRITTEN = {"on_bad", "clip", "header", "delimiter", "spread", "trials"}  # and wide, which a result may have been


def defaults_written(path: Path) -> Iterator[tuple[str, str]]:
    """The defaults that a file writes down, other than None and names: those of fields and those of arguments."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            pairs: list[tuple[str, ast.expr | None]] = [(node.target.id, node.value)]
        elif isinstance(node, ast.arguments):
            last = [*node.posonlyargs, *node.args]
            own = [*zip(last[len(last) - len(node.defaults) :], node.defaults, strict=True)]
            pairs = [(one.arg, value) for one, value in [*own, *zip(node.kwonlyargs, node.kw_defaults, strict=True)]]
        else:
            continue
        for name, value in pairs:
            if name in WRITTEN and isinstance(value, ast.Constant) and value.value is not None:
                yield str(path.relative_to(SOURCE)), name


def test_every_default_is_written_once() -> None:
    assert sorted(one for path in SOURCE.rglob("*.py") for one in defaults_written(path)) == [
        ("bounding/pilot.py", "spread"),
        ("engines/spark/text_files.py", "delimiter"),  # what was found in the file
        ("engines/spark/text_files.py", "header"),
        ("monitor/input/fields.py", "delimiter"),  # of lines, which have no header to find it in
        ("monitor/watch.py", "on_bad"),  # a stream does not stop because of a line
        ("reading/arguments.py", "on_bad"),
        ("reading/found.py", "header"),
        ("release/question.py", "clip"),
    ]


FRAME = pd.DataFrame({"app": ["a", "b", "a"], "site": ["x", "y", "y"]})


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"persn": "app"}, r"persn cannot be passed to exact\. Did you mean person\?"),
        ({"groupby": "site"}, r"groupby cannot be passed to exact\. Did you mean by\?"),
        ({"clip": True}, r"clip cannot be passed to exact\. Pass some of: by, data, delimiter, format"),
    ],
)
def test_an_argument_that_does_not_exist_is_refused(typed: dict[str, Any], said: str) -> None:
    with pytest.raises(ss.ArgumentTypeError, match=said):
        ss.exact(FRAME, key="app", **typed)


def test_so_it_is_where_collectors_are_stored() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9), size=50)
    with pytest.raises(TypeError, match=r"klip cannot be passed to collect\. Did you mean clip\?"):
        ss.collect(FRAME, plan, key="app", secret=ss.Secret.generate(), klip=True)
    with pytest.raises(TypeError, match=r"user cannot be passed to collect\. Pass some of: by, clip, data"):
        ss.collect(FRAME, plan, key="app", secret=ss.Secret.generate(), user="site")
