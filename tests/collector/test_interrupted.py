"""A collector that was interrupted while counting is refused: a pair that counts twice has half the protection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stablesketch as ss
from stablesketch.errors import CountInterrupted

HILL = ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-9), size=640)
SECRET = bytes(range(32))


def opened(shard: str) -> ss.Collector:
    return HILL.open(ss.Secret.from_bytes(SECRET), shard=shard)


def add(collector: ss.Collector) -> None:
    collector.update(["a", "b", "b"])


def add_folded(collector: ss.Collector) -> None:
    collector.add_folded(collector.fingerprint(["a", "b"]), np.array([1, 2]), 3)


def merge(collector: ss.Collector) -> None:
    other = opened("other")
    other.update(["a", "b", "b"])
    collector.merge(other)


AFTERWARDS: list[Callable[[ss.Collector], object]] = [add, merge, ss.Collector.to_bytes, ss.Collector.release]


def last_part(collector: ss.Collector) -> type:
    return type(collector._held()._states[-1])  # type: ignore[attr-defined]


@pytest.mark.parametrize("change", [add, add_folded, merge])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_between_two_parts(
    change: Callable[[ss.Collector], None], error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Hill number has two parts; the first has counted when the second is interrupted."""
    collector = opened("mine")
    collector.update(["x"])

    def interrupted(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(last_part(collector), change.__name__, interrupted)
        with pytest.raises(error):
            change(collector)
    for use in AFTERWARDS:
        with pytest.raises(CountInterrupted, match="interrupted while counting"):
            use(collector)


@pytest.mark.parametrize("change", [add, merge])
def test_after_the_last_part(change: Callable[[ss.Collector], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is noticed when the compiled core has returned: all was counted, and nobody can tell."""
    collector = opened("mine")
    later = last_part(collector)
    real = getattr(later, change.__name__)

    def interrupted(*arguments: Any, **named: Any) -> None:
        real(*arguments, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(later, change.__name__, interrupted)
        with pytest.raises(KeyboardInterrupt):
            change(collector)
    with pytest.raises(CountInterrupted):
        collector.release()


def test_bad_input_leaves_it_as_it_was() -> None:
    collector = opened("mine")
    collector.update(["a"])
    before = collector.to_bytes()
    with pytest.raises(ss.errors.ArgumentError):
        collector.update(["b"], [0])
    with pytest.raises(ss.errors.ArgumentError):
        collector.update(["b", None])
    assert collector.to_bytes() == before
    collector.update(["b"])
    assert collector.pairs == 2


def test_a_resumed_checkpoint_goes_on(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    collector = opened("mine")
    collector.update(["a"])
    collector.checkpoint(tmp_path / "c", offset=1)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(last_part(collector), "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            collector.update(["b"])
    with pytest.raises(CountInterrupted, match=r"Collector\.resume"):
        collector.checkpoint(tmp_path / "c", offset=2)
    again = ss.Collector.resume(tmp_path / "c", ss.Secret.from_bytes(SECRET))
    assert (again.offset, again.pairs) == (1, 1)
