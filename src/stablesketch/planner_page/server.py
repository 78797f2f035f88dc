"""The page and its server: this machine only, and only for those who have its token.

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
from ..page import document, escaped
from ..page.server import PageHandler, PageServer
from ..statistic import STATISTICS, Statistic
from ..statistic.arguments import Argument
from .answer import answer

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
    return document(_TITLE, Template(body).substitute(statistics=_statistic_fields()), script)


def _statistic_fields() -> str:
    """A menu of all statistics that the command line offers, and the options of each, made from the registry. A script
    shows those of one.
    """
    kinds = [kind for kind in STATISTICS.values() if kind.on_command_line]
    offered = "".join(
        f"<option{' selected' if kind.usual else ''}{' data-people' if kind.of_people else ''}>"
        f"{escaped(kind.name)}</option>"
        for kind in kinds
    )
    own = "".join(_field(kind, argument) for kind in kinds for argument in kind.arguments)
    choice = f'<label for="statistic">statistic</label><select id="statistic">{offered}</select>'
    return f'<div class="field">{choice}</div>{own}'


def _field(kind: type[Statistic], argument: Argument) -> str:
    """One option of a statistic."""
    name, where = escaped(argument.option.name), escaped(f"{kind.name}-{argument.option.name}")
    if argument.choices:
        choices = "".join(f"<option>{escaped(each)}</option>" for each in argument.choices)
        entry = f'<select id="{where}" data-option="{name}">{choices}</select>'
    else:
        usual = escaped(argument.default or "0.5")
        entry = f'<input id="{where}" data-option="{name}" value="{usual}" size="8">'
    label = f'<label for="{where}">{name}</label>'
    return f'<div class="field option" data-statistic="{escaped(kind.name)}">{label}{entry}</div>'
