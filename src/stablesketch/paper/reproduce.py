"""`reproduce`: every result of the paper, from scratch, and what really holds."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from . import baselines, density_ratio, real_data, synthetic, theorem_4, theorem_5, theorems_1_to_3
from .output import Output, in_formula_style


def reproduce(output: Path, data: Path | None = None, *, quick: bool = False, progress: bool = True) -> Output:
    """Writes figures (SVG, PNG), their numbers (CSV), claims.csv and report.md into the folder `output`.

    All seeds are fixed and public. Every CSV is the same from run to run, except baselines-measured.csv, which has
    times. `data` is a folder of Parquet streams for the experiment on real data. `quick` uses fewer runs, lengths and
    orders: it takes under two minutes and gives similar figures.
    """
    result = Output(output, quick=quick, progress=progress)
    if data is not None:
        real_data.check_folder(data)
    for what, run in (
        ("theorems 1 to 3 by force", theorems_1_to_3.run),
        ("figure 1: sensitivity", theorems_1_to_3.figure_1),
        ("figures 2 and 6: density ratios", density_ratio.run),
        ("figure 3: ε", theorems_1_to_3.figure_3),
        ("theorem 4", theorem_4.run),
        ("theorem 5", theorem_5.run),
        ("space", theorem_5.space),
        ("figure 4: synthetic streams", synthetic.run),
        ("figure 5: real data", partial(real_data.run, data=data)),
        ("baselines", baselines.run),
    ):
        result.say(what)
        in_formula_style(run)(result)
    result.table(
        "claims", ("place", "statement", "verdict", "evidence"),
        [(c.place, c.statement, c.verdict, c.evidence) for c in result.claims],
    )  # fmt: skip
    result.text("report.md", _report(result))
    result.say(f"done: {result.folder}/report.md")
    return result


def _report(result: Output) -> str:
    lines = ["# The paper, claim by claim", ""]
    lines += ["| where | what it says | verdict | shown by |", "| --- | --- | --- | --- |"]
    for claim in result.claims:
        cells = (claim.place, claim.statement, f"**{claim.verdict}**", claim.evidence)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    figures = sorted(path.name for path in result.folder.glob("*.svg"))
    lines += ["", "## Figures", "", *(f"![{name.removesuffix('.svg')}]({name})\n" for name in figures)]
    return "\n".join(lines)
