"""The files of a release or a plan besides its numbers: a picture, and a page that explains it.

The budget is spent whether or not a picture can be drawn. Files are therefore opened, and disk space reserved, before
anything is spent, and the numbers are shown before anything is drawn (deliver.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import ArgumentError
from ..files.durable import Reserved
from ..page import check_page_path
from ..pictures import check_picture_path, drawn_measurement, picture_bytes, plan_picture
from ..pictures.style import need_matplotlib
from ..plan import Plan
from ..plan.mechanism import needs_promise
from ..report import check_registry_path
from .screen import note, write_new

_CHECKS = {"plot": check_picture_path, "report": check_page_path, "registry": check_registry_path}
_ROOM = 1 << 20  # bytes per file: enough for a page with a picture, or a table of several thousand groups


def check_new(**paths: Path | None) -> None:
    """Refuses files that cannot be written (plot, report, registry, output), before anything is spent."""
    given = {name: path for name, path in paths.items() if path is not None}
    for name, path in given.items():
        try:
            exists = path.exists() or path.is_symlink()
        except OSError as error:  # the name is too long, or the folder may not be read
            raise _unwritable(name, path, error) from None
        if exists:
            raise ArgumentError(name, str(path), "must be a new file", "This one already exists: choose another name")
        if not path.parent.is_dir():
            raise ArgumentError(
                name, str(path), "must be in an existing folder", "Create the folder first, or choose another place"
            )
        if name in _CHECKS:
            _CHECKS[name](path)
    if "plot" in given or "report" in given:
        need_matplotlib()
    places: dict[Path, str] = {}
    for name, path in given.items():
        if path.resolve() in places:
            raise ArgumentError(name, str(path), "must not be the same file as another output", "Choose another name")
        places[path.resolve()] = name


@contextlib.contextmanager
def reserved(**paths: Path | None) -> Iterator[dict[str, Reserved | None]]:
    """The files of a release, opened in their folders. Those not stored within the block are removed."""
    places: dict[str, Reserved | None] = {}
    try:
        for name, path in paths.items():
            try:
                places[name] = None if path is None else Reserved(path, _ROOM, public=True)
            except OSError as error:
                raise _unwritable(name, Path(str(path)), error) from None
        yield places
    finally:
        for place in places.values():
            if place is not None:
                place.discard()


def _unwritable(name: str, path: Path, error: OSError) -> ArgumentError:
    return ArgumentError(name, str(path), f"cannot be written ({error.strerror})", "Choose another place")


def keep_plan(plan: Plan, plot: Path | None) -> None:
    if plot is None:
        return
    note("drawing: this makes a dozen plans or so and takes a few seconds")
    title = f"A plan of {plan.statistic}"
    one = drawn_measurement(plan)
    itself = f", and against {one.statistic} itself" if one.statistic.relative else ""
    costs = "the error" if needs_promise(one) or one.expected else "the noise"
    alt = f"{title}: {costs} of {one.statistic} against ε, and the error against the size of the sketch{itself}."
    write_new(plot, picture_bytes(plan_picture(plan), plot, title, alt), public=True)
    note(f"written to {plot}")
