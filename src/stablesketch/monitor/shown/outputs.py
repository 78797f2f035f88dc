"""What a monitor shows besides its records, at addresses: a page and metrics of what was released for everyone who can
reach them, exact counters for this machine only; and a text file.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
import threading
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from string import Template
from typing import ClassVar

from ...errors import ArgumentError
from ...page import document, escaped
from ...page.server import PageHandler, PageServer
from ..monitor import Monitor
from ..state.outbox import Sink
from ..watch import Watch
from ..windows import in_units
from .alerts import Judge
from .board import Board
from .metrics import ExactMetrics, ReleasedMetrics, TextFile, exposed

_STREAMS = 100  # pages that may be open at once
_HEARTBEAT = 10.0  # seconds


class Outputs:
    """Reserves its ports at once, so that a port in use is noticed before anything is read. Answers from `begin` to
    `close`.
    """

    def __init__(self, listen: str | None, listen_private: str | None, textfile: Path | None) -> None:
        self._textfile = textfile
        self.released: ReleasedListener | None = None
        self._exact: ExactListener | None = None
        self._board: Board | None = None
        try:
            if listen is not None:
                self.released = ReleasedListener(listen)
            if listen_private is not None:
                self._exact = ExactListener(listen_private)
        except BaseException:
            self.close()
            raise

    def sinks(
        self, watch: Watch, judge: Judge, before: Mapping[int, str], say: Callable[[str], None],
        budget: float | None = None,
    ) -> list[Sink]:  # fmt: skip
        """The sinks, which must get every record; `before` are records of an earlier run, `budget` is a ledger's."""
        if self.released is None and self._textfile is None:
            return []
        self._board = Board(watch, judge, before, budget)
        metrics = ReleasedMetrics(self._board)
        if self.released is not None:
            self.released.board, self.released.metrics = self._board, metrics
        return [self._board, *([TextFile(self._textfile, metrics, say)] if self._textfile is not None else [])]

    @property
    def addresses(self) -> list[str]:
        """The addresses, in words."""
        shown = [f"the live page: {self.released.root}"] if self.released is not None else []
        exact = [f"exact counts, not private: {self._exact.root}metrics"] if self._exact is not None else []
        return shown + exact

    def begin(self, monitor: Monitor) -> None:
        """Starts answering about this monitor."""
        if self.released is not None:
            self.released.monitor = monitor
        if self._exact is not None:
            self._exact.metrics = ExactMetrics(monitor)
        for each in self._listeners():
            each.begin()

    def close(self) -> None:
        """Frees the ports."""
        if self._board is not None:
            self._board.close()
        for each in self._listeners():
            each.close()

    def _listeners(self) -> list[Listener]:
        return [each for each in (self.released, self._exact) if each is not None]


def address(argument: str, text: str) -> tuple[str, int]:
    """An address and a port as users type them: 127.0.0.1:9464, [::1]:9464, 0.0.0.0:9464."""
    match = re.fullmatch(r"(\[[^\]]+\]|[^:\[\]]+):(\d{1,5})", text)
    if match is not None and int(match[2]) <= 65535:
        with contextlib.suppress(ValueError):
            name = match[1].strip("[]").replace("localhost", "127.0.0.1")
            return str(ipaddress.ip_address(name)), int(match[2])
    raise ArgumentError(argument, text, "must be an IP address and a port", "Pass 127.0.0.1:9464, for example")


class Listener(PageServer):
    """A port that is reserved at once, and answers from `begin` to `close`."""

    _began = False

    def begin(self) -> None:
        """Starts answering, in its own threads."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        self._began = True

    def close(self) -> None:
        """Stops answering, and frees the port."""
        if self._began:
            self.shutdown()
        self.server_close()


class ReleasedListener(Listener):
    """`/`, `/events`, `/metrics`, `/healthz` and `/readyz`: what was released, notes, and whether it runs."""

    board: Board
    metrics: ReleasedMetrics
    monitor: Monitor

    def __init__(self, text: str) -> None:
        super().__init__(*address("listen", text), _Released, "listen", text)
        self.streams = threading.BoundedSemaphore(_STREAMS)


class ExactListener(Listener):
    """`/metrics`: exact counts, on a loopback address only.

    A page of another site could resolve its own host name to this machine (DNS rebinding) and read them in a browser
    that runs here. A request must therefore name a loopback address as its host.
    """

    metrics: ExactMetrics

    def __init__(self, text: str) -> None:
        host, port = address("listen_private", text)
        if not ipaddress.ip_address(host).is_loopback:
            raise ArgumentError(
                "listen_private", text, "must be on this machine, because exact counts are not private",
                "Pass a loopback address: 127.0.0.1:9465, for example",
            )  # fmt: skip
        super().__init__(host, port, _Exact, "listen_private", text)


class _Released(PageHandler):
    server: ReleasedListener

    def answer(self, path: str, query: str) -> None:
        known = self._ANSWERS.get(path)
        if known is None:
            return self.send(404, "text/plain", "no such page: try /, /metrics, /healthz or /readyz\n")
        return known(self)

    def _page(self) -> None:
        self.send(200, "text/html", live_page(self.server.board))

    def _metrics(self) -> None:
        content, kind = exposed(self.server.metrics, self.headers.get("Accept", ""))
        self.send(200, kind, content)

    def _health(self) -> None:
        alive = self.server.monitor.alive
        self.send(200 if alive else 503, "text/plain", "alive\n" if alive else "no checkpoint for a minute\n")

    def _ready(self) -> None:
        ready = self.server.monitor.ready
        said = "ready\n" if ready else "not reading yet, or a release cannot be stored: see the output of the monitor\n"
        self.send(200 if ready else 503, "text/plain", said)

    def _events(self) -> None:
        """Server-sent events: all windows at first, then each as it is released."""
        if not self.server.streams.acquire(blocking=False):
            return self.send(503, "text/plain", f"{_STREAMS} pages are already open\n")
        try:
            self.send(200, "text/event-stream", "retry: 2000\n\n", length=False)
            number, board = 0, self.server.board
            while not board.closed and self.command == "GET":
                number, content = board.after(number, _HEARTBEAT)
                self.wfile.write(f"data: {content}\n\n".encode() if content else b": still here\n\n")
        finally:
            self.server.streams.release()

    _ANSWERS: ClassVar[dict[str, Callable[[_Released], None]]] = {
        "/": _page, "/metrics": _metrics, "/healthz": _health, "/readyz": _ready, "/events": _events,
    }  # fmt: skip


class _Exact(PageHandler):
    server: ExactListener

    def answer(self, path: str, query: str) -> None:
        if not _names_loopback(self.headers.get("Host", "")):
            return self.send(403, "text/plain", "another host was asked for\n")
        if path != "/metrics":
            return self.send(404, "text/plain", "no such page: try /metrics\n")
        content, kind = exposed(self.server.metrics, self.headers.get("Accept", ""))
        return self.send(200, kind, content)


def _names_loopback(host: str) -> bool:
    name = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
    try:
        return name == "localhost" or ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def live_page(board: Board) -> str:
    """The page that shows the last windows. It fetches nothing from elsewhere; updates come from `/events`."""
    watch = board.watch
    names = [" ".join(filter(None, [str(point), f"({point.unit})" if point.unit else ""])) for point in board.points]
    promise = watch.promise[:1].upper() + watch.promise[1:]
    title = watch.plans[0].statistic.topic.asked(board.subject, None)
    about = {"names": names, "confidence": f"{100 * watch.confidence:g}%"}
    folder = resources.files(__package__)
    body, script = (folder.joinpath(f"live_page.{end}").read_text(encoding="utf-8") for end in ("html", "js"))
    filled = Template(body).substitute(
        title=escaped(title), about=escaped(json.dumps(about)), promise=escaped(promise),
        every=in_units(watch.windows.every), confidence=about["confidence"],
    )  # fmt: skip
    return document(title, filled, script)
