"""`stablesketch inspect`: describes a stored sketch or a plan, without the secret, keys or values.

Size and shards are not private: an exact table has bytes for every key, and a shard may be named after its group.
"""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from ..collector.wire import decode
from ..plan import Plan
from . import options
from .screen import fact_table, print_text
from .stored import is_blob, read_blob


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A sketch, or a plan.")],
    json: options.Json = False,
) -> None:
    if not is_blob(str(file)):
        chosen = options.read_plan(file)
        print_text(chosen.to_json()) if json else print_text(str(chosen))
        return
    content = read_blob(file)
    with options.of_file(file):
        text, shards, *_ = decode(content)
        chosen = Plan.from_json(text)
    if json:
        facts = {"bytes": len(content), "shards": shards, "plan": json_module.loads(chosen.to_json())}
        print_text(json_module.dumps(facts, sort_keys=True))
        return
    shown = ", ".join(shards[:10]) + (f" and {len(shards) - 10:,} more" if len(shards) > 10 else "")
    fact_table(f"Sketch {file}", [("bytes", f"{len(content):,}"), ("shards", shown)])
    print_text("")
    print_text(str(chosen))
