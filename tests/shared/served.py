"""The planner, served to this machine by a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from stablesketch.planner_page import PlannerServer


@contextmanager
def served() -> Iterator[PlannerServer]:
    with PlannerServer() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
