"""Real outputs that fail: full devices, closed streams, folders that take nothing; and interrupts in Python."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from paid_commands import DATA

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.files.durable import Reserved
from stablesketch.reading.duckdb import DuckDB
from stablesketch.secret.paying import until_shown

COMMAND = [sys.executable, "-c", "from stablesketch.cli import main; main()"]
PAID = [*DATA, "--ledger", "budget.db"]


def releases(folder: Path) -> int:
    return len(ss.Ledger(folder / "budget.db"))


def test_a_full_standard_output_leaves_the_value_on_standard_error(template: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *PAID], cwd=template, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 7
    (value,) = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert value["record"] == releases(template) == 1
    assert "release 1 of the ledger budget.db" in done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_standard_output_and_error_leave_the_file_and_the_exit_code(template: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *PAID, "-o", "o.json"], cwd=template, stdout=full, stderr=full)
    assert done.returncode == 7
    assert json.loads((template / "o.json").read_text())["record"] == releases(template) == 1


def test_a_reader_that_has_left_does_not_take_the_value_with_it(template: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, *PAID, "--json"], cwd=template, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == 7
    assert "Broken pipe" in done.stderr
    assert [json.loads(line)["record"] for line in done.stderr.splitlines() if line.startswith("{")] == [1]


@pytest.mark.parametrize("more", [[], ["-o", "o.json"]])
def test_a_closed_standard_output_is_noticed_before_anything_is_paid(template: Path, more: list[str]) -> None:
    done = subprocess.run(
        [*COMMAND, *PAID, *more], cwd=template, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.close(1)
    )
    if more:
        assert (done.returncode, releases(template)) == (0, 1)
        assert json.loads((template / "o.json").read_text())["record"] == 1
    else:
        assert (done.returncode, releases(template)) == (2, 0)
        assert "standard output is closed" in done.stderr
        assert "-o FILE" in done.stderr


@pytest.mark.parametrize("option", ["-o", "--plot", "--report"])
def test_a_folder_that_takes_nothing_is_noticed_before_anything_is_paid(
    template: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    name = {"-o": "x.json", "--plot": "x.svg", "--report": "x.html"}[option]
    assert run([*PAID, option, f"/proc/{name}"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert releases(template) == 0


def test_a_disk_without_room_is_noticed_before_anything_is_paid(
    template: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        assert run([*PAID, "-o", "o.json"]) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "cannot be written (File too large)" in capsys.readouterr().err
    assert releases(template) == 0
    assert not [file for file in template.iterdir() if "o.json" in file.name]


def test_a_picture_that_cannot_be_drawn_hides_nothing(
    template: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("no such font")

    monkeypatch.setattr("stablesketch.cli.deliver.release_bytes", fails)
    code = run([*PAID, "--plot", "p.svg", "--report", "r.html", "-o", "o.json"])
    shown = capsys.readouterr()
    assert code == 7
    assert "F_0.5" in shown.out
    assert "p.svg was not written (no such font)" in shown.err
    assert {file.name for file in template.iterdir()} >= {"o.json", "r.html"}
    assert not [file for file in template.iterdir() if "p.svg" in file.name]


def test_a_name_as_long_as_names_may_be(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "x" * 250 + ".json"
    assert run([*DATA, "-o", name]) == 0
    assert (template / name).exists()
    assert run([*DATA, "-o", "x" * 300 + ".json"]) == 2
    assert "File name too long" in capsys.readouterr().err


def test_a_name_that_is_too_long_cannot_be_reserved(tmp_path: Path) -> None:
    """It was noticed by Path.exists alone, which since Python 3.14 says False of it: after the payment."""
    with pytest.raises(OSError, match="File name too long"):
        Reserved(tmp_path / ("x" * 300))
    assert not list(tmp_path.iterdir())


# --- Python ---


def interrupted_at(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, *, after: bool) -> None:
    """Ctrl-C, twice, before or after a function does its work."""
    whole = getattr(owner, name)

    def pressed(*args: Any, **kwargs: Any) -> Any:
        if not after:
            signal.raise_signal(signal.SIGINT)
        found = whole(*args, **kwargs)
        if after:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(owner, name, pressed)


def release(template: Path, **more: Any) -> Any:
    privacy = ss.Privacy(2.0, 1e-6, 300, relation="replace")
    ledger = ss.Ledger(template / "budget.db")
    return ss.release(template / "e.csv", ss.Moment(0.5), privacy, key="app", size=50, ledger=ledger, **more)


@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_during_payment_has_the_release(
    template: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    before = signal.getsignal(signal.SIGINT)
    interrupted_at(monkeypatch, ss.Ledger, "enter", after=after)
    with pytest.raises(ss.ReleaseInterrupted) as stopped:
        release(template)
    (only,) = stopped.value.releases
    assert only.record == releases(template) == 1
    assert f"{only.value:,.6g}" in str(stopped.value)
    assert "release 1 of the ledger budget.db" in str(stopped.value)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_of_a_table_has_all_groups(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_at(monkeypatch, ss.Ledger, "enter", after=True)
    privacy = ss.Privacy(2.0, 1e-6, 0, relation="add_remove")
    ledger = ss.Ledger(template / "budget.db")
    with pytest.raises(ss.ReleaseInterrupted) as stopped:
        ss.release(
            template / "e.csv", ss.Moment(0.5), privacy, key="app", size=50, by="country", groups=["FR", "DE"],
            ledger=ledger,
        )  # fmt: skip
    assert [one.group for one in stopped.value.releases] == [("FR",), ("DE",)]
    assert {one.release.record for one in stopped.value.releases} == {1}


def test_an_interrupt_before_payment_spends_nothing(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_at(monkeypatch, ss.Collector, "_check_ready", after=False)
    with pytest.raises(KeyboardInterrupt) as stopped:
        release(template)
    assert not isinstance(stopped.value, ss.ReleaseInterrupted)
    assert releases(template) == 0


def test_a_handler_of_your_own_is_called_when_the_value_is_there(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[int] = []
    interrupted_at(monkeypatch, ss.Ledger, "enter", after=True)
    before = signal.signal(signal.SIGINT, lambda number, _: called.append(number))
    try:
        assert release(template).record == 1
        assert called == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_error_after_payment_says_what_was_paid(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where the value is: it was recorded with the payment."""
    entered = ss.Ledger.enter

    def fails(*arguments: Any) -> None:
        entered(*arguments)
        raise MemoryError

    monkeypatch.setattr(ss.Ledger, "enter", fails)
    with pytest.raises(MemoryError):
        release(template)
    published = ss.Ledger(template / "budget.db").published(1)
    assert published is not None
    assert ss.Release.from_json(published).record == 1


def test_an_error_while_the_value_is_computed_costs_nothing(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stablesketch.mechanism.shared.state import SketchState

    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(SketchState, "release", fails)
    with pytest.raises(MemoryError) as broken:
        release(template)
    assert not hasattr(broken.value, "__notes__")
    assert len(ss.Ledger(template / "budget.db")) == 0


def test_in_another_thread_nothing_has_to_be_held(template: Path) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(release(template)))
    thread.start()
    thread.join()
    assert found[0].record == 1


def test_blocks_within_others_are_part_of_them() -> None:
    with until_shown() as outer, until_shown() as inner:
        assert inner is outer


def test_ctrl_c_within_a_query_is_an_interrupt() -> None:
    """Whether the signal comes before the query begins or within it. Uninterrupted it would take minutes."""
    with DuckDB() as engine:
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            engine.rows("select sum(range) from range(100000000000) where hash(range) % 7 = 1", "query")
