"""The page that shows the last windows and updates as they are released. It fetches nothing from elsewhere."""

from __future__ import annotations

import json
from importlib import resources
from string import Template

from ..page import document, escaped
from .board import Board
from .windows import in_units


def live_page(board: Board) -> str:
    """The whole page. Updates come from `/events`."""
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
