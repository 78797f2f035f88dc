"""The command line: `stablesketch release events.csv --key app --epsilon 1 --delta 1e-9`."""

from __future__ import annotations

import contextlib
import io
import os
import sys

from .. import __version__

__all__ = ["main"]


def main() -> None:
    """What the command `stablesketch` runs, and `python -m stablesketch`."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # at once, before any library is loaded
        with contextlib.suppress(OSError):  # the reader is gone
            os.write(1, f"stablesketch {__version__}\n".encode())
        return
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        print("The command line needs more libraries. Run: pip install 'stablesketch[cli]'", file=sys.stderr)
        sys.exit(1)
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        _open_closed_streams()
    try:
        from .app import run
        from .exits import stop_cleanly
    except KeyboardInterrupt:  # libraries are loading, nothing has begun
        sys.exit(130)
    stop_cleanly()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show ε must not cause an error
    sys.exit(run())


def _open_closed_streams() -> None:
    """Points closed standard streams (`>&-`) to nowhere; otherwise the next file opened would get their number."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  open as long as the process
