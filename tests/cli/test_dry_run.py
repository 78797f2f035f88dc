"""A dry run says what is known before data are read, and refuses what it would ignore; prices are stated in full."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_helpers import PRIVATE, SMALL, Shell

import stablesketch as ss

RELEASE = ["release", "events.csv", "--key", "app", *SMALL]
AUTO = ["--value", "n", "--max-value", "auto"]


def test_noise_that_depends_on_what_is_found_is_shown_for_several(shell: Shell) -> None:
    shown = shell(*RELEASE, *AUTO, "--dry-run")
    assert shown.code == 0
    assert "This is the plan for --max-value 1; the noise grows with it" in shown.err
    noise = {int(m.replace(",", "")): b for m, b in re.findall(r"^ *([\d,]+) +b = ([\d.,]+)$", shown.out, re.MULTILINE)}
    for most, told in noise.items():
        plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.8, 1e-6, max_value=most), size=50)
        assert float(told) == pytest.approx(plan.noise, rel=5e-3)
    assert sorted(noise) == [1, 15, 255, 4095, 65535]
    assert (
        "of ε = 2, δ = 1e-06: ε = 0.2 to find the maximum value; ε = 1.8, δ = 1e-06 for the number itself" in shown.err
    )


def test_of_what_is_computed_every_noise_is_shown(shell: Shell) -> None:
    shown = shell(
        "release", "events.csv", "--key", "app", "--statistic", "hill", "--order", "0.5", "--epsilon", "2", "--delta",
        "1e-6", "--size", "50", *AUTO, "--dry-run",
    )  # fmt: skip
    assert re.search(r"^--max-value +noise on F_0.5 +noise on total$", shown.out, re.MULTILINE), shown.out


def test_json_of_a_dry_run_is_a_plan_with_a_note(shell: Shell) -> None:
    shown = shell(*RELEASE, *AUTO, "--dry-run", "--json")
    assert ss.Plan.from_json(shown.out).privacy.max_value == 1
    assert "--max-value auto finds the maximum value in the data" in shown.err


def test_it_says_that_nothing_was_looked_at(shell: Shell) -> None:
    """A missing file has a plan too, and nobody should mistake that for a check of the file."""
    shown = shell("release", "nowhere.csv", "--key", "no such column", *SMALL, "--dry-run")
    assert shown.code == 0
    assert "no data were read, so the files and their columns were not checked" in shown.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ("--person", "user", "--pairs-per-person", "3"),
            "adding or removing any one person: all that",
        ),
        (("--relation", "replace"), "replacing any one pair"),
        ((), "adding or removing any one pair"),
    ],
)
def test_plan_and_release_say_the_same_of_what_is_protected(shell: Shell, options: tuple[str, ...], says: str) -> None:
    """Also for a table, which is planned for other neighbours than those it protects."""
    rows = ["user,app,country"] + [f"u{i % 40},a{i % 7},{'FR' if i % 2 else 'DE'}" for i in range(400)]
    shell.write("people.csv", "\n".join(rows) + "\n")
    shell.write("names.txt", "FR\nDE\n")
    spread = ("--groups-per-person", "2") if options[:1] == ("--person",) else ()
    for table in ((), ("--by", "country", "--groups", "names.txt", *spread)):
        asked = ("release", "people.csv", "--key", "app", *SMALL, *options, *table)
        planned, released = (
            re.search(r"^protects +(.+?)(?:; the number of pairs is public)?$", shell(*asked, *dry).out, re.MULTILINE)
            for dry in (("--dry-run",), ())
        )
        assert planned is not None
        assert released is not None
        assert planned[1] == released[1]
        assert released[1].startswith(says)


def test_the_share_of_values_that_is_clipped_is_not_promised(shell: Shell) -> None:
    """An eighth of the values are 2 or more, spread over 30 sizes with fewer than 86 values each, so 1 is found."""
    rows = ["k,v"] + [f"a{i},{1 if i % 8 else 2 ** (1 + i // 8 % 30)}" for i in range(4000)]
    shell.write("skewed.csv", "\n".join(rows) + "\n")
    private = ("--key", "k", "--value", "v", "--max-value", "auto", "--p", "0.5", "--epsilon", "1", "--delta", "1e-6")
    shown = shell("release", "skewed.csv", *private, "--size", "50")
    assert "values above 1 were clipped to it" in shown.err
    assert "chosen so that about 99% of the values are within it" in shown.err
    assert (
        "Fewer than about 86 values between two powers of two are lost in the noise, so small data may have more"
        in shown.err
    )


@pytest.mark.parametrize(("groups", "share"), [(256, 0.0), (1_000, 65.5), (10_000, 6.55)])
def test_many_groups_share_the_memory_and_are_told_so(shell: Shell, groups: int, share: float) -> None:
    """64 MiB for all of them, in place of 256 KiB for each; the plan is that of what each has."""
    Path("names.txt").write_text("".join(f"group {i}\n" for i in range(groups)), encoding="utf-8")
    asked = [
        "release",
        "events.csv",
        "--key",
        "app",
        "--by",
        "user",
        "--groups",
        "names.txt",
        "--p",
        "0.5",
        "--dry-run",
    ]
    shown = shell(*asked, "--epsilon", "1", "--delta", "1e-9")
    told = re.findall(r"there are ([\d,]+) groups, so each stores about ([\d.]+) KiB", shown.err)
    assert told == ([(f"{groups:,}", f"{share:g}")] if share else [])
    (stored,) = re.findall(r"about ([\d.]+) KiB stored", shown.out)
    assert float(stored) <= (share or 256.0) * 1.001


@pytest.mark.parametrize("option", ["--plot", "--report", "-o"])
def test_what_a_dry_run_would_not_write_is_refused(shell: Shell, option: str) -> None:
    name = {"--plot": "a.svg", "--report": "a.html", "-o": "a.json"}[option]
    shown = shell(*RELEASE, "--dry-run", option, name)
    assert (shown.code, shown.out) == (2, "")
    assert f"{option} cannot be used with --dry-run, which releases nothing" in shown.err
    assert not (shell.folder / name).exists()


def test_a_dry_run_of_a_stored_sketch_does_not_spend_it(shell: Shell) -> None:
    shell("secret", "new", "s.key")
    shell("plan", *SMALL, "-o", "plan.json")
    made = ("--plan", "plan.json", "--secret", "s.key", "--shard", "all", "-o", "a.ssk")
    assert shell("sketch", "events.csv", "--key", "app", *made).code == 0
    shown = shell("release", "a.ssk", "--secret", "s.key", "--dry-run")
    assert (shown.code, shown.out) == (2, "")
    assert "stablesketch inspect FILE" in shown.err
    assert shell("release", "a.ssk", "--secret", "s.key", "--json").code == 0


def test_no_group_has_its_price_too(shell: Shell) -> None:
    tiny = ["release", "events.csv", "--key", "app", "--by", "user", *SMALL]
    for how in ([], ["--json"]):
        shown = shell(*tiny, *how)
        assert shown.code == 0
        assert "no group is large enough" in shown.err
        assert "the release is paid for even so: ε = 1.968, δ = 1e-06" in shown.err
    assert json.loads(shown.out) == []


def test_a_report_tells_the_whole_price_and_how_it_was_divided(shell: Shell) -> None:
    by = ["release", "events.csv", "--key", "app", *PRIVATE, "--size", "50", *AUTO, "--by", "country"]
    assert shell(*by, "--report", "a.html").code == 0
    page = (shell.folder / "a.html").read_text()
    divided = (
        "ε = 0.2 to find the maximum value; ε = 0.18, δ = 1e-07 to choose the names of the groups; "
        "ε = 1.62, δ = 9e-07 for the numbers of the groups"
    )
    assert f"ε = 2 and δ = 1e-06 for the whole table: {divided}" in page
    assert "ε = 2, δ = 1e-06 in all" in page
    assert "they were listed and are public" not in page
    assert "its name appears only if a noisy count of its rows is large enough" in page
    assert "the maximum value, 7, was found from noisy counts" in page
    assert "because of that row" in page
    assert "The price follows from the plan alone, which was made before the numbers" in page
    assert "names of groups with small counts are not shown" in page
    shell.write("groups.txt", "FR\nDE\n")
    shell(*RELEASE, "--by", "country", "--groups", "groups.txt", "--report", "b.html")
    listed = (shell.folder / "b.html").read_text()
    assert "they were listed and are public" in listed
    assert "noisy count" not in listed
    assert "in all" not in listed.split("<h2>")[0]


def test_the_comparison_with_exact_is_shown_once(shell: Shell) -> None:
    shown = shell("release", "events.csv", "--key", "app", *PRIVATE, "--dry-run")
    assert shown.code == 0
    assert (shown.out + shown.err).count("times as") == 2  # at both ends
    assert "times as" not in shown.err


def test_it_says_whether_the_release_would_fit_in_the_ledger(shell: Shell) -> None:
    assert shell("ledger", "new", "budget.db", "--epsilon", "1.5").code == 0
    asked = ["release", "events.csv", "--key", "app", "--delta", "1e-9", "--dry-run", "--ledger", "budget.db"]
    fits, does_not = (shell(*asked, "--epsilon", epsilon) for epsilon in ("1", "3"))
    assert (fits.code, does_not.code) == (0, 4)
    assert "it fits in the ledger budget.db, where ε = 1.5 is left. Nothing was spent" in fits.err
    assert "would fit" in does_not.err
    assert len(list(ss.Ledger(shell.folder / "budget.db").records())) == 0


@pytest.mark.parametrize("groups", [1, 2])
def test_more_groups_are_offered_only_to_who_did_not_choose(shell: Shell, groups: int) -> None:
    people = ["--by", "country", "--person", "user", "--pairs-per-person", "3", "--groups-per-person", str(groups)]
    shown = shell(*RELEASE, *people, "--dry-run")
    assert shown.code == 0
    assert ("--groups-per-person N uses up to N groups" in shown.err) == (groups == 1)
