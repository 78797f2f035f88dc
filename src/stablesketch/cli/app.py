"""The program: its commands, its errors, its exit codes."""

from __future__ import annotations

import difflib
import errno
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from .. import __version__
from ..errors import StablesketchError
from ..paying import Payment, until_shown
from ..visible import visible
from . import audit, demo, exact, inspect, ledger, merge, monitor, paper, plan, release, secret, sketch
from .exits import Exit, exit_code, in_options
from .screen import drop, note, rendered, tell
from .signals import finishing, name_of, stopped_by
from .statistic_options import with_statistic

_HELP = """How varied is a stream? One private number, its uncertainty and its price.

    [bold]stablesketch release[/] events.csv --key app --p 0.5 --epsilon 1 --delta 1e-9

    [bold]stablesketch demo[/] shows all of it in seconds. Exit codes: 0 done, 2 wrong command, 3 bad data, 4 the
    guarantee cannot be given, 5 a file does not fit, 6 an audit refuted a claim, 7 released and paid for but not all
    of it shown or stored, 130 stopped before anything was paid."""


def _version(asked: bool) -> None:
    if asked:
        print(f"stablesketch {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def program() -> typer.Typer:
    """All commands, with the options of all statistics that are registered by now."""
    app = typer.Typer(
        name="stablesketch",
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        help=_HELP,
    )
    app.callback()(_main)
    app.command("demo")(demo.demo)
    app.command("plan", epilog=plan.EXAMPLES)(with_statistic(plan.plan))
    app.command("release", epilog=release.EXAMPLES)(with_statistic(release.release))
    app.command("monitor", epilog=monitor.EXAMPLES)(with_statistic(monitor.monitor))
    app.command("sketch", epilog=sketch.EXAMPLES)(sketch.sketch)
    app.command("merge")(merge.merge)
    app.command("inspect")(inspect.inspect)
    app.command("exact")(with_statistic(exact.exact))
    app.command("audit")(audit.audit)
    app.command("paper", epilog=paper.EXAMPLES)(paper.paper)
    app.add_typer(secret.app, name="secret")
    app.add_typer(ledger.app, name="ledger")
    return app


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; every error is one line that says what to do."""
    with until_shown(finishing) as payment:
        code = _run(arguments, payment)
        if payment.caught and payment.releases:
            note(f"{name_of(payment.caught[0])} came when the release was paid for, so it was finished first")
        payment.caught.clear()  # the command is at its end
        if arguments is None and payment.releases:
            payment.keep()  # a process with nothing left to do: there is nothing to stop any more
        return code


def _run(arguments: Sequence[str] | None, payment: Payment) -> int:
    try:
        code = program()(
            args=list(arguments) if arguments is not None else None, prog_name="stablesketch", standalone_mode=False
        )
        if code == Exit.STOPPED:
            raise KeyboardInterrupt  # which typer took for an exit code
        return int(code) if isinstance(code, int) else Exit.DONE
    except (KeyboardInterrupt, typer.Abort):
        if payment.paid:
            _say(f"stopped by {name_of(stopped_by())}. {_lost(payment)}")
            return Exit.NOT_STORED
        _say("stopped: nothing was released, nothing spent, and no file was left half-written")
        return 128 + stopped_by()
    except typer.Exit as leave:
        return leave.exit_code
    except StablesketchError as error:
        _say(in_options(str(error)) + (f" {_lost(payment)}" if payment.paid else ""))
        return Exit.NOT_STORED if payment.paid else exit_code(error)
    except BrokenPipeError:
        drop(sys.stdout)  # the reader of a pipe has left
        return Exit.DONE
    except Exception as error:
        if hasattr(error, "exit_code") and hasattr(error, "format_message"):  # a wrong command
            message = _unknown_option(error) or _plain(error.format_message())
            if message:  # a command without arguments has shown its help, and has no more to say
                _say(message)
            return Exit.USAGE
        if isinstance(error, OSError) and not payment.paid and _is_output(error):
            drop(sys.stdout)
            _say(f"writing failed ({error.strerror}): standard output, or a temporary file. Nothing was spent.")
            return Exit.FILE
        if payment.paid:
            _say(_lost(payment))
        raise


def _plain(message: str) -> str:
    """Without the words that the libraries below put before what is said here."""
    return message.removeprefix("Invalid value: ").replace(": Value error, ", ": ")


def _unknown_option(error: Any) -> str | None:
    """What to say of an option that a command has not: whose it is, or what is spelt nearly so."""
    wanted, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if wanted is None or context is None or type(error).__name__ != "NoSuchOption":
        return None
    here = _options_of(context.command)
    others = [name for name, command in context.find_root().command.commands.items() if wanted in _options_of(command)]
    if wanted in ("--person", "--pairs-per-person", "--groups") and context.info_name == "exact":
        way_out = "exact reads every row as it is and bounds nobody. Leave it out, or use stablesketch release"
    elif others:
        way_out = f"It is an option of stablesketch {', '.join(others)}"
    else:
        close = difflib.get_close_matches(wanted, here, n=3, cutoff=0.7)
        way_out = f"Did you mean {' or '.join(close)}?" if close else f"See {context.command_path} --help"
    return f"{context.command_path} has no option {wanted}. {way_out}{'' if way_out.endswith('?') else '.'}"


def _options_of(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def _is_output(error: OSError) -> bool:
    """Whether a write without a file name failed: of files, errors know the name."""
    return error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)


def _lost(payment: Payment) -> str:
    return f"No value was shown, but the budget was charged: {payment.in_words()}."


def _say(message: str) -> None:
    tell(rendered([Text.assemble(("Error: ", "bold red"), visible(message))], error=True))
