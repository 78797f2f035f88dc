"""What a refusal advises is followed, to the letter: every way out it names leads to a plan."""

from __future__ import annotations

import re

import pytest
from cli_helpers import Shell

import stablesketch as ss

PRIVATE = ["--epsilon", "1", "--delta", "1e-9"]


def followed(shell: Shell, asked: list[str]) -> int:
    """How many ways out there were; each of them makes a plan."""
    shown = shell("plan", *PRIVATE, *asked)
    assert shown.code != 0
    advice = re.search(r"(?:Pass|Leave) .*", shown.err)
    assert advice is not None, shown.err
    ways = [re.findall(r"--[a-z-]+(?: [\w.,]+\b)?", way) for way in advice[0].split(", or ")]
    tried = [option for way in ways for option in [" ".join(way)] if option]
    for options in tried:
        given = options.split()
        kept = asked
        for name in given[::2]:
            if name in kept:
                at = kept.index(name)
                kept = kept[:at] + kept[at + 2 :]
        again = shell("plan", *PRIVATE, *kept, *given)
        assert again.code == 0, (options, again.err)
    return len(tried)


@pytest.mark.parametrize(
    ("asked", "ways"),
    [
        (["--statistic", "profile", "--mechanism", "bare"], 2),
        (["--statistic", "profile", "--mechanism", "bare", "--pairs", "500"], 2),
        (["--statistic", "profile", "--order", "0,2", "--mechanism", "bare"], 2),
        (["--statistic", "profile", "--order", "0,1", "--mechanism", "bare"], 3),
        (["--statistic", "hill", "--order", "2", "--mechanism", "bare"], 2),
        (["--statistic", "shannon", "--mechanism", "bare"], 3),
        (["--p", "0.5", "--size", "1"], 1),
        (["--p", "0.5", "--size", "5000000"], 1),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_every_way_out_leads_to_a_plan(shell: Shell, asked: list[str], ways: int) -> None:
    assert followed(shell, asked) == ways


def test_what_fits_into_a_ledger_tells_the_noise_too(shell: Shell) -> None:
    shell("ledger", "new", "budget.db", "--epsilon", "1", "--delta", "1e-6")
    shell("plan", "--p", "0.5", *PRIVATE, "--size", "200", "-o", "plan.json")
    shown = shell("ledger", "plan", "budget.db", "plan.json", "--times", "20", "--fit", "-o", "fit.json")
    fitted = ss.Plan.from_json((shell.folder / "fit.json").read_text())
    told = re.search(r"^error   5.03% of F_0.5, and ± ([\d.]+); for each$", shown.out, re.MULTILINE)
    assert told is not None, shown.out
    assert float(told[1]) == pytest.approx(2**0.5 * fitted.noise, rel=5e-3)
