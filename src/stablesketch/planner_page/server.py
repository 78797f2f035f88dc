"""The server behind the page: this machine only, and only for those who have its token.

It listens on 127.0.0.1. Every request must carry the token, a fresh one of 256 bits for each start, and must name this
server as its host, so that no page of another site, nor another user of the machine, can ask it. It holds no data: it
computes plans from public numbers. What is asked is not logged.
"""

from __future__ import annotations

import json
import secrets
import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from string import Template
from urllib.parse import parse_qsl, urlsplit

from ..errors import ArgumentError
from ..page import document
from .answer import answer
from .form import statistic_fields

_LONGEST = 2_000  # characters of a request
_TITLE = "Plan a private release"


class PlannerServer(ThreadingHTTPServer):
    """Serves the page at `url` until it is closed. `port` 0 takes any that is free."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, port: int = 0) -> None:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
            raise ArgumentError("port", port, "must be between 0 and 65535", "Leave it out to use any free port")
        self.token = secrets.token_urlsafe(32)
        self.planning = threading.Lock()  # one plan at a time: they are work for a whole processor
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise ArgumentError(
                "port", port, f"cannot be used ({error.strerror})", "Leave it out to use any free port"
            ) from None

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that closes its connection, or says nothing, is no error; anything else is shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Takes the port. The name of the machine, which the base class looks up, is not asked for: nobody needs it."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    @property
    def url(self) -> str:
        """Where the page is, with the token. Whoever has it can open the page."""
        return f"http://127.0.0.1:{self.server_port}/?token={self.token}"


class _Handler(BaseHTTPRequestHandler):
    server: PlannerServer
    server_version = "stablesketch"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        if len(self.path) > _LONGEST:
            return self._send(414, "text/plain", "too long")
        hosts = {f"127.0.0.1:{self.server.server_port}", f"localhost:{self.server.server_port}"}
        if self.headers.get("Host") not in hosts:
            return self._send(403, "text/plain", "another host was asked for")
        parts = urlsplit(self.path)
        asked = dict(parse_qsl(parts.query, keep_blank_values=True))
        token = asked.pop("token", "")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            return self._send(403, "text/plain", "the token is missing or wrong: open the address that was printed")
        if parts.path == "/":
            return self._send(200, "text/html", _page())
        if parts.path == "/plan":
            with self.server.planning:
                told = answer(asked)
            return self._send(200, "application/json", json.dumps(told))
        return self._send(404, "text/plain", "there is no such page")

    def _send(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(content))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: requests have the token in them."""


def _page() -> str:
    folder = resources.files(__package__)
    body, script = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("planner.html", "planner.js"))
    return document(_TITLE, Template(body).substitute(statistics=statistic_fields()), script)
