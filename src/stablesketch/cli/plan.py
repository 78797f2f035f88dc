"""`stablesketch plan`: what a release would reach, before any data are read."""

from __future__ import annotations

from typing import Annotated

import typer

from ..pictures import drawn_measurement, plan_bytes
from ..plan.asked import asked
from ..plan.planner import planned
from ..release.arguments import DEFAULTS
from . import options
from .deliver import check_new
from .option_groups import Chosen, Sizes
from .screen import note, print_text, write_and_note

EXAMPLES = """[bold]Examples[/]

stablesketch plan --epsilon 1 --delta 1e-9

stablesketch plan --epsilon 1 --delta 1e-9 --size 500 -o plan.json

stablesketch plan --p 0.25 --epsilon 1 --delta 1e-9 --pairs-per-person 20 \\
  --memory 64K

stablesketch plan --epsilon 1 --delta 1e-9 --plot plan.svg

stablesketch plan --statistic shannon --epsilon 1 --delta 1e-9

stablesketch plan --p 0.5 --epsilon 1 --delta 1e-9 --mechanism bare \\
  --relation replace --pairs 1e6

stablesketch plan --serve"""


def plan(
    *,
    statistic: Chosen,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    pairs: options.Pairs = None,
    max_value: Annotated[int, typer.Option(parser=options.count, metavar="N", help="Maximum value of a pair.")] = 1,
    relation: options.Relation = None,
    pairs_per_person: Annotated[int, options.count_in_privacy(help="Maximum number of pairs per person.")] = 1,
    unit: options.Unit = None,
    total: options.Total = 0,
    sizes: Sizes,
    json: options.Json = False,
    output: options.Output = None,
    plot: options.Plot = None,
    serve: Annotated[
        bool, options.in_output("--serve", help="Serve a page with sliders, to this machine only.")
    ] = False,
    port: Annotated[int | None, options.in_output(help="Port of the page (default: any free one).")] = None,
) -> None:
    if serve:
        given = (unit, epsilon, delta, pairs, relation, output, plot)
        sized = any(value != DEFAULTS[name] for name, value in sizes.items())
        if any(value is not None for value in given) or sized or statistic.typed:
            raise typer.BadParameter("--serve can be combined only with --port: all other values are set on the page.")
        serve_page(port or 0)
        return
    if port is not None:
        raise typer.BadParameter("--port needs --serve. Add --serve, or leave out --port.")
    wanted = statistic.made()
    check_new(plot=plot, output=output)
    privacy = options.privacy_of(epsilon, delta, pairs, max_value, relation, pairs_per_person, unit, total)
    chosen = planned(asked(wanted, privacy, **sizes))
    if plot is not None:
        drawn_measurement(chosen, "plot")  # refuses what has no picture, while nothing has been written
    if output is not None:
        write_and_note(output, (chosen.to_json() + "\n").encode())
    if json:
        print_text(chosen.to_json())
    elif output is None:
        print_text(str(chosen))
    if plot is not None:
        note("drawing: this makes a dozen plans or so and takes a few seconds")
        write_and_note(plot, plan_bytes(chosen, plot), public=True)


def serve_page(port: int) -> None:
    """Serves the planner page until Ctrl-C. Its address contains a token: only those who see it can open the page."""
    from ..planner_page import PlannerServer

    with PlannerServer(port) as server:
        print_text(server.url)
        note("open this address in a browser on this machine; Ctrl-C stops it")
        server.serve_forever()
