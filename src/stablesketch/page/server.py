"""What all page servers share: a thread for each request, strict headers, and no log."""

from __future__ import annotations

import errno
import socket
import socketserver
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from ..errors import ArgumentError


class PageServer(ThreadingHTTPServer):
    """Listens at an address until it is closed. `port` 0 takes any free port; errors call the port `argument`."""

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # after a restart; a port that is in use is still refused

    def __init__(self, host: str, port: int, handler: type[PageHandler], argument: str, given: object) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), handler)
        except OSError as error:
            used = error.errno == errno.EADDRINUSE
            must = "must be a free port" if used else f"cannot be used ({error.strerror})"
            raise ArgumentError(argument, given, must, f"Choose another {'port' if used else 'address'}") from None

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores a browser that closes its connection or sends nothing; reports any other error."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Binds the port without looking up the machine's name, as the base class would."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    @property
    def root(self) -> str:
        """The address to open in a browser."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}/"


class PageHandler(BaseHTTPRequestHandler):
    """Answers a path and its query. Every server has its own handler."""

    server_version = "stablesketch"
    sys_version = ""
    timeout = 30

    def answer(self, path: str, query: str) -> None:
        """Sends the page at this path."""
        raise NotImplementedError

    def do_GET(self) -> None:
        try:
            parts = urlsplit(self.path)
        except ValueError:
            return self.send(400, "text/plain", "not an address")
        return self.answer(parts.path, parts.query)

    def do_HEAD(self) -> None:
        """Answers probes that ask for the headers alone: `send` leaves out the rest."""
        self.do_GET()

    def send(self, status: int, kind: str, content: str | bytes, *, length: bool = True) -> None:
        """Sends a whole answer or, without its `length`, the beginning of one that continues."""
        data = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        self.send_header("Content-Type", kind if "charset" in kind else f"{kind}; charset=utf-8")
        if length:
            self.send_header("Content-Length", str(len(data)))
        for name, value in (
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
        ):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing: a request may contain a token."""
