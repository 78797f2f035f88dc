"""Every command, as a user would type it."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_helpers import PRIVATE, SMALL, Shell

import stablesketch as ss


def test_release_says_value_interval_and_price(shell: Shell) -> None:
    shown = shell("release", "events.csv", "--key", "app", *SMALL)
    assert shown.code == 0
    assert "--mechanism exact would be" in shown.err  # the only note
    assert shown.err.count("\n") == 1
    for part in ("F_0.5", "95% interval", "adding or removing any one pair", "ε = ", "δ = ", "50 entries"):
        assert part in shown.out
    assert "2,000" not in shown.out  # the number of pairs is private
    replaced = shell("release", "events.csv", "--key", "app", "--relation", "replace", *SMALL)
    assert "replacing any one pair" in replaced.out
    assert "2,000" in replaced.out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--p", "1"], "one counter, Laplace noise of scale b = 0.5"),
        (["--p", "0.5", "--mechanism", "exact"], "exact, all keys in memory, Laplace noise of scale b = 0.5"),
        (["--statistic", "hill", "--order", "0.5", "--size", "50"],
         r"sketch of 50 entries, Laplace noise of scale b = [\d.]+ on F_0.5, b = 5 on total"),
        (["--statistic", "profile", "--order", "0,0.5", "--size", "70,50,0"],
         r"2 sketches, 120 entries in all, Laplace noise of scale b = [\d.]+ on distinct keys, b = [\d.]+ on F_0.5, "
         "b = 5 on total"),
        (["--p", "0.5", "--mechanism", "bare", "--size", "50"], r"bare sketch of 50 entries, floor [\d.]+"),
    ],
    ids=lambda one: one[1] if isinstance(one, list) else "",
)  # fmt: skip
def test_the_method_says_what_was_held_and_the_noise(shell: Shell, asked: list[str], said: str) -> None:
    privacy = ("--epsilon", "2", "--delta", "1e-6", "--relation", "add_remove")
    shown = shell("release", "events.csv", "--key", "app", *privacy, *asked)
    assert shown.code == 0
    assert re.search(rf"^method +{said}$", shown.out, re.MULTILINE), shown.out


def test_json_has_the_fields_of_a_release_and_nothing_else_is_printed(shell: Shell) -> None:
    shown = shell("release", "events.csv", "--key", "app", *SMALL, "--json")
    assert (shown.code, shown.err) == (0, "")
    release = ss.Release.from_json(shown.out)
    assert (release.relation, release.pairs) == ("add_remove", None)
    assert release.epsilon <= 2.0
    truth = json.loads(shell("exact", "events.csv", "--key", "app", "--p", "0.5", "--json").out)["value"]
    assert abs(release.value - truth) < 10 * truth / 6 + 30 * release.noise  # ten deviations, thirty scales


def test_the_default_error_is_half_a_percent_and_is_stated(shell: Shell) -> None:
    plan = json.loads(shell("plan", *PRIVATE, "--json").out)
    assert 0.005 < plan["accuracy"]["error"] <= 0.0055
    assert "0.509% of F_0.5 if every key is rare, 9% if one key holds everything" in shell("plan", *PRIVATE).out


def test_where_five_percent_is_out_of_reach_the_release_says_what_is_reached(shell: Shell) -> None:
    few = ["--p", "0.5", "--epsilon", "0.5", "--delta", "1e-6", "--pairs", "100", "--expected", "20"]
    planned = shell("plan", *few)
    assert planned.code == 0
    assert float(re.search(r"error +([\d.]+)%", planned.out)[1]) > 5  # type: ignore[index]
    assert shell("plan", *few, "--error", "0.05").code == 4


@pytest.mark.parametrize("text", ["2000", "2e3", "2_000", "2,000", "2.0e3"])
def test_numbers_as_people_write_them(shell: Shell, text: str) -> None:
    plan = json.loads(shell("plan", *SMALL, "--pairs", text, "--json").out)
    assert plan["asked"]["privacy"]["pairs"] == 2000


def test_composite_keys(shell: Shell) -> None:
    one = json.loads(shell("exact", "events.csv", "--key", "app", "--p", "0.5", "--json").out)
    two = json.loads(shell("exact", "events.csv", "--key", "app,country", "--p", "0.5", "--json").out)
    assert two["keys"] > one["keys"]
    assert shell("release", "events.csv", "--key", "app,country", *SMALL).code == 0


def test_values(shell: Shell) -> None:
    shown = shell("release", "events.csv", "--key", "app", "--value", "n", "--max-value", "3", "--clip", *SMALL)
    assert shown.code == 0
    assert "values up to 3" in shown.out
    assert "clipped" in shown.err
    assert not re.search(r"\d{2,} values", shown.err)  # how many is private
    auto = shell("release", "events.csv", "--key", "app", "--value", "n", "--max-value", "auto", *SMALL)
    assert auto.code == 0
    assert "ε = 0.2 to find the maximum value" in auto.err


def test_groups(shell: Shell) -> None:
    shell.write("groups.txt", "FR\nXX\n")
    shown = shell("release", "events.csv", "--key", "app", "--by", "country", "--groups", "groups.txt", *SMALL)
    assert shown.code == 0
    assert re.search(r"^FR +[\d,.]+ +[\d,.]+ +[\d,.]+$", shown.out, re.MULTILINE)
    listed = json.loads(
        shell("release", "events.csv", "--key", "app", "--by", "country", *SMALL, "--json").out
    )  # fmt: skip
    assert [one["group"] for one in listed] == ["DE", "FR"]
    assert all(ss.Release(**{k: v for k, v in one.items() if k not in ("group", "format")}) for one in listed)


def test_no_group_large_enough(shell: Shell) -> None:
    shell.write("few.csv", "app,g\na,x\nb,y\n")
    shown = shell("release", "few.csv", "--key", "app", "--by", "g", *SMALL)
    assert shown.code == 0
    assert "no group is large enough" in shown.err
    assert json.loads(shell("release", "few.csv", "--key", "app", "--by", "g", *SMALL, "--json").out) == []


def test_persons(shell: Shell) -> None:
    shown = shell("release", "events.csv", "--key", "app", "--person", "user", "--pairs-per-person", "2", *SMALL)
    assert shown.code == 0
    assert "adding or removing any one person: all that they did (at most 2 rows are used)" in shown.out
    assert "2,000" not in shown.out  # the number of pairs is private


def test_a_query(shell: Shell) -> None:
    query = "select app, n::bigint as n from 'events.csv' where country = 'FR'"
    shown = shell("release", "--sql", query, "--key", "app", "--value", "n", "--max-value", "5", *SMALL,
                  "--relation", "replace")  # fmt: skip
    assert shown.code == 0
    assert "1,333" in shown.out


def test_standard_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard:
        buffer = io.BytesIO(b"a\nb\na\n" * 300)

    monkeypatch.setattr(sys, "stdin", Standard())
    shown = shell("release", "-", *SMALL, "--relation", "replace")
    assert shown.code == 0
    assert "900" in shown.out


def test_shards(shell: Shell) -> None:
    lines = (shell.folder / "events.csv").read_text().splitlines(keepends=True)
    shell.write("1.csv", "".join(lines[:1000]))
    shell.write("2.csv", lines[0] + "".join(lines[1000:]))
    assert shell("plan", *SMALL, "--pairs", "2000", "-o", "plan.json").code == 0
    assert shell("secret", "new", "s.key").code == 0
    assert (shell.folder / "s.key").stat().st_mode & 0o777 == 0o600
    for i in "12":
        made = shell(
            "sketch", f"{i}.csv", "--key", "app", "--plan", "plan.json", "--secret", "s.key", "--shard", i,
            "-o", f"{i}.ssk",
        )  # fmt: skip
        assert made.code == 0, made.err
    assert shell("merge", "1.ssk", "2.ssk", "-o", "all.ssk").code == 0
    # Merged without the secret, byte for byte what merging with it gives.
    secret = ss.Secret.load("s.key")
    one, two = (ss.Collector.from_bytes((shell.folder / f"{i}.ssk").read_bytes(), secret) for i in "12")
    one.merge(two)
    assert (shell.folder / "all.ssk").read_bytes() == one.to_bytes()
    inspected = shell("inspect", "all.ssk")
    assert "1, 2" in inspected.out
    assert json.loads(shell("inspect", "all.ssk", "--json").out)["shards"] == ["1", "2"]
    released = shell("release", "all.ssk", "--secret", "s.key")
    assert released.code == 0
    assert "2,000" not in released.out  # their number is private
    again = shell("release", "all.ssk", "--secret", "s.key")
    assert again.code == 4
    assert "already used for its one release" in again.err


def test_shards_of_the_exact_mechanism(shell: Shell) -> None:
    shell("plan", *PRIVATE, "--pairs", "2000", "--mechanism", "exact", "-o", "plan.json")
    shell("secret", "new", "s.key")
    for i, where in enumerate(("country = 'FR'", "country = 'DE'")):
        query = f"select app from 'events.csv' where {where}"
        made = shell(
            "sketch", "--sql", query, "--key", "app", "--plan", "plan.json", "--secret", "s.key", "--shard", f"{i}",
            "-o", f"{i}.ssk",
        )  # fmt: skip
        assert made.code == 0
    assert shell("merge", "0.ssk", "1.ssk", "-o", "all.ssk").code == 0
    assert shell("release", "all.ssk", "--secret", "s.key").code == 0


def test_a_plan_is_written_once_and_read_back(shell: Shell) -> None:
    assert shell("plan", *SMALL, "--pairs", "2000", "-o", "plan.json").code == 0
    plan = ss.Plan.from_json((shell.folder / "plan.json").read_text())
    assert plan == ss.plan(ss.Moment(0.5), ss.Privacy(2.0, 1e-6, 2000), size=50)
    assert "F_0.5 by the sketch mechanism" in shell("inspect", "plan.json").out
    bare = shell("plan", *SMALL, "--pairs", "2000", "--relation", "replace", "--mechanism", "bare", "--json").out
    assert ss.Plan.from_json(bare) == ss.plan(
        ss.Moment(0.5), ss.Privacy(2.0, 1e-6, 2000, relation="replace"), size=50, mechanism="bare"
    )


def test_dry_run_reads_nothing(shell: Shell) -> None:
    shown = shell("release", "nowhere.csv", "--key", "app", *SMALL, "--pairs", "1e6", "--dry-run")
    assert shown.code == 0
    assert "F_0.5 by the sketch mechanism" in shown.out


def test_the_ledger(shell: Shell) -> None:
    assert shell("ledger", "new", "budget.db", "--epsilon", "3", "--delta", "1e-5").code == 0
    release = ("release", "events.csv", "--key", "app", *SMALL, "--ledger", "budget.db", "--label", "weekly")
    assert shell(*release).code == 0
    shown = shell("ledger", "show", "budget.db")
    assert "weekly" in shown.out
    assert "1 release" in shown.out
    assert json.loads(shell("ledger", "show", "budget.db", "--json").out)["releases"] == 1
    shell("plan", *SMALL, "--epsilon", "0.4", "-o", "plan.json")
    assert "fits" in shell("ledger", "plan", "budget.db", "plan.json", "--times", "2").out
    assert shell("ledger", "plan", "budget.db", "plan.json", "--times", "5", "--fit", "-o", "fit.json").code == 0
    assert ss.Plan.from_json((shell.folder / "fit.json").read_text()).epsilon < 0.4
    assert shell("ledger", "export", "budget.db", "-o", "all.csv").code == 0
    assert "weekly" in (shell.folder / "all.csv").read_text()
    spent = 0
    while spent < 40 and (shown := shell(*release[:3], "app", *SMALL, "--pairs", "50", *release[-4:])).code == 0:
        spent += 1
    assert shown.code == 4
    assert "budget" in shown.err


def test_a_ledger_that_renews(shell: Shell) -> None:
    made = shell("ledger", "new", "--per", "month", "--epsilon", "5")
    assert (made.code, made.err) == (
        0,
        "written to budget.db: ε = 5 at δ = 1e-06 for what is recorded there each month\n",
    )
    assert "forecast     to forecast, pass a plan: --plan plan.json" in shell("ledger", "show", "budget.db").out
    release = ("release", "events.csv", "--key", "app", *SMALL, "--delta", "1e-8", "--ledger", "budget.db")
    assert shell(*release, "--label", "weekly").code == 0
    shown = shell("ledger", "show", "budget.db").out
    content = json.loads(shell("ledger", "show", "budget.db", "--json").out)
    period, more = content["period"], content["forecast"]
    assert f"forecast     {more} more like the last one would fit in {period}" in shown
    assert f"until {content['renews']}, when it renews" in shown
    assert content["spent"] == content["spent_in_all"]
    head = next(line for line in shown.splitlines() if line.startswith("release"))
    assert head.split() == ["release", "date", "(UTC)", "label", "statistic", "ε", "δ", "left", "after"]
    for _ in range(more):
        assert shell(*release).code == 0
    refused = shell(*release)
    assert (refused.code, f"renews on {content['renews']}" in refused.err) == (4, True)


def test_a_ledger_for_people(shell: Shell) -> None:
    new = ("ledger", "new", "budget.db", "--epsilon", "9", "--delta", "1e-5", "--people")
    assert shell(*new, "--relation", "replace").code == 2
    assert shell(*new).code == 0
    release = ("release", "events.csv", "--key", "app", *SMALL, "--ledger", "budget.db")
    refused = shell(*release)
    assert refused.code == 5
    assert "Name the column of people in this release too (--person), or use another ledger" in refused.err
    for rows in ("1", "5"):
        assert shell(*release, "--person", "user", "--pairs-per-person", rows).code == 0
    assert "add_remove of people" in shell("ledger", "show", "budget.db").out


@pytest.mark.parametrize(
    ("relation", "pairs", "unit"),
    [
        ("add_remove", 1, "any one pair"),
        ("add_remove of individuals", 1, "any one individual"),
        ("add_remove of keys", 1, "any one key"),
        ("replace of keys", 3, "any 3 keys of one person"),
        ("add_remove of people", 4, "any one person, of whom 4 pairs are used"),
    ],
)
def test_the_unit_of_a_ledger_is_what_its_relation_is_about(shell: Shell, relation: str, pairs: int, unit: str) -> None:
    """An individual is not a pair of the data, nor is a key."""
    ss.Ledger(shell.folder / "b.db", epsilon=3.0, delta=1e-6, relation=relation, pairs_per_person=pairs)
    lines = [" ".join(line.split()) for line in shell("ledger", "show", "b.db").out.splitlines()]
    assert f"unit {relation}, {unit}" in lines


def test_what_an_adaptive_ledger_pays_first_is_said_to_the_end(shell: Shell) -> None:
    ss.Ledger(shell.folder / "b.db", epsilon=3.0, delta=1e-6, adaptive=True)
    shown = " ".join(shell("ledger", "show", "b.db").out.split())
    assert "the price of choosing plans after looking" in shown


def test_audit(shell: Shell) -> None:
    shell("plan", *PRIVATE, "--pairs", "20", "--size", "10", "-o", "plan.json")
    shown = shell("audit", "plan.json", "--trials", "100", "--confidence", "0.999999", "--json")
    assert shown.code == 0
    assert json.loads(shown.out)["passed"] is True


def test_an_audit_that_fails_has_an_exit_code_of_its_own(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a secret that everybody knows, all releases of a neighbour are the same number: nothing is private."""
    shell("plan", *PRIVATE, "--pairs", "20", "--size", "10", "-o", "plan.json")
    known = classmethod(lambda cls: ss.Secret.from_bytes(bytes(32)))
    monkeypatch.setattr(ss.Secret, "generate", known)
    shown = shell("audit", "plan.json", "--trials", "100")
    assert shown.code == 6
    assert shown.out


def test_version_and_help(shell: Shell) -> None:
    assert shell("--version").out == f"stablesketch {ss.__version__}\n"
    for command in ("", "release", "plan", "sketch", "merge", "inspect", "exact", "audit", "demo", "secret", "ledger"):
        shown = shell(*([command] if command else []), "--help")
        assert shown.code == 0
        assert "Usage: stablesketch" in shown.out
    assert "--key app" in shell("release", "--help").out  # it teaches by example


def test_output_files_are_written_whole_and_never_over_another(shell: Shell) -> None:
    assert shell("release", "events.csv", "--key", "app", *SMALL, "-o", "out.json").code == 0
    content = (shell.folder / "out.json").read_text()
    assert ss.Release.from_json(content).size == 50
    again = shell("release", "events.csv", "--key", "app", *SMALL, "-o", "out.json")
    assert again.code == 2
    assert "already exists" in again.err
    assert (shell.folder / "out.json").read_text() == content
    assert not [name for name in os.listdir(shell.folder) if name.startswith(".")]


def test_no_secret_is_ever_printed(shell: Shell) -> None:
    shell("secret", "new", "s.key")
    bits = (shell.folder / "s.key").read_text().split()[2]
    assert len(bits) >= 60
    shell("plan", *SMALL, "--pairs", "2000", "-o", "plan.json")
    shown = [
        shell(
            "sketch", "events.csv", "--key", "app", "--plan", "plan.json", "--secret", "s.key", "--shard", "a",
            "-o", "a.ssk",
        ),
        shell("inspect", "a.ssk", "--json"),
        shell("release", "a.ssk", "--secret", "plan.json"),
        shell("release", "a.ssk", "--secret", "s.key", "--json"),
    ]  # fmt: skip
    for one in shown:
        assert bits not in one.out + one.err
    assert bits.encode() not in (shell.folder / "a.ssk").read_bytes()
    assert bytes.fromhex(bits) not in (shell.folder / "a.ssk").read_bytes()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from stablesketch.cli import main; main()", *arguments]


def test_ctrl_c_leaves_no_file_and_says_so(tmp_path: Path) -> None:
    """The input never ends; the interrupt comes while it is read."""
    process = subprocess.Popen(
        command("release", "-", *SMALL, "-o", "out.json"), cwd=tmp_path, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("line\n" * 100_000)
    process.stdin.flush()
    time.sleep(1.5)  # until it reads; if it does not yet, the interrupt comes sooner and must be as clean
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "stopped" in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_silent_and_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("app\n" + "a\nb\n" * 500)
    done = subprocess.run(
        command("release", "e.csv", "--key", "app", *SMALL, "--json"), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("by", [[], ["--by", "country"]])
def test_what_protects_people_says_so(shell: Shell, by: list[str]) -> None:
    people = ["release", "events.csv", "--key", "app", "--person", "user", "--pairs-per-person", "3", *SMALL, *by]
    shown = shell(*people)
    assert "protects" in shown.out, shown.err
    assert "any one person: all that they did (at most 3 rows are used)" in shown.out
    assert "pairs of one person" not in shown.out
    told = json.loads(shell(*people, "--json").out)
    assert all(one["person"] is True for one in (told if by else [told]))


def test_commands_without_arguments_show_their_help_and_nothing_else(shell: Shell) -> None:
    for command in ([], ["ledger"], ["secret"]):
        shown = shell(*command)
        assert shown.code == 2
        assert "Usage" in shown.out + shown.err
        assert "Error" not in shown.err


def test_an_option_of_another_command(shell: Shell) -> None:
    shown = shell("exact", "events.csv", "--key", "app", "--p", "0.5", "--groups", "user")
    assert shown.code == 2
    assert "exact has no option --groups. It is an option of stablesketch release." in shown.err
    assert "--json" not in shown.err
    assert "stablesketch release" in shell("plan", "--ledger", "b.db").err
    assert "Did you mean --epsilon?" in shell("plan", "--epsilom", "1").err


def test_a_large_delta_is_noted(shell: Shell) -> None:
    large = ("release", "events.csv", "--key", "app", "--p", "0.5", "--epsilon", "2", "--delta", "0.01", "--size", "50")
    shown = shell(*large, "--relation", "replace")
    assert shown.code == 0
    assert "δ = 0.01 is above 1/2,000" in shown.err
    private = shell(*large)
    assert "δ = 0.01 is large" in private.err
    assert "2,000" not in private.err  # their number is private


@pytest.mark.parametrize(
    ("how", "noted"),
    [
        (["--relation", "replace", "--statistic", "shannon"], False),  # it needs one number, which is ε-private
        (["--statistic", "shannon"], True),
        (["--p", "0.5"], False),
        (["--p", "0.5", "--by", "user"], True),  # the names are chosen privately, for a part of δ
    ],
)
def test_a_large_delta_is_noted_if_the_release_has_a_delta(shell: Shell, how: list[str], noted: bool) -> None:
    wanted = ("release", "events.csv", "--key", "app", "--epsilon", "2", "--delta", "0.01", "--mechanism", "exact")
    shown = shell(*wanted, *how)
    assert shown.code == 0
    assert ("δ = 0\n" in shown.out) is not noted
    assert ("δ = 0.01 is " in shown.err) is noted


def test_releases_that_do_not_fit_end_like_a_refusal(shell: Shell) -> None:
    assert shell("plan", *SMALL, "-o", "plan.json").code == 0
    made = shell("ledger", "new", "--epsilon", "5", "--per", "day")
    assert "for what is recorded there each day" in made.err
    fits, does_not = (shell("ledger", "plan", "budget.db", "plan.json", "--times", times) for times in ("1", "10"))
    assert (fits.code, does_not.code) == (0, 4)
    assert fits.out.startswith("1 release: fits\n")
    assert does_not.out.startswith("10 releases: does not fit\n")
    assert re.search(r"more by this plan would fit on \d{4}-\d\d-\d\d", fits.out)


def test_exact_whole_numbers_have_no_decimals(shell: Shell) -> None:
    for statistic in (["--statistic", "distinct"], ["--p", "1"]):
        shown = shell("exact", "events.csv", "--key", "app", *statistic).out
        assert re.search(r"(keys|F_1) +[\d,]+\n", shown)
        assert ".0" not in shown
