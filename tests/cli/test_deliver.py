"""Pictures, reports and the planner page on the command line; and that nothing is spent for what cannot be written."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from cli_helpers import SMALL, Shell

RELEASE = ["release", "events.csv", "--key", "app", *SMALL]


def test_a_release_with_picture_and_report(shell: Shell) -> None:
    shown = shell(*RELEASE, "--plot", "apps.svg", "--report", "apps.html", "-o", "apps.json")
    assert shown.code == 0
    assert shown.err.splitlines()[-3:] == [f"written to apps.{kind}" for kind in ("json", "svg", "html")]
    report = (shell.folder / "apps.html").read_text()
    value = json.loads((shell.folder / "apps.json").read_text())["value"]
    assert base64.b64encode((shell.folder / "apps.json").read_bytes()).decode() in report
    assert f"F_0.5, is about {value:,.0f}" in report or "too small" in report
    assert "How varied are the values of app?" in report
    assert "events.csv" not in report  # names of files may say more than was asked for
    assert (shell.folder / "apps.svg").read_text().startswith("<?xml")
    assert "F_0.5" in shown.out


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_what_may_be_published_has_the_mode_of_the_umask(shell: Shell, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        assert shell(*RELEASE, "--plot", "a.svg", "--report", "a.html", "-o", "a.json").code == 0
    finally:
        os.umask(before)
    assert {(shell.folder / f"a.{kind}").stat().st_mode & 0o777 for kind in ("svg", "html", "json")} == {mode}


def test_a_report_has_the_names_that_users_give(shell: Shell) -> None:
    named = ("--dataset", "All apps", "--period", "2026", "--noun", "apps", "--label", "yearly")
    assert shell(*RELEASE, "--report", "a.html", *named).code == 0
    report = (shell.folder / "a.html").read_text()
    assert "Data: All apps. Period: 2026. Release: yearly. Made on" in report
    assert "apps" in report.partition('class="said">')[2].partition("</p>")[0]
    for option in ("--dataset", "--period", "--noun", "--label"):
        refused = shell(*RELEASE, option, "x")
        assert (refused.code, "or leave" in refused.err) == (2, True)
    assert shell(*RELEASE, "--plot", "a.svg", "--noun", "apps").code == 0


def test_groups_with_picture_and_report(shell: Shell) -> None:
    shell.write("groups.txt", "FR\nDE\n")
    shell("ledger", "new", "b.db", "--epsilon", "3", "--delta", "1e-5", "--relation", "add_remove")
    by = [*RELEASE, "--by", "country", "--groups", "groups.txt", "--ledger", "b.db"]
    assert shell(*by, "--plot", "g.png", "--report", "g.html", "--json").code == 0
    report = (shell.folder / "g.html").read_text()
    assert "How varied are the values of app, by country?" in report
    assert "All its releases together cost ε = " in report
    assert (shell.folder / "g.png").read_bytes().startswith(b"\x89PNG")


def test_a_table_without_groups_has_no_picture(shell: Shell) -> None:
    tiny = [
        "release",
        "events.csv",
        "--key",
        "app",
        "--by",
        "user",
        "--p",
        "0.5",
        "--epsilon",
        "0.5",
        "--delta",
        "1e-9",
    ]
    shown = shell(*tiny, "--size", "50", "--plot", "g.svg", "--report", "g.html")
    assert shown.code == 0
    assert "g.svg was not written: no group is shown" in shown.err
    assert not (shell.folder / "g.svg").exists()


def store_a_sketch(shell: Shell) -> None:
    """a.ssk, under the secret s.key."""
    shell("plan", *SMALL, "--pairs", "2000", "-o", "plan.json")
    shell("secret", "new", "s.key")
    made = ["--key", "app", "--plan", "plan.json", "--secret", "s.key", "--shard", "a", "-o", "a.ssk"]
    assert shell("sketch", "events.csv", *made).code == 0


def test_a_stored_sketch_has_a_report_too(shell: Shell) -> None:
    store_a_sketch(shell)
    assert shell("release", "a.ssk", "--secret", "s.key", "--report", "r.html").code == 0
    assert "How varied is the stream?" in (shell.folder / "r.html").read_text()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--plot", "events.csv"], "already exists"),
        (["--plot", "picture.jpg"], ".png, .svg or .html"),
        (["--plot", "none/picture.svg"], "must be in an existing folder"),
        (["--report", "report.txt"], "must end in .html"),
        (["--report", "events.csv"], "already exists"),
        (["--plot", "x.html", "--report", "x.html"], "must not be the same file"),
        (["-o", "events.csv"], "already exists"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_spent(shell: Shell, wrong: list[str], said: str) -> None:
    shell("ledger", "new", "b.db", "--epsilon", "3", "--delta", "1e-5")
    shown = shell(*RELEASE, "--ledger", "b.db", *wrong)
    assert (shown.code, shown.out) == (2, "")
    assert said in shown.err
    assert json.loads(shell("ledger", "show", "b.db", "--json").out)["releases"] == 0


def test_a_stored_sketch_is_not_spent_either(shell: Shell) -> None:
    store_a_sketch(shell)
    assert shell("release", "a.ssk", "--secret", "s.key", "-o", "events.csv").code == 2
    assert shell("release", "a.ssk", "--secret", "s.key").code == 0


@pytest.mark.parametrize(
    "decided",
    [
        "--key app", "--value app", "--max-value 7", "--clip", "--by app", "--groups events.csv", "--person app",
        "--sql select", "--format orc", "--no-header", "--delimiter ;", "--wide", "--on-bad skip", "--epsilon 1",
        "--delta 0.1", "--pairs 2000", "--relation replace", "--pairs-per-person 50", "--unit key", "--total 9",
        "--groups-per-person 9", "--error 0.01", "--size 50", "--memory 64K", "--entries-per-key 16", "--expected 9",
        "--mechanism sketch", "--engine spark", "--master local", "--statistic moment", "--p 0.5", "--order 1",
    ],
)  # fmt: skip
def test_what_a_stored_sketch_decided_cannot_be_said_again(shell: Shell, decided: str) -> None:
    store_a_sketch(shell)
    shown = shell("release", "a.ssk", "--secret", "s.key", *decided.split())
    option = decided.split()[0].replace("--no-", "--")
    assert (shown.code, shown.out) == (2, "")
    assert f"{option} cannot be used with a stored sketch" in shown.err
    assert shell("release", "a.ssk", "--secret", "s.key", "--confidence", "0.9").code == 0


def test_without_matplotlib_nothing_is_spent(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = shell(*RELEASE, "--plot", "x.svg")
    assert (shown.code, shown.out) == (1, "")
    assert "pip install" in shown.err


@pytest.mark.slow
def test_a_plan_has_a_picture(shell: Shell) -> None:
    shown = shell("plan", *SMALL, "--pairs", "2000", "--plot", "plan.html")
    assert shown.code == 0
    assert "written to plan.html" in shown.err
    assert "Plan: F_0.5" in (shell.folder / "plan.html").read_text()
    assert shell("plan", "--epsilon", "1", "--delta", "1e-6").code == 0  # of a Hill number


@pytest.mark.parametrize(
    "wrong", [["--serve", "--p", "0.5"], ["--serve", "--plot", "x.svg"], ["--p", "0.5", "--port", "1"]]
)
def test_the_page_takes_no_numbers(shell: Shell, wrong: list[str]) -> None:
    shown = shell("plan", *wrong)
    assert (shown.code, shown.out) == (2, "")
    assert "--serve" in shown.err


def test_the_planner_page_is_served_until_it_is_stopped(tmp_path: Path) -> None:
    """A separate process, asked over the real network of this machine, and stopped as by Ctrl-C."""
    command = [sys.executable, "-c", "from stablesketch.cli import main; main()", "plan", "--serve"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", url)
        with urllib.request.urlopen(url, timeout=30) as answered:
            assert "Plan a private release" in answered.read().decode()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130, err
    assert "Ctrl-C" in err
