"""The secret of a sketch: 256 bits from the operating system, from which every other key is derived.

Anyone who knows the secret can compute the whole projection, and then the sketch protects nobody. So a secret is never
shown: not by repr, str or format, not by pickle, not in an error. It leaves the process only by `save`, into a file
that only its owner may read.

**A secret has one release.** The release marks its files as spent (file.py) and overwrites the bits in memory.
Every collector, blob and checkpoint under it is then closed. Without a file, only the object itself remembers the
release, so it can be released and saved only in the process that made it: nobody could mark the copy in a fork. If
several objects have the same bits, those that were merged or have files are spent together.

Derivation: HMAC-SHA256(secret, "stablesketch/1/" + purpose), cut to length. Every use has its own purpose, so learning
one derived key reveals nothing about another (HMAC-SHA256 is a pseudorandom function).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, final

from ..errors import (
    HIDDEN,
    ArgumentError,
    ArgumentTypeError,
    SecretFileError,
    SecretMissing,
    SecretNotPicklable,
    SecretSpent,
)
from ..files.durable import Identity, identity_of
from . import file as secret_file
from .bits import SECRET_BYTES, SPENT, Bits
from .file import SecretFile, Spending
from .paying import Paid

_WAIT = 60.0  # seconds to wait until another thread has finished saving


class _Process:
    """This process: the lock for claiming or saving a secret, the number of forks, and the known files by secret."""

    def __init__(self) -> None:
        self.turn = threading.Condition()
        self.id = os.getpid()
        self.forks = 0
        self.files: dict[bytes, set[Path]] = {}

    def forked(self) -> None:
        """In the parent, after a fork."""
        self.forks += 1


_process = _Process()


def _forked_away() -> None:
    """In the child: starts afresh, with a lock that nobody holds."""
    global _process
    known, _process = _process.files, _Process()
    _process.files = known


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=lambda: _process.forked(), after_in_child=_forked_away)


@final
class Secret:
    """256 secret bits. `Secret.generate()` draws a fresh secret; `save` and `load` keep it in a file of mode 0600.

    Two secrets are equal if they have the same bits. `fingerprint` is public: eight bytes that tell secrets apart and
    reveal nothing about them. Blobs and ledgers contain it.
    """

    __slots__ = (
        "_bits", "_files", "_fingerprint", "_forks", "_home", "_marked", "_paid", "_parent", "_saving", "_spent",
        "_twins",
    )  # fmt: skip
    _bits: Bits
    _files: list[Path]
    _fingerprint: bytes
    _forks: int  # how often the process had forked when the first file was saved
    _home: _Process
    _marked: set[Path]  # files marked by an unfinished release
    _paid: tuple[object, list[Paid]] | None  # receipt and records of a paid but unfinished release
    _parent: Secret | None
    _saving: int  # number of threads that are saving it
    _spent: bool  # or claimed by a release in progress
    _twins: list[Secret]

    def __init__(self) -> None:
        raise ArgumentTypeError("Secret()", HIDDEN, "cannot be called", "Use Secret.generate().")

    @classmethod
    def generate(cls) -> Secret:
        """A fresh secret from the operating system's random number generator."""
        return cls.of_bits(Bits.fresh())

    @classmethod
    def from_bytes(cls, bits: bytes) -> Secret:
        """A secret that is kept elsewhere, such as in a key management service: exactly 32 bytes, uniformly random.

        Never use a password, a hash of public data or a fixed seed: a guessable secret protects nobody. Two objects
        made from the same bits do not know of each other, and each would release. Use a ledger, which remembers the
        secret, or delete the bits.
        """
        kind, length = type(bits), len(bits) if isinstance(bits, bytes) else 0
        if kind is bytes and length == SECRET_BYTES:
            return cls.of_bits(Bits(lambda: bits))  # noqa: F821  it is deleted on the other way
        del bits  # whatever it is, a report of this error must not contain it
        if not issubclass(kind, bytes):
            raise ArgumentTypeError("bits", kind, "must be bytes", "Pass 32 random bytes.")
        raise ArgumentError("len(bits)", length, "must be 32", "Use Secret.generate().")

    @classmethod
    def of_bits(cls, bits: Bits) -> Secret:
        """A new secret with these bits."""
        self = object.__new__(cls)
        self._bits = bits
        self._files = []
        self._fingerprint = bits.fingerprint
        self._forks = _process.forks
        self._home = _process
        self._marked = set()
        self._paid = None
        self._parent = None
        self._saving = 0
        self._spent = False
        self._twins = []
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the secret to a new file of mode 0600, atomically.

        Never replaces a file: without its secret, a stream can never be updated or released again. A release marks the
        file as spent, so leave it in place until then. A secret that is spent, being released, or copied by a fork
        cannot be saved, because nobody would mark the file.
        """
        if self._parent is not None:
            raise ArgumentError(
                "path", str(path), "cannot be written",
                "Save its parent, and derive it again",
                because="the secret of a group is not saved",
            )  # fmt: skip
        target = Path(os.path.realpath(Path(path).parent)) / Path(path).name
        with _process.turn:
            self._check_savable(path)
            self._saving += 1
        try:
            with contextlib.ExitStack() as held:
                for file in self._all_files():
                    try:
                        held.enter_context(secret_file.fresh(file, self._bits))
                    except SecretFileError:
                        if secret_file.holds(file, self._bits):  # a lost or damaged file cannot release anything
                            raise
                secret_file.write(target, self._living())
            with _process.turn:
                try:
                    self._check_savable(path)
                except BaseException:
                    target.unlink()
                    raise
                self._take_file(target)
        finally:
            with _process.turn:
                self._saving -= 1
                _process.turn.notify_all()

    def _check_savable(self, path: str | os.PathLike[str]) -> None:
        self._living()
        if self._spent:
            raise SecretSpent("the secret was not saved: another thread is releasing it.")
        if self._paid is not None:
            raise SecretFileError(
                f"the secret was not saved to {path}: its release is already paid for. Finish the release."
            )
        self._check_home("saved")
        if self._files and self._forks != _process.forks:
            raise SecretFileError(
                f"the secret was not saved to {path}: this process has forked since it saved {self._files[0]}. The "
                "fork could release from that file, and the new one would still look unused. Save all files before "
                "forking."
            )

    def _check_home(self, what: str) -> None:
        if self._home is not _process or _process.id != os.getpid():
            raise SecretMissing(
                f"the secret was not {what}: this process is a fork and has only a copy. A secret can be saved and "
                "released only in the process that made it, unless it was in a file before the fork. Save it before "
                "forking."
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Secret:
        """Reads a secret from a file written by `save`.

        Refuses a file that others could have read, that has a second name (a hard link, a mount of the file alone), or
        whose secret is spent.
        """
        # The file itself, not a link to it, because the file will be marked.
        source = Path(os.path.realpath(path))
        self = cls.of_bits(secret_file.read(source, alone=True).unspent(path))
        self._take_file(source)
        return self

    def _take_file(self, file: Path) -> None:
        if not self._files:
            self._forks = _process.forks
        self._files = [*(each for each in self._files if each != file), file]
        _process.files.setdefault(self._fingerprint, set()).add(file)

    @staticmethod
    def inspect(path: str | os.PathLike[str]) -> SecretFile:
        """The fingerprint of the secret in a file, and whether it is spent. Shows nothing secret."""
        return secret_file.read(Path(path)).about

    def child(self, name: str) -> Secret:
        """An independent secret for one of several groups that are released together.

        Children are derived from the parent: anyone who has the parent has all of them. They are spent together: a
        release of one or more children spends the parent and all its other children (`release_all`).
        """
        if not isinstance(name, str) or not name:
            raise ArgumentError("name", name, "must be a non-empty text", 'Pass "FR", for example')
        try:
            child = self.derive_secret(f"child/{name}")
        except UnicodeEncodeError:
            raise ArgumentError("name", name, "must be text that UTF-8 can encode", "Pass another name") from None
        child._parent = self
        return child

    def derive(self, purpose: str, length: int = 32) -> bytes:
        """A key for one purpose: the first `length` bytes of HMAC-SHA256(secret, "stablesketch/1/" + purpose)."""
        from ..numbers.checked import checked_whole  # it loads numpy, which a command that only shows help does without

        length = checked_whole("length", length, "Derive two keys", least=1, most=SECRET_BYTES)
        return self._living().derive(purpose)[:length]

    def derive_secret(self, purpose: str) -> Secret:
        """A key for one purpose, as a secret of its own. Unlike a `child`, it is spent by itself.

        Deriving it twice gives two objects with the same bits, and neither knows of the other's release, as with
        `from_bytes`. Releases under both would have the same noise, which cancels. It is for callers that derive each
        purpose once, such as engines that draw the purpose at random. A ledger refuses the second release.
        """
        return Secret.of_bits(self._living().child(purpose))

    @property
    def fingerprint(self) -> bytes:
        """Eight public bytes that tell this secret from others."""
        return self._fingerprint

    @property
    def spent(self) -> bool:
        """Whether this object has been released. A release in another process shows in the file, or when you try."""
        return self._root._spent

    @property
    def paid(self) -> bool:
        """Whether its release has been paid for and is not finished yet."""
        return self._root._paid is not None

    def is_in(self, sent: bytes) -> bool:
        """Whether these bytes contain the secret, as bytes or as text."""
        return self._living().are_in(sent)

    @property
    def _root(self) -> Secret:
        return self if self._parent is None else self._parent._root

    def _living(self) -> Bits:
        if not self._bits:
            raise SecretSpent(SPENT)
        return self._bits

    def adopt(self, other: Secret) -> None:
        """Adopts another object with the same bits, whose collector is being merged. Both are claimed and spent as one.

        Raises:
            SecretSpent: one of them has been released, or is being released by another thread, which does not know of
                the other.
        """
        mine, theirs = self._root, other._root
        if theirs._fingerprint != mine._fingerprint:
            return
        with _process.turn:  # as in `_claimed`: the second thread sees what the first has done
            if any(theirs is each for each in mine._together()):
                return
            if mine._spent or theirs._spent:
                raise SecretSpent(SPENT)
            mine._twins.append(theirs)
            theirs._twins.append(mine)

    def _together(self) -> list[Secret]:
        """This object, and all others merged with it, directly or indirectly."""
        found = [self]
        for each in found:
            found += [twin for twin in each._twins if not any(twin is other for other in found)]
        return found

    def _all_files(self) -> list[Path]:
        """All files of these objects, and any others that this process saved or loaded the secret from; each once."""
        own = sorted({file for each in self._together() for file in each._files})
        more = sorted(_process.files.get(self._fingerprint, set()).difference(own)) if own else []
        seen: set[Identity] = set()
        files = []
        for file in [*own, *more]:
            if file not in own and not secret_file.holds(file, self._bits):
                continue
            try:
                identity = identity_of(os.stat(file))
            except OSError:
                identity = (-1, len(seen))  # unreadable: opening it will raise the error
            if identity not in seen:
                seen.add(identity)
                files.append(file)
        return files

    @contextlib.contextmanager
    def _claimed(self) -> Iterator[list[Spending]]:
        """Claims this root secret for one release, with all its files locked and ready to be marked: see spending.py.

        If the block raises an error while the bits still exist, the secret is fresh again.
        """
        with _process.turn:
            group = self._together()
            if not _process.turn.wait_for(lambda: not any(each._is_saving() for each in group), _WAIT):
                raise SecretFileError("another thread is still saving this secret. Try again.")
            if any(each._spent for each in group):
                raise SecretSpent(SPENT)
            if not any(each._files for each in group):
                for each in group:
                    each._check_home("released")
            for each in group:
                each._spent = True
        try:
            with contextlib.ExitStack() as held:
                left = [file for file in self._all_files() if file not in self._marked]
                yield [held.enter_context(secret_file.ready_to_spend(file, self._bits)) for file in left]
        except BaseException:
            with _process.turn:
                for each in group:
                    each._spent = not each._bits
            raise

    def _is_saving(self) -> bool:
        return self._saving > 0 and self._home is _process  # a fork does not have its parent's threads

    def _wipe(self) -> None:
        """Overwrites the bits; any later use raises `SecretSpent`."""
        for each in self._together():
            each._spent = True
            each._bits.wipe()
            each._twins = []
        _process.files.pop(self._fingerprint, None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return self is other or self._bits == other._bits

    __hash__ = None  # type: ignore[assignment]  # a hash of secret bits could end up in a log

    def __repr__(self) -> str:
        return "<Secret>"

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Secret:
        return self

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(None)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SecretNotPicklable(
            "a Secret cannot be pickled, because it could end up in a cache, a queue or a log. "
            "Use secret.save(path) and Secret.load(path)."
        )
