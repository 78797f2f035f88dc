"""The program: its commands, its errors, its exit codes."""

from __future__ import annotations

import errno
import inspect
import logging
import os
import re
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.text import Text

from .. import __version__
from ..errors import StablesketchError, did_you_mean
from ..secret.paying import Payment, until_shown
from ..text.visible import visible
from .exits import Exit, exit_code, finishing, name_of, stopped_by
from .in_options import in_options
from .screen import drop, note, rendered, tell
from .with_examples import Group, WithExamples

_GROUPS = {"statistic", "read", "sizes"}  # parameters of commands that stand for several options

_HELP = "\n\n".join((  # one line each: the terminal breaks it
    "How varied is a stream? One private number, its uncertainty and its price.",
    "[bold]stablesketch release[/] events.csv --key app --epsilon 1 --delta 1e-9",
    "[bold]stablesketch demo[/] shows all of it in seconds.",
    "Exit codes: 0 done, 2 wrong command, 3 bad data, 4 the guarantee cannot be given, 5 bad file, 6 an "
    "audit refuted a claim, 7 released and paid for but not all of it shown or stored, 130 stopped before anything "
    "was paid.",
))  # fmt: skip

_COMMANDS = {
    "demo": "Try it on the words of Python's standard library: a private release, its report, and exact numbers.",
    "release": "Release one private number, or one per group, with its uncertainty and its price.",
    "monitor": "Release private numbers from a live stream, one for each window of time.",
    "plan": "Show the size, price and error of a release, from public numbers alone.",
    "pilot": "Choose how many rows of each person to use (--pairs-per-person), from public knowledge or privately.",
    "exact": "Compute the true value, which is [bold]not private[/] (release --mechanism exact is).",
    "sketch": "Collect data into a sketch that can be stored, merged and released.",
    "merge": "Merge the sketches of several shards. No secret is needed.",
    "inspect": "Show the plan, the size and the shards of a sketch, but no key and no value.",
    "audit": "Release neighbouring data sets many times and test whether they differ by more than the plan claims.",
    "ledger": "Keep a budget for all releases of the same data.",
    "secret": "Create a secret for shards to share.",
    "paper": "Reproduce the figures and theorems of the paper, with corrections: SVG, PNG, CSV and a report.",
    "help": "Show help for a command: stablesketch help release.",
}
"""What each command does. Its module has the same name and holds a function, or an `app` with its own commands."""


_COMPLETE = "_STABLESKETCH_COMPLETE"  # set by the shell when it wants to complete a command


def _version(wanted: bool) -> None:
    if wanted:
        print(f"stablesketch {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def program(only: str | None = None) -> typer.Typer:
    """All commands, with the options of all statistics registered so far.

    With `only`, all other commands are listed by name alone, so that their libraries are not loaded.
    """
    app = typer.Typer(
        name="stablesketch",
        cls=Group,
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        help=_HELP,
    )
    app.callback()(_main)
    for name, about in _COMMANDS.items():
        if name == "help" or only not in (name, None):
            app.command(name, help=about)(_listed)
        else:
            _add(app, name, about)
    return app


def _listed() -> None:
    """A command that is only listed by its name."""


def _add(app: typer.Typer, name: str, about: str) -> None:
    module = import_module(f".{name}", __package__)
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name, help=about)
        return
    command, examples = getattr(module, name), getattr(module, "EXAMPLES", None)
    if _GROUPS & inspect.signature(command).parameters.keys():
        from .option_groups import with_groups  # numpy, which other commands need not wait for

        command = with_groups(command)
    app.command(name, cls=WithExamples, help=about, epilog=examples)(command)


def _asked_command(arguments: Sequence[str]) -> str | None:
    """The command typed, or "" if there is none; None if the shell is completing a command line."""
    if _COMPLETE in os.environ:
        return None
    return next((each for each in arguments if not each.startswith("-")), "")


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; every error is one line that says what to do."""
    log, notes = logging.getLogger("stablesketch"), _Notes(logging.INFO)
    log.setLevel(logging.INFO)
    log.addHandler(notes)
    try:
        with until_shown(finishing) as payment:
            code = _code(arguments, payment)
            if payment.caught and payment.releases:
                name = name_of(payment.caught[0])
                note(f"{name} arrived when the release was already paid for, so it was finished first")
            payment.caught.clear()  # the command is at its end
            if arguments is None and payment.releases:
                payment.keep()  # the process has nothing left to do, so there is nothing left to stop
            return code
    finally:
        log.removeHandler(notes)


class _Notes(logging.Handler):
    """Shows what the package logs, such as what was found in a file, as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(getattr(record, "wording", record.getMessage()))


def _code(arguments: Sequence[str] | None, payment: Payment) -> int:
    try:
        typed = list(sys.argv[1:] if arguments is None else arguments)
        if typed[:1] == ["help"]:
            typed = [*typed[1:], "--help"]
        code = program(_asked_command(typed))(args=typed, prog_name="stablesketch", standalone_mode=False)
        if not payment.paid:  # what was paid for is out already, and flushed
            sys.stdout.flush()
        if code == Exit.STOPPED:
            raise KeyboardInterrupt  # typer turned it into an exit code
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
        _say(in_options(error.wording) + (f" {_lost(payment)}" if payment.paid else ""))
        return Exit.NOT_STORED if payment.paid else exit_code(error)
    except BrokenPipeError:
        drop(sys.stdout)  # the reader of the pipe is gone
        return Exit.DONE
    except SystemExit as leave:
        # Raised by rich when the reader of a pipe is gone, and by shell completion when it ends.
        return Exit.DONE if _COMPLETE not in os.environ else int(leave.code or 0)
    except Exception as error:
        if hasattr(error, "exit_code") and hasattr(error, "format_message"):  # a wrong command
            message = _unknown_option(error) or _unknown_choice(_plain(error)) + _way_for_a_file(error)
            if message:  # a command without arguments has already shown its help
                _say(message)
            return Exit.USAGE
        if isinstance(error, OSError) and not payment.paid and _is_output(error):
            drop(sys.stdout)
            _say(f"cannot write to standard output or to a temporary file ({error.strerror}). Nothing was spent.")
            return Exit.FILE
        if payment.paid:
            _say(_lost(payment))
        raise


_NO_NUMBER = "Input should be a valid number, unable to parse string as a number"  # in the words of pydantic


def _plain(error: Any) -> str:
    """The message in our own words, without what click, typer and pydantic add."""
    said = error.format_message().removeprefix("Invalid value: ").replace(": Value error, ", ": ")
    found = [each.get("input") for each in getattr(error.__context__, "errors", list)()]  # of pydantic
    typed = f"{found[0]!r} is not a number" if found else "must be a number"
    return str(said.replace(_NO_NUMBER, f"{typed}. Write 0.5 or 1e-9, for example."))


def _unknown_option(error: Any) -> str | None:
    """The message about an unknown option: which command has it, or what is spelt similarly."""
    wanted, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if wanted is None or context is None or type(error).__name__ != "NoSuchOption":
        return None
    here = _options_of(context.command)
    every: Any = typer.main.get_command(program())
    others = [name for name, command in every.commands.items() if wanted in _options_of(command)]
    if others:
        *first, last = others
        way_out = f"It is an option of stablesketch {', '.join(first)}{' and ' * bool(first)}{last}"
    else:
        way_out = did_you_mean(wanted, here) or f"See {context.command_path} --help"
    return f"{context.command_path} has no option {wanted}. {way_out}{'' if way_out.endswith('?') else '.'}"


def _unknown_choice(message: str) -> str:
    """The message with similar names, if something is not one of several choices."""
    found = re.search(r"'([^']*)' is not one of (.*)\.$", message)
    near = found and did_you_mean(found[1], re.findall(r"'([^']*)'", found[2]))
    return f"{message} {near}" if near else message


_WITH_A_FILE = {
    "stablesketch": "stablesketch release {} --key COLUMN --epsilon 1 --delta 1e-9",
    "stablesketch pilot": "stablesketch pilot private {} --person COLUMN --epsilon 0.1, or, without data, stablesketch "
    "pilot public --people N --rows N --epsilon 1 --delta 1e-9",
    "stablesketch ledger": "stablesketch ledger show {}",
    "stablesketch secret": "stablesketch secret new {}",
}


def _way_for_a_file(error: Any) -> str:
    """The command to type, if the user typed a file instead of a command."""
    found, context = (
        re.fullmatch(r"No such command '(.+[./].*)'\.", error.format_message()),
        getattr(error, "ctx", None),
    )
    way = _WITH_A_FILE.get(getattr(context, "command_path", ""))
    if found and way:
        return f" Try: {way.format(shlex.quote(found[1]))}."
    unknown = re.fullmatch(r"No such command '[^']*'\.", error.format_message())
    return f" See {context.command_path} --help." if unknown and context is not None else ""


def _options_of(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def _is_output(error: OSError) -> bool:
    """Whether writing to standard output failed: other errors know the name of their file."""
    return error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)


def _lost(payment: Payment) -> str:
    return f"No value was shown, but the budget was charged: {payment.in_words()}."


def _say(message: str) -> None:
    tell(rendered([Text.assemble(("Error: ", "bold red"), visible(message))], error=True))
