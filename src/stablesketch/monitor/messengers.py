"""Where alerts go: a command, a webhook, a file. None of them stops the monitor, however long it takes."""

from __future__ import annotations

import queue
import shlex
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import ArgumentError

Messenger = Callable[[str], None]
_PATIENCE = 30.0  # seconds


def command(text: str) -> Messenger:
    """Runs a command for each alert, which gets its JSON on standard input. No shell is in between."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ArgumentError("alert_run", text, f"not a command ({error})", "Close its quotes") from None
    if not words:
        raise ArgumentError("alert_run", text, "the command is empty", "Pass 'mail -s alert ops', for example")

    def run(alert: str) -> None:
        done = subprocess.run(
            words, input=alert.encode() + b"\n", timeout=_PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if done.returncode:
            raise OSError(f"{words[0]} ended with code {done.returncode}")

    return run


def webhook(address: str) -> Messenger:
    """Posts the JSON of each alert to an address. The address may hold a token, so it is never shown."""
    if not address.startswith(("http://", "https://")):
        raise ArgumentError(
            "alert_url", "...", "must begin with http:// or https://", "Pass the address of the webhook"
        )

    def post(alert: str) -> None:
        request = urllib.request.Request(address, alert.encode(), {"Content-Type": "application/json"}, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE):
                pass
        except urllib.error.HTTPError as error:
            raise OSError(f"the webhook answered {error.code}") from None
        except OSError:
            raise OSError("the webhook does not answer") from None

    return post


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
    """Hands alerts to all messengers, from a thread of its own. One that cannot be delivered is not tried again."""

    def __init__(self, messengers: Sequence[Messenger], say: Callable[[str], None]) -> None:
        self._messengers, self._say = messengers, say
        self._waiting: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def __call__(self, alert: str) -> None:
        self._waiting.put(alert)

    def close(self) -> None:
        """Waits until all that was handed over is delivered, or half a minute for each messenger."""
        self._waiting.put(None)
        self._thread.join(timeout=_PATIENCE * max(1, len(self._messengers)))

    def _work(self) -> None:
        while (alert := self._waiting.get()) is not None:
            for messenger in self._messengers:
                try:
                    messenger(alert)
                except (OSError, subprocess.SubprocessError) as error:
                    self._say(f"an alert could not be delivered: {_reason(error)}")


def _reason(error: Exception) -> str:
    return "the command took too long" if isinstance(error, subprocess.TimeoutExpired) else str(error)
