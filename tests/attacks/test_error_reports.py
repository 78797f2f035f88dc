"""What a program that reports errors would send: the variables of every function on the way. The secret is not in them.

An error is raised at every call that loading, saving, deriving and releasing make, in turn. Then the variables of all
functions of the library are searched, by repr and by walking through containers, attributes, slots, closures and bound
methods, for 16 bytes of the secret in a row: raw, in hexadecimal, in base64, as a number, as a list of numbers.
"""

from __future__ import annotations

import base64
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import pytest
from attack_tools import filled

import stablesketch as ss
from stablesketch.engines.secret_from import SecretFrom, check_absent
from stablesketch.secret.bits import Bits

BITS = bytes((i * 73 + 41) % 256 for i in range(32))
PIECE = 16


class Injected(Exception):
    """Raised where nobody expects it."""


def forms(bits: bytes) -> list[str]:
    """How 16 of these bytes in a row could stand in a text."""
    found = []
    for at in range(0, len(bits) - PIECE + 1):
        piece = bits[at : at + PIECE]
        found += [piece.hex(), piece.hex().upper(), repr(piece)[2:-1], str(list(piece))[1:-1]]
        found += [base64.b64encode(bytes(shift) + piece)[4:-4].decode() for shift in range(3)]
    for order in ("little", "big"):
        found.append(str(int.from_bytes(bits, order)))  # type: ignore[arg-type]
    return found


FORMS = forms(BITS)


def texts_of(thing: object, seen: set[int], depth: int = 0) -> list[str]:
    """All that a reporter could print of this, and of what it holds."""
    if id(thing) in seen or depth > 6 or isinstance(thing, type):
        return []
    seen.add(id(thing))
    try:
        texts = [repr(thing)]
    except Exception:  # half made, as the error found it
        texts = []
    if isinstance(thing, bytes | bytearray | memoryview):
        return [*texts, bytes(thing).decode("latin-1"), bytes(thing).hex()]
    held: list[object] = []
    if isinstance(thing, dict):
        held += [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        held += list(thing)
    held += list(getattr(thing, "__dict__", {}).values())
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        held += [
            getattr(thing, slot) for slot in ([slots] if isinstance(slots, str) else slots) if hasattr(thing, slot)
        ]
    held += [cell.cell_contents for cell in getattr(thing, "__closure__", None) or () if _full(cell)]
    if hasattr(thing, "__self__") and not isinstance(thing.__self__, type(sys)):
        held.append(thing.__self__)
    return texts + [text for each in held for text in texts_of(each, seen, depth + 1)]


def _full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def shown(trace: TracebackType | None) -> list[str]:
    """Where the secret shows: the functions of the library on the way, and their variables."""
    found = []
    while trace is not None:
        frame = trace.tb_frame
        if "stablesketch" in frame.f_code.co_filename and "attacks" not in frame.f_code.co_filename:
            for name, value in list(frame.f_locals.items()):
                text = "\n".join(texts_of(value, set()))
                if any(form in text for form in FORMS):
                    found.append(f"{frame.f_code.co_name}: {name}")
        trace = trace.tb_next
    return found


class Injection:
    """Raises at the n-th call into the library or out of it."""

    def __init__(self, at: int) -> None:
        self.at, self.seen = at, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        inside = "stablesketch" in frame.f_code.co_filename and "attacks" not in frame.f_code.co_filename
        if inside and event in ("call", "c_call", "c_return"):
            self.seen += 1
            if self.seen == self.at:
                raise Injected


def report_of(work: Callable[[], object], at: int) -> list[str] | None:
    """Where the secret shows if the work fails at this call; None if it does not come to it."""
    sys.setprofile(Injection(at))
    try:
        work()
    except BaseException as error:
        sys.setprofile(None)
        found, cause = [], error
        while cause is not None:
            found += shown(cause.__traceback__)
            cause = cause.__context__  # type: ignore[assignment]
        return found
    finally:
        sys.setprofile(None)
    return None


def load(folder: Path, plan: ss.Plan) -> object:
    return ss.Secret.load(folder / "key")


def save(folder: Path, plan: ss.Plan) -> object:
    ss.Secret.load(folder / "key").save(folder / "other")
    return None


def derive(folder: Path, plan: ss.Plan) -> object:
    return ss.Secret.load(folder / "key").child("FR").fingerprint


def release(folder: Path, plan: ss.Plan) -> object:
    collector = plan.open(ss.Secret.load(folder / "key"))
    return collector.release()


def with_ledger(folder: Path, plan: ss.Plan) -> object:
    collector = plan.open(ss.Secret.load(folder / "key"))
    return collector.release(ledger=ss.Ledger(folder / "budget.db", epsilon=3.0, delta=1e-6))


def look_for_it(folder: Path, plan: ss.Plan) -> object:
    check_absent(ss.Secret.load(folder / "key"), bytes(1000))
    return None


def from_environment(folder: Path, plan: ss.Plan) -> object:
    return SecretFrom.environment("A_SECRET").find()


def prepare(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    ss.Secret.from_bytes(BITS).save(folder / "key")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("work", [load, save, derive, release, with_ledger, look_for_it, from_environment])
def test_no_error_report_has_the_secret(
    work: Callable[[Path, ss.Plan], object], home: Path, plan: ss.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", BITS.hex())
    prepare(home)
    count = Injection(0)
    sys.setprofile(count)
    try:
        work(home, plan)
    finally:
        sys.setprofile(None)
    # A release makes thousands of calls, most of them in the ledger and in numerics: every so many of those.
    step = max(1, count.seen // int(os.environ.get("STABLESKETCH_INJECTIONS", "40")))
    reports = []
    for at in range(1, count.seen + 1, step):
        prepare(home)
        reports.append(report_of(lambda: work(home, plan), at))
    gc.collect()  # files that an error left open are closed here, where their warnings are expected
    print(len(reports), "errors")
    assert sum(report is not None for report in reports) >= 10
    assert [report for report in reports if report] == []


def test_the_search_finds_what_is_there() -> None:
    """The test of the test: each way to hold the bits is found."""
    holders: list[Any] = [BITS, bytearray(BITS), BITS.hex(), [BITS], {"a": (1, BITS)}, lambda: holders[0], BITS.hex]
    holders += [base64.b64encode(BITS).decode(), int.from_bytes(BITS, "big"), list(BITS), b"xx" + BITS[3:25]]
    for holder in holders:
        if holder is not holders[5]:
            assert any(form in "\n".join(texts_of(holder, set())) for form in FORMS), holder
    bits = Bits(lambda: BITS)
    assert not any(form in "\n".join(texts_of(bits, set())) for form in FORMS)


def test_what_was_given_is_not_reported_back() -> None:
    """Bits of a wrong length or type are in the hands of the caller already; the library does not keep them."""
    for given in (BITS + b"!", BITS[:-1], bytearray(BITS), BITS.hex()):
        with pytest.raises(ss.ArgumentError) as caught:
            ss.Secret.from_bytes(given)  # type: ignore[arg-type]
        assert shown(caught.value.__traceback__) == []


def test_a_paid_release_that_cannot_be_finished(home: Path, plan: ss.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the old code had the bits in two variables: a full disk while a secret is written or marked."""
    prepare(home)
    collector = filled(plan, ss.Secret.load(home / "key"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for work in (collector.release, lambda: collector.secret.save(home / "other")):
        with pytest.raises(ss.SecretFileError) as caught:
            work()
        error: BaseException | None = caught.value
        while error is not None:
            assert shown(error.__traceback__) == []
            error = error.__context__
