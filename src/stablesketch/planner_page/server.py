"""The server behind the page: this machine only, and only for those who have its token.

It listens on 127.0.0.1. Every request must carry the token, which is 256 bits drawn afresh at each start, and must name
this server as its host. So neither a page of another site nor another user of the machine can use it. It holds no data:
it computes plans from public numbers. It does not log requests.
"""

from __future__ import annotations

import json
import secrets
import threading
from importlib import resources
from string import Template
from urllib.parse import parse_qsl

from ..numbers.checked import checked_whole
from ..page import document
from ..page.server import PageHandler, PageServer
from .answer import answer
from .form import statistic_fields

_LONGEST = 2_000  # characters of a request
_TITLE = "Plan a private release"


class PlannerServer(PageServer):
    """Serves the page at `url` until it is closed. `port` 0 takes any free port."""

    def __init__(self, port: int = 0) -> None:
        way_out, must = "Leave it out to use any free port", "must be between 0 and 65535"
        port = checked_whole("port", port, way_out, least=0, most=65535, must=must)
        self.token = secrets.token_urlsafe(32)
        self.planning = threading.Lock()  # one plan at a time: each keeps a whole processor busy
        super().__init__("127.0.0.1", port, _Handler, "port", port)

    @property
    def url(self) -> str:
        """The address of the page, with the token. Anyone who has it can open the page."""
        return f"{self.root}?token={self.token}"


class _Handler(PageHandler):
    server: PlannerServer

    def answer(self, path: str, query: str) -> None:
        if len(self.path) > _LONGEST:
            return self.send(414, "text/plain", "too long")
        hosts = {f"127.0.0.1:{self.server.server_port}", f"localhost:{self.server.server_port}"}
        if self.headers.get("Host") not in hosts:
            return self.send(403, "text/plain", "the request names another host")
        asked = dict(parse_qsl(query, keep_blank_values=True))
        token = asked.pop("token", "")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            return self.send(403, "text/plain", "the token is missing or wrong: open the printed address")
        if path == "/":
            return self.send(200, "text/html", _page())
        if path == "/plan":
            with self.server.planning:
                answered = answer(asked)
            return self.send(200, "application/json", json.dumps(answered))
        return self.send(404, "text/plain", "no such page")


def _page() -> str:
    folder = resources.files(__package__)
    body, script = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("planner.html", "planner.js"))
    return document(_TITLE, Template(body).substitute(statistics=statistic_fields()), script)
