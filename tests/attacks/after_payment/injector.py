"""Runs the command once for every step it takes, and at that step lets something go wrong. A process of its own.

A server that has imported everything forks a child for each run; the child is the command itself, from `main` to its
exit code, with its standard streams in files. A step is a call that the command makes to files, streams or the
database, or the beginning of one of its own functions that pay, compute, show or store. Steps are counted by
`sys.setprofile`, so the same run always has the same steps.

    python injector.py FOLDER < job.json > results.json

A job is {"arguments": [...], "faults": {"ENOSPC": every, "SIGINT": every, ...}}: each fault at every n-th of its steps.
The first run of each has no fault, and says what steps there are.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

CALLS = {
    "write",
    "flush",
    "truncate",
    "fsync",
    "link",
    "replace",
    "unlink",
    "open",
    "close",
    "posix_fallocate",
    "execute",
}
OUTPUTS = CALLS - {"execute", "unlink"}  # of which an OSError may come
OWN = (
    "cli/release.py", "cli/deliver.py", "cli/app.py", "files/durable.py",
    "secret/paying.py", "secret/spending.py", "collector/collector.py", "collector/releasing.py", "ledger/ledger.py",
    "ledger/file.py", "secret/file.py", "report/report.py", "pictures/save.py",
)  # fmt: skip
PACKAGE = "stablesketch/"
ALL_OF = f"/{PACKAGE}release/"


class Injector:
    """Counts steps in this process; at step `at` lets the fault happen. `fault` "" counts alone."""

    def __init__(self, fault: str, at: int) -> None:
        self.fault, self.at = fault, at
        self.steps: list[str] = []
        self.quiet = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if self.quiet:
            return
        file = frame.f_code.co_filename
        if event == "call" and (file.endswith(OWN) or ALL_OF in file):
            step = f"{file[file.rindex(PACKAGE) + len(PACKAGE) :]}:{frame.f_code.co_name}"
            failing = False
        elif event == "c_call" and argument.__name__ in CALLS and not isinstance(argument.__self__, str | bytes):
            if PACKAGE not in file and not file.endswith("tempfile.py"):
                return
            step = f"{os.path.basename(file)}>{argument.__name__}"
            failing = argument.__name__ in OUTPUTS and not file.endswith("ledger/store.py")  # SQLite has its own errors
        else:
            return
        if self.fault.startswith("E") and not failing:
            return
        self.steps.append(step)
        if len(self.steps) == self.at:
            self.quiet = True
            if self.fault.startswith("SIG"):
                os.kill(os.getpid(), getattr(signal, self.fault))
                if self.fault == "SIGINT":
                    os.kill(os.getpid(), signal.SIGINT)  # people press it twice
            elif self.fault:
                raise OSError(getattr(errno, self.fault), os.strerror(getattr(errno, self.fault)))


def child(folder: Path, arguments: list[str], fault: str, at: int) -> None:
    """The command, as a process runs it."""
    for number, name in ((1, "out"), (2, "err")):
        handle = os.open(folder.parent / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # where nohup started the tests, it would be ignored
    sys.argv = ["stablesketch", *arguments]
    from stablesketch.cli import main

    injector = Injector(fault, at)
    code = 1
    sys.setprofile(injector)
    try:
        main()
    except SystemExit as leave:
        code = int(leave.code or 0)
    finally:
        sys.setprofile(None)
        if not at:
            (folder.parent / "steps").write_text(json.dumps(injector.steps))
        try:
            sys.stdout.flush()
        except OSError:
            code = 120  # as the interpreter has it
        os._exit(code)


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.exists() else ""


def run(folder: Path, arguments: list[str], fault: str, at: int) -> dict[str, Any]:
    """One run in a fresh copy of the template; what it left and what it said."""
    from stablesketch import Ledger, Secret

    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(folder.parent / "template", folder)
    before = {file.name for file in folder.iterdir()}
    process = os.fork()
    if process == 0:
        child(folder, arguments, fault, at)
    _, status = os.waitpid(process, 0)
    ledger = Ledger(folder / "budget.db")
    records = [{"number": one.number, "fingerprint": one.fingerprint} for one in ledger.records()]
    secret = folder / "s.key"
    return {
        "at": at,
        "code": os.waitstatus_to_exitcode(status),
        "out": read(folder.parent / "out"),
        "err": read(folder.parent / "err"),
        "records": records,
        "spent": secret.exists() and Secret.inspect(secret).spent,
        "files": {
            file.name: read(file)
            for file in folder.iterdir()
            if file.name not in before and not file.name.startswith("budget.db") and file.name != ".s.key.spent"
        },
    }


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    job = json.load(sys.stdin)
    import duckdb  # noqa: F401  before the forks, so that each does not import it again; nothing is opened here

    import stablesketch
    from stablesketch.cli.app import run as command

    gone = [name for name in OWN if not (Path(stablesketch.__file__).parent / name).exists()]
    assert not gone, f"no longer there, so nothing would go wrong in them: {gone}"

    # What is imported and computed once is remembered: a whole release that draws, in the server itself.
    shutil.copytree(folder / "template", folder / "warm")
    os.chdir(folder / "warm")
    warm = ["release", "a.ssk", "--secret", "s.key", "--ledger", "budget.db", "--plot", "p.svg", "--report", "r.html"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert command(warm) == 0

    found = {}
    for fault, every in job["faults"].items():
        whole = run(folder / "run", job["arguments"], fault, 0)
        steps = json.loads(read(folder / "steps"))
        results = [run(folder / "run", job["arguments"], fault, at) for at in range(1, len(steps) + 1, every)]
        for one in results:
            one["step"] = steps[one["at"] - 1]
        found[fault] = {"whole": whole, "results": results}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
