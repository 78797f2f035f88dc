"""The secret of a sketch: 256 bits from the operating system, from which every other key is derived.

Whoever knows the secret can compute the whole projection, and then the sketch protects nobody. So a secret is never
shown: not by repr, str or format, not by pickle, not in an error. It leaves the process by `save` alone, into a file
only its owner may read.

**A secret has one release.** The release marks its files as spent (secret_file.py) and overwrites the bits in memory;
every collector, blob and checkpoint under it is then closed. Without a file the object is the only place that
remembers, so it releases only in the process that made it: a fork has a copy that nobody can mark.

Derivation: HMAC-SHA256(secret, "stablesketch/1/" + purpose), cut to length. Every use has a purpose of its own, so that
nothing learned about one derived key says anything about another (HMAC-SHA256 is a pseudorandom function).
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, final

from . import secret_file
from .errors import ArgumentError, ArgumentTypeError, SecretMissing, SecretNotPicklable, SecretSpent
from .secret_file import SECRET_BYTES, SecretFile, Spending

__all__ = ["Secret"]

_claims = threading.Lock()


@final
class Secret:
    """256 secret bits. `Secret.generate()` draws a fresh one; `save` and `load` keep it in a file of mode 0600.

    Two secrets compare equal if they are the same bits. `fingerprint` is public: eight bytes that tell secrets apart
    and reveal nothing of them; blobs and ledgers carry it.
    """

    __slots__ = ("_bits", "_files", "_fingerprint", "_home", "_parent", "_spent", "_twins")
    _bits: bytearray
    _files: list[Path]
    _fingerprint: bytes
    _home: int
    _parent: Secret | None
    _spent: bool
    _twins: list[Secret]

    def __init__(self) -> None:
        raise ArgumentTypeError("Secret()", (), "a secret is not made by calling the class", "Use Secret.generate().")

    @classmethod
    def generate(cls) -> Secret:
        """A fresh secret from the operating system's random number generator."""
        return cls.from_bytes(secrets.token_bytes(SECRET_BYTES))

    @classmethod
    def from_bytes(cls, bits: bytes) -> Secret:
        """A secret held elsewhere, such as in a key management service: exactly 32 bytes, uniformly random.

        Never a password, a hash of public data or a fixed seed: a guessable secret protects nobody. Made twice from the
        same bits it is two objects, and each would release: have a ledger remember it, or delete the bits.
        """
        if not isinstance(bits, bytes):
            raise ArgumentTypeError("bits", type(bits), "a secret is bytes", "Pass 32 random bytes.")
        if len(bits) != SECRET_BYTES:
            raise ArgumentError("len(bits)", len(bits), "a secret is 32 bytes", "Use Secret.generate().")
        self = object.__new__(cls)
        self._bits = bytearray(bits)
        self._files = []
        self._fingerprint = secret_file.derive(bits, "identity")[:8]
        self._home = os.getpid()
        self._parent = None
        self._spent = False
        self._twins = []
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the secret to a new file of mode 0600, atomically: the file is there whole or not at all.

        Refuses to replace a file: a secret overwritten is a stream that can never be updated or released again. A
        release will mark this file as spent, so it has to stay where it is until then.
        """
        if self._parent is not None:
            raise ArgumentError(
                "path", str(path), "the secret of a group is not saved", "Save its parent, and derive it again"
            )
        target = Path(path).absolute()
        secret_file.write(target, self._living())
        self._files = [*(file for file in self._files if file != target), target]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Secret:
        """Reads a secret from a file written by `save`; refuses one that others could have read, or that is spent."""
        # The file itself, not a link to it: it is the file that will be marked.
        source = Path(os.path.realpath(path))
        content = secret_file.read(source)
        if content.bits is None:
            raise SecretSpent(
                f"the secret in {path} had its one release at {content.about.time}. Collect anew under a fresh secret."
            )
        self = cls.from_bytes(content.bits)
        self._files = [source]
        return self

    @staticmethod
    def inspect(path: str | os.PathLike[str]) -> SecretFile:
        """The fingerprint of the secret in a file, and whether it is spent; nothing secret."""
        return secret_file.read(Path(path)).about

    def child(self, name: str) -> Secret:
        """An independent secret for one of several groups that are released together.

        Children are derived, so that whoever has the parent has them all. They are spent together: a release of one or
        many children spends the parent and with it all others (`release_all`).
        """
        if not isinstance(name, str) or not name:
            raise ArgumentError("name", name, "a group has a name", 'Pass a text such as "FR"')
        try:
            child = Secret.from_bytes(self.derive(f"child/{name}"))
        except UnicodeEncodeError:
            raise ArgumentError("name", name, "not a text that UTF-8 can write", "Pass another name") from None
        child._parent = self
        return child

    def derive(self, purpose: str, length: int = 32) -> bytes:
        """The key of one purpose: HMAC-SHA256(secret, "stablesketch/1/" + purpose), its first `length` bytes."""
        if not 0 < length <= SECRET_BYTES:
            raise ArgumentError("length", length, "a derived key has 1 to 32 bytes", "Derive two of them")
        return secret_file.derive(self._living(), purpose)[:length]

    @property
    def fingerprint(self) -> bytes:
        """Eight public bytes that tell this secret from others."""
        return self._fingerprint

    @property
    def spent(self) -> bool:
        """Whether this object has had its release. That of another process shows in the file, or when one tries."""
        return self._root._spent

    @property
    def _root(self) -> Secret:
        return self if self._parent is None else self._parent._root

    def _living(self) -> bytearray:
        if not self._bits:
            raise SecretSpent(_SPENT)
        return self._bits

    def _adopt(self, other: Secret) -> None:
        """Another object with the same bits, whose collector was merged: its files and its bits go when these do."""
        mine, theirs = self._root, other._root
        if theirs is not mine and theirs == mine:
            mine._files = [*mine._files, *(file for file in theirs._files if file not in mine._files)]
            mine._twins.append(theirs)

    @contextlib.contextmanager
    def _claimed(self, *, guarded: bool) -> Iterator[list[Spending]]:
        """This root secret for one release, all of its files locked and ready to be marked: see collector/spending.py.

        `guarded` says that a ledger will remember it. If the block raises before the claim was `_keep`-ed, it is fresh
        again.
        """
        with _claims:
            if self._spent:
                raise SecretSpent(_SPENT)
            if not guarded and not self._files and self._home != os.getpid():
                raise SecretMissing(
                    "a secret without a file releases only in the process that made it: this one is a fork, and has a "
                    "copy. Release there, save the secret to a file first, or use a ledger."
                )
            self._spent = True
        try:
            with contextlib.ExitStack() as held:
                files = sorted(set(self._files))
                yield [held.enter_context(secret_file.spending(file, self._bits)) for file in files]
        except BaseException:
            if self._bits:
                self._spent = False
            raise

    def _wipe(self) -> None:
        """Overwrites the bits; whatever asks for them from now on gets `SecretSpent`."""
        self._spent = True
        for i in range(len(self._bits)):
            self._bits[i] = 0
        self._bits = bytearray()
        while self._twins:
            self._twins.pop()._wipe()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return self is other or (bool(self._bits) and hmac.compare_digest(self._bits, other._bits))

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
            "a Secret is never pickled, so that it cannot end up in a cache, a queue or a log. "
            "Use secret.save(path) and Secret.load(path)."
        )


_SPENT = "this secret has had its one release. Collect anew under a fresh secret."
