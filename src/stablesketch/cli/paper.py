"""`stablesketch paper`: every result of the paper, from scratch, beside what holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .screen import print_text

EXAMPLES = """[bold]Examples[/]

stablesketch paper --quick -o paper/

stablesketch paper --data streams/ -o paper/"""


def paper(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the results.")],
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of Parquet streams with columns key and value.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: under two minutes.")] = False,
) -> None:
    from ..paper.reproduce import reproduce

    result = reproduce(output, data, quick=quick)
    refuted = sum(claim.verdict == "refuted" for claim in result.claims)
    print_text(f"{len(result.claims)} claims, {refuted} of them refuted: {result.folder / 'report.md'}")
