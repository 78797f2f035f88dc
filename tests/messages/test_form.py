"""The form of what errors say: "size must be positive, got -1. Pass 200, for example."."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import stablesketch

SOURCE = Path(stablesketch.__file__).parent
KINDS = {"ArgumentError", "ArgumentTypeError"}


def calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def test_the_argument_is_the_subject_of_what_is_said() -> None:
    """Where it is written on the spot: a call with a name for it has the text a few lines above."""
    written = [(place, ast.unparse(call.args[2])) for place, call in calls() if len(call.args) > 2]
    assert len(written) > 300
    form = re.compile(r"""f?["'](must|cannot|needs|can be)\b|must$|f'\{must\}""")
    assert [each for each in written if not form.match(each[1])] == []
