"""What a text names, as Python and as the command line spell it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from stablesketch.cli.app import program
from stablesketch.cli.in_options import OPTIONS, in_options
from stablesketch.text.wording import arg, either, in_python, stat, subject


@pytest.mark.parametrize(
    ("said", "python", "typed"),
    [
        (f"Name it ({arg('person')})", "Name it (person=)", "Name it (--person)"),
        (f"Use {arg('mechanism', 'exact')}.", "Use mechanism='exact'.", "Use --mechanism exact."),
        (f"Clip ({arg('clip', True)})", "Clip (clip=True)", "Clip (--clip)"),
        (f"Pass {arg('header', False)}", "Pass header=False", "Pass --no-header"),
        (f"Pass {arg('size', (50, 60))}", "Pass size=[50, 60]", "Pass --size 50,60"),
        (f"Leave out {arg('auto_max_value')}", "Leave out auto_max_value=", "Leave out --max-value auto"),
        (f"{subject('pairs_per_person')} is 5", "pairs_per_person is 5", "--pairs-per-person is 5"),
        (f"{subject('len(totals)')} is 5, {arg('deletes', True)}", *["len(totals) is 5, deletes=True"] * 2),
        (f"{subject('orders')} rise", "orders rise", "--order rise"),
        (f"Pass {stat('Renyi', 0.9)}", "Pass ss.Renyi(0.9)", "Pass --statistic renyi --order 0.9"),
        (f"Pass {stat('Profile', [0.0, 2.0])}", "Pass ss.Profile([0, 2])", "Pass --statistic profile --order 0,2"),
        (
            f"Say {either('ss.Ledger(path)', 'stablesketch ledger new')}",
            "Say ss.Ledger(path)",
            "Say stablesketch ledger new",
        ),
        ("a file named by= and ss.Hill(1)", *["a file named by= and ss.Hill(1)"] * 2),
        ("marks \ufdd0 \ufdd0argument\ufdd1 \ufdd0by\ufdd2", *["marks \ufdd0 \ufdd0argument\ufdd1 \ufdd0by\ufdd2"] * 2),
    ],
)
def test_each_interface_spells_what_a_text_names(said: str, python: str, typed: str) -> None:
    """What Python says in arguments, the command line says in options; nothing else in a text is touched."""
    assert in_python(said) == python
    assert in_options(said) == typed


def test_what_is_spelt_as_an_option_is_one() -> None:
    def options(command: Any) -> Iterator[str]:
        for each in getattr(command, "commands", {}).values():
            yield from options(each)
        for parameter in command.params:
            yield from parameter.opts

    assert {"--" + name.replace("_", "-") for name in OPTIONS} <= set(options(typer.main.get_command(program())))
