"""Where workers find a secret, and that what is sent to them does not contain it."""

from __future__ import annotations

import base64
import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest
from engine_streams import BITS, secret

import stablesketch as ss
from stablesketch.engines.failure import from_text, to_text
from stablesketch.engines.secret_from import SecretFrom, TheSecret, check_absent


def fetched() -> bytes:
    return BITS


def test_every_way_leads_to_the_secret(secret_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", BITS.hex() + "\n")
    for way in (
        SecretFrom.file(secret_file),
        SecretFrom.environment("A_SECRET"),
        SecretFrom.callable(fetched),
        SecretFrom.callable(secret),
        SecretFrom.broadcast(SimpleNamespace(value=BITS)),
    ):
        assert way.find() == secret()
        assert BITS.hex() not in repr(way)


def test_a_reference_is_pickled_without_the_secret(secret_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", BITS.hex())
    here = SecretFrom.this_process()
    for way in (SecretFrom.file(secret_file), SecretFrom.environment("A_SECRET"), here):
        raw = pickle.dumps(TheSecret(way, "nonce"))
        check_absent(way.find(), raw)
        check_absent(TheSecret(way, "nonce").find(), raw)
        assert pickle.loads(raw).find() == TheSecret(way, "nonce").find()


def test_what_is_not_there_is_told_without_showing_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHORT", "abcdef")
    for way, wanted in (
        (SecretFrom.environment("NOT_SET"), "NOT_SET is not set"),
        (SecretFrom.environment("SHORT"), "64 hexadecimal digits"),
        (SecretFrom.callable(lambda: b"abcdef"), "32 bytes"),  # type: ignore[arg-type, return-value]
        (SecretFrom("process", "of another process"), r"secret=SecretFrom\.file"),
    ):
        with pytest.raises(ss.SecretMissing, match=wanted) as caught:
            way.find()
        assert "abcdef" not in str(caught.value)
    with pytest.raises(ss.ArgumentError, match=r"name must .*got ''"):
        SecretFrom.environment("")
    with pytest.raises(ss.ArgumentError, match="must be callable"):
        SecretFrom.callable(BITS)  # type: ignore[arg-type]
    with pytest.raises(ss.ArgumentError, match="must be a broadcast variable"):
        SecretFrom.broadcast(BITS)


@pytest.mark.parametrize(
    "form",
    [BITS, BITS.hex().encode(), BITS.hex().upper().encode(), repr(BITS).encode(), base64.b64encode(BITS)]
    + [base64.b64encode(b"x" * before + BITS + b"after") for before in range(1, 6)],
)
def test_a_secret_that_would_be_sent_is_found(form: bytes) -> None:
    middle = len(form) // 2
    check_absent(secret(), b"before" + form[:middle] + form[middle + 1 :])  # a byte is missing, so this is not it
    with pytest.raises(ss.ArgumentError, match="fetch") as caught:
        check_absent(secret(), b"before" + form + b"after")
    assert BITS.hex() not in str(caught.value)


def test_one_reference_gives_every_release_a_secret_of_its_own(secret_file: Path) -> None:
    way = SecretFrom.file(secret_file)
    first, second = TheSecret(way, "1").find(), TheSecret(way, "2").find()
    assert first != second
    assert secret() not in (first, second)


def test_within_a_process_a_release_is_made_once() -> None:
    only = TheSecret(SecretFrom.this_process(), "n")
    only.spend(("FR",))
    only.spend(("DE",))
    with pytest.raises(ss.SecretSpent, match="new one"):
        only.spend(("FR",))


@pytest.mark.parametrize(
    "error", [ss.SecretMissing("no"), ss.DataError("f", "is bad", "Mend it", row=3), ss.ShardsMissing(["a"])]
)
def test_errors_of_workers_keep_type_and_message(error: ss.StablesketchError) -> None:
    again = from_text(to_text(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
