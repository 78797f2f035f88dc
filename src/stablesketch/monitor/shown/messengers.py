"""Where alerts go: a command, a webhook, a file. None of them delays the monitor, however long it takes."""

from __future__ import annotations

import contextlib
import queue
import re
import shlex
import subprocess
import threading
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path

from ...errors import HIDDEN, ArgumentError

Messenger = Callable[[str], None]
_PATIENCE = 30.0  # seconds


def command(text: str) -> Messenger:
    """Runs a command for each alert, with its JSON on standard input. No shell is involved."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ArgumentError("alert_run", text, f"must be a command ({error})", "Close its quotes") from None
    if not words:
        raise ArgumentError("alert_run", text, "must not be empty", "Pass 'mail -s alert ops', for example")

    def run(alert: str) -> None:
        done = subprocess.run(
            words, input=alert.encode() + b"\n", timeout=_PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if done.returncode:
            raise OSError(f"{words[0]} ended with code {done.returncode}")

    return run


def webhook(address: str) -> Messenger:
    """Posts the JSON of each alert to an address. The address may contain a token, so no part of it is ever shown."""
    if not re.fullmatch(r"https?://[!-~]+", address) or not _host(address):
        raise ArgumentError(
            "alert_url", HIDDEN, "must be an address of printable ASCII that begins with http:// or https://",
            "Pass the address of the webhook, with other characters percent-encoded",
        )  # fmt: skip
    import urllib.error  # it imports HTTP, TLS and mail, which only webhooks need
    import urllib.request

    class NotElsewhere(urllib.request.HTTPRedirectHandler):
        """Refuses redirects: an alert goes to the given address, or is reported as failed."""

        def redirect_request(self, *_: object) -> None:
            return None

    opener = urllib.request.build_opener(NotElsewhere)

    def post(alert: str) -> None:
        request = urllib.request.Request(address, alert.encode(), {"Content-Type": "application/json"}, method="POST")
        try:
            opener.open(request, timeout=_PATIENCE).close()
        except urllib.error.HTTPError as error:
            raise OSError(f"the webhook answered {error.code}") from None
        except OSError:
            raise OSError("the webhook does not answer") from None
        except Exception:  # http.client and urllib quote the address in other errors
            raise OSError("the webhook did not answer in HTTP") from None

    return post


def _host(address: str) -> str | None:
    try:
        parts = urllib.parse.urlsplit(address)
        return parts.hostname if parts.port != 0 else None  # an invalid port raises ValueError
    except ValueError:
        return None


def json_lines(path: Path) -> Messenger:
    """Appends each alert to a file."""
    try:
        path.open("ab").close()
    except OSError as error:
        raise ArgumentError("alert_out", str(path), f"cannot be written ({error.strerror})", "Choose another") from None

    def append(alert: str) -> None:
        with path.open("ab", buffering=0) as file:
            file.write(alert.encode() + b"\n")

    return append


class Post:
    """Hands alerts to all messengers, in its own thread. An alert that cannot be delivered is not tried again."""

    def __init__(self, messengers: Sequence[Messenger], say: Callable[[str], None]) -> None:
        self._messengers, self._say = messengers, say
        self._waiting: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def __call__(self, alert: str) -> None:
        self._waiting.put(alert)

    def close(self) -> None:
        """Waits until everything is delivered, at most half a minute for each messenger."""
        self._waiting.put(None)
        self._thread.join(timeout=_PATIENCE * max(1, len(self._messengers)))

    def _work(self) -> None:
        while (alert := self._waiting.get()) is not None:
            for messenger in self._messengers:
                try:
                    messenger(alert)
                except Exception as error:  # whatever happens, the next alert must be delivered
                    with contextlib.suppress(Exception):
                        self._say(f"an alert could not be delivered: {_reason(error)}")


def _reason(error: Exception) -> str:
    """The reason, without any part of a command or an address, which may contain a token."""
    if isinstance(error, subprocess.TimeoutExpired):
        return "the command took too long"
    return str(error) if isinstance(error, OSError) else f"unexpected {type(error).__name__}"
