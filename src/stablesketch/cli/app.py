"""The program: its commands, its errors, its exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from .. import __version__
from ..errors import StablesketchError
from . import audit, demo, exact, inspect, ledger, merge, paper, plan, release, secret, sketch
from .exits import Exit, exit_code, in_options
from .screen import console

__all__ = ["app", "run"]

app = typer.Typer(
    name="stablesketch",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="""How varied is a stream? One private number, its uncertainty and its price.

    [bold]stablesketch release[/] events.csv --key app --p 0.5 --epsilon 1 --delta 1e-9

    [bold]stablesketch demo[/] shows all of it in seconds. Exit codes: 0 done, 2 wrong command, 3 bad data, 4 the
    guarantee cannot be given, 5 a file does not fit, 6 an audit refuted a claim, 130 stopped.""",
)


def _version(asked: bool) -> None:
    if asked:
        print(f"stablesketch {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


app.command("demo")(demo.demo)
app.command("plan", epilog=plan.EXAMPLES)(plan.plan)
app.command("release", epilog=release.EXAMPLES)(release.release)
app.command("sketch", epilog=sketch.EXAMPLES)(sketch.sketch)
app.command("merge")(merge.merge)
app.command("inspect")(inspect.inspect)
app.command("exact")(exact.exact)
app.command("audit")(audit.audit)
app.command("paper", epilog=paper.EXAMPLES)(paper.paper)
app.add_typer(secret.app, name="secret")
app.add_typer(ledger.app, name="ledger")


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; every error is one line that says what to do."""
    try:
        code = app(
            args=list(arguments) if arguments is not None else None, prog_name="stablesketch", standalone_mode=False
        )
        if code == Exit.STOPPED:
            raise KeyboardInterrupt  # which typer took for an exit code
        return int(code) if isinstance(code, int) else Exit.DONE
    except (KeyboardInterrupt, typer.Abort):
        _say("stopped: nothing was released and no file was left half-written")
        return Exit.STOPPED
    except typer.Exit as leave:
        return leave.exit_code
    except StablesketchError as error:
        _say(in_options(str(error)))
        return exit_code(error)
    except BrokenPipeError:
        # The reader of a pipe has left; what could not be written must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except Exception as error:
        if hasattr(error, "exit_code") and hasattr(error, "format_message"):  # a wrong command
            _say(error.format_message())
            return Exit.USAGE
        raise


def _say(message: str) -> None:
    text = Text.assemble(("Error: ", "bold red"), message)
    console(error=True).print(text, soft_wrap=True)
