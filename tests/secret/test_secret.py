"""The secret: kept in a file only its owner may read, compared, derived from, and never shown."""

from __future__ import annotations

import copy
import errno
import hashlib
import hmac
import os
import pickle
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stablesketch import ArgumentError, ArgumentTypeError, Secret, SecretFileError, SecretNotPicklable, Sketch

BITS = bytes(range(32))
SECRET = Secret.from_bytes(BITS)

posix_only = pytest.mark.skipif(os.name != "posix", reason="file modes are a matter of POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stream.secret"


# --- making one ---


def test_fresh_secrets_differ() -> None:
    assert len({Secret.generate().fingerprint for _ in range(100)}) == 100


def test_equal_means_the_same_bits() -> None:
    assert Secret.from_bytes(BITS) == SECRET
    assert Secret.generate() != SECRET
    assert SECRET != BITS
    assert SECRET != "<Secret>"


def test_a_secret_is_not_made_by_calling_the_class() -> None:
    with pytest.raises(ArgumentTypeError, match=r"Secret\.generate\(\)"):
        Secret()


@pytest.mark.parametrize("bits", [b"", b"short", bytes(31), bytes(33), bytes(64)])
def test_a_secret_has_32_bytes(bits: bytes) -> None:
    with pytest.raises(ArgumentError, match=rf"len\(bits\) must be 32, got {len(bits)}"):
        Secret.from_bytes(bits)


@pytest.mark.parametrize("bits", ["0" * 32, bytearray(32), list(range(32)), 0, None, SECRET])
def test_a_secret_is_made_of_bytes(bits: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="must be bytes"):
        Secret.from_bytes(bits)


# --- deriving keys ---


def test_derived_keys_are_hmac_sha256_of_the_purpose() -> None:
    expected = hmac.new(BITS, b"stablesketch/1/some purpose", hashlib.sha256).digest()
    assert SECRET.derive("some purpose") == expected
    assert SECRET.derive("some purpose", 16) == expected[:16]


def test_every_purpose_has_a_key_of_its_own() -> None:
    purposes = ["identity", "file", "entries/p=0x1.0000000000000p-1", "fingerprint/TEXT", ""]
    assert len({SECRET.derive(purpose) for purpose in purposes}) == len(purposes)
    assert SECRET.fingerprint == SECRET.derive("identity")[:8]


# --- the file ---


@settings(max_examples=20)
@given(bits=st.binary(min_size=32, max_size=32))
def test_save_and_load(tmp_path_factory: pytest.TempPathFactory, bits: bytes) -> None:
    path = tmp_path_factory.mktemp("secrets") / "one"
    Secret.from_bytes(bits).save(path)
    assert Secret.load(path) == Secret.from_bytes(bits)
    assert Secret.load(str(path)) == Secret.load(path)


def test_a_saved_secret_updates_the_old_sketch(path: Path) -> None:
    sketch = Sketch(p=0.5, size=10, law="symmetric")
    sketch.secret.save(path)
    later = Sketch.from_bytes(sketch.to_bytes(), Secret.load(path))
    later.update(["a"])
    sketch.update(["a"])
    assert later.to_bytes() == sketch.to_bytes()


@posix_only
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_may_read_the_file(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        SECRET.save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_nlink == 1


def test_save_never_replaces_a_file(path: Path) -> None:
    SECRET.save(path)
    with pytest.raises(SecretFileError, match="already exists"):
        Secret.generate().save(path)
    assert Secret.load(path) == SECRET
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@posix_only
def test_save_does_not_follow_a_link_to_somewhere_else(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")
    with pytest.raises(SecretFileError, match="already exists"):
        SECRET.save(path)
    assert not (path.parent / "elsewhere").exists()


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_save_that_fails_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """The disk is full, or the file system does not take part: neither half a secret nor a temporary file remains."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(SecretFileError, match="No space left on device"):
        SECRET.save(path)
    assert list(path.parent.iterdir()) == []


def test_the_file_appears_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the bytes are on the disk, nothing has the name of the file."""
    seen: list[bool] = []
    fsync = os.fsync

    def watch(handle: int) -> None:
        seen.append(path.exists())
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watch)
    SECRET.save(path)
    assert seen[0] is False


def test_no_folder_no_file(tmp_path: Path) -> None:
    with pytest.raises(SecretFileError, match="No such file or directory"):
        SECRET.save(tmp_path / "missing" / "secret")
    with pytest.raises(SecretFileError, match="No such file or directory"):
        Secret.load(tmp_path / "missing")
    with pytest.raises(SecretFileError, match="directory"):
        Secret.load(tmp_path)


@posix_only
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o620, 0o602, 0o777, 0o610])
def test_a_file_that_others_may_touch_is_refused(path: Path, mode: int) -> None:
    SECRET.save(path)
    path.chmod(mode)
    with pytest.raises(SecretFileError, match=rf"has mode {mode:04o}.*chmod 600"):
        Secret.load(path)
    path.chmod(0o400)
    assert Secret.load(path) == SECRET


FOREIGN: dict[str, bytes] = {
    "empty": b"",
    "text": b"correct horse battery staple\n",
    "bits alone": BITS,
    "hexadecimal alone": BITS.hex().encode() + b"\n",
    "another version": b"stablesketch-secret 2\n" + BITS.hex().encode() + b"\n",
    "not ASCII": "stablesketch-secret ①\n".encode(),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_another_kind_is_refused(path: Path, kind: str) -> None:
    path.write_bytes(FOREIGN[kind])
    path.chmod(0o600)
    with pytest.raises(SecretFileError, match="not a stablesketch secret file"):
        Secret.load(path)


def test_a_damaged_file_is_refused(path: Path) -> None:
    SECRET.save(path)
    whole = path.read_bytes()
    first_line = whole.index(b"\n") + 1
    damaged = [whole[:length] for length in range(first_line, len(whole))] + [whole + b"\n", whole + whole]
    for at in range(first_line, len(whole) - 1):
        damaged.append(whole[:at] + (b"0" if whole[at : at + 1] != b"0" else b"1") + whole[at + 1 :])
        damaged.append(whole[:at] + b"\xff" + whole[at + 1 :])
    path.unlink()
    path.touch(0o600)
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(SecretFileError, match="damaged"):
            Secret.load(path)


# --- never shown ---


def forms(bits: bytes) -> list[str]:
    """How 32 bytes, or the first eight of them, could show up in a text."""
    return [form for part in (bits, bits[:8]) for form in (part.hex(), repr(part)[2:-1], str(list(part)), str(part))]


SHOWN: dict[str, Callable[[Secret], object]] = {
    "repr": repr,
    "str": str,
    "format": format,
    "f-string": lambda secret: f"{secret} {secret!r} {secret!s:>40}",
    "percent": lambda secret: "%s %r" % (secret, secret),  # noqa: UP031
    "in a container": lambda secret: repr({"secret": [secret]}),
    "dir": dir,
    "docstring": lambda secret: secret.__doc__,
    "fingerprint": lambda secret: secret.fingerprint.hex(),
    "size": sys.getsizeof,
}


@pytest.mark.parametrize("way", SHOWN)
def test_nothing_shows_the_bits(way: str) -> None:
    shown = str(SHOWN[way](SECRET))
    for form in forms(BITS):
        assert form not in shown


def test_errors_do_not_show_the_bits(path: Path) -> None:
    SECRET.save(path)
    wrong: list[Callable[[], object]] = [
        lambda: Secret.from_bytes(BITS + b"!"),
        lambda: Secret.from_bytes(bytearray(BITS)),  # type: ignore[arg-type]
        lambda: SECRET.save(path),
        lambda: pickle.dumps(SECRET),
        lambda: Sketch(0.5, SECRET, law="symmetric"),  # type: ignore[arg-type]
        lambda: Sketch(0.5, 5, BITS, law="symmetric"),  # type: ignore[arg-type]
        lambda: Sketch(0.5, 5, SECRET, law="symmetric").merge(SECRET),  # type: ignore[arg-type]
        lambda: Sketch.from_bytes(Sketch(0.5, 5, law="symmetric").to_bytes(), SECRET),
        lambda: Sketch.from_bytes(Sketch(0.5, 5, law="symmetric").to_bytes(), BITS),  # type: ignore[arg-type]
        lambda: Sketch(0.5, 5, SECRET, law="symmetric").update([SECRET]),
        lambda: hash(SECRET),
    ]
    for call in wrong:
        with pytest.raises(Exception) as error:  # noqa: PT011 the type is not the point here
            call()
        shown = f"{error.value} {error.value!r} {vars(error.value)} {error.value.args}"
        for form in forms(BITS):
            assert form not in shown


def test_a_secret_has_no_attributes_to_list() -> None:
    with pytest.raises(TypeError, match="__dict__"):
        vars(SECRET)
    with pytest.raises(TypeError, match="unhashable"):
        hash(SECRET)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_is_refused(protocol: int) -> None:
    for held in (SECRET, [SECRET], {"secret": SECRET}):
        with pytest.raises(SecretNotPicklable, match=r"secret\.save\(path\)"):
            pickle.dumps(held, protocol)


def test_copies_are_the_same_secret() -> None:
    assert copy.copy(SECRET) is SECRET
    assert copy.deepcopy({"secret": SECRET})["secret"] is SECRET
