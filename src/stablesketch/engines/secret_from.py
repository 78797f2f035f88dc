"""`SecretFrom`: where a worker finds the secret. The reference travels with the job, the secret never does.

The parts of a job (closures, query plans, pipelines) are stored, logged and shown in web pages, so none of them may
contain the secret. A reference says where to look: a file, an environment variable, a function, or a Spark broadcast,
whose content is not part of the plan. The driver finds the same secret by the same reference. Before a job starts,
`check_absent` searches the bytes that will be sent.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from ..bounding.groups import Name
from ..errors import HIDDEN, ArgumentError, ArgumentTypeError, SecretMissing, SecretSpent
from ..secret import Secret
from ..secret.bits import SECRET_BYTES, Bits

_here: dict[str, Secret] = {}  # secrets of jobs that run in this process
_released: set[tuple[str | None, Name]] = set()  # what has been released under them
_turn = threading.Lock()  # for reading and writing both


@final
class SecretFrom:
    """A reference to a secret, for workers in other processes and on other machines.

    Make one with `file`, `environment`, `callable` or `broadcast`. It is pickled with the job; the secret is not.
    """

    __slots__ = ("_kind", "_what")

    def __init__(self, kind: str, what: Any) -> None:
        self._kind, self._what = kind, what

    @classmethod
    def file(cls, path: str | os.PathLike[str]) -> SecretFrom:
        """A file that `Secret.save` wrote, under the same path on every machine and readable only by its owner."""
        return cls("file", os.path.abspath(os.fspath(path)))

    @classmethod
    def environment(cls, name: str) -> SecretFrom:
        """An environment variable with 64 hexadecimal digits, set for driver and workers by the cluster's secret
        manager.

        Do not set it in the configuration of the job (`spark.executorEnv...`), which is logged.
        """
        if not isinstance(name, str) or not name:
            raise ArgumentError(
                "name", name, "must be the name of an environment variable", 'Pass "STABLESKETCH_SECRET", for example'
            )
        return cls("environment", name)

    @classmethod
    def callable(cls, function: Callable[[], Secret | bytes]) -> SecretFrom:
        """A function without arguments that fetches the secret, as a `Secret` or 32 bytes, for example from a key
        service.

        It is pickled with the job, so it must fetch the secret, not hold it. A function that holds it is refused.
        """
        if not callable(function):
            raise ArgumentTypeError("function", type(function), "must be callable", "Pass a function")
        return cls("callable", function)

    @classmethod
    def broadcast(cls, broadcast: Any) -> SecretFrom:
        """A Spark broadcast variable whose value is 32 bytes: `spark.sparkContext.broadcast(...)`.

        Its content is in no plan and no log. While the job runs, Spark keeps a copy in the local folders of driver and
        workers; `spark.io.encryption.enabled` encrypts it there. Not available through Spark Connect.
        """
        if not hasattr(broadcast, "value"):
            raise ArgumentTypeError(
                "broadcast", type(broadcast), "must be a broadcast variable", "Create one with Spark"
            )
        return cls("broadcast", broadcast)

    @classmethod
    def this_process(cls) -> SecretFrom:
        """A fresh secret that stays in this process: for jobs whose workers are its threads."""
        token = secrets.token_hex(16)
        _here[token] = Secret.generate()
        return cls("process", token)

    @property
    def fetches(self) -> bool:
        """Whether it is a function, which could hold the secret instead of fetching it."""
        return self._kind == "callable"

    @property
    def is_here(self) -> bool:
        """Whether the secret never leaves this process."""
        return self._kind == "process"

    def find(self) -> Secret:
        """The secret, in the calling process. No error shows any part of it."""
        if self._kind == "file":
            return Secret.load(self._what)
        if self._kind == "environment":
            return self._from_environment()
        if self._kind == "process":
            if self._what not in _here:
                raise SecretMissing(
                    "the secret exists only in the process that created the job, and this worker is another process. "
                    "Pass a reference that workers can follow: secret=SecretFrom.file(path), .environment(name) or "
                    ".callable(function)."
                )
            return _here[self._what]
        found = self._what.value if self._kind == "broadcast" else self._what()
        if isinstance(found, Secret):
            return found
        if not isinstance(found, bytes | bytearray) or len(found) != SECRET_BYTES:
            raise SecretMissing(f"the {self._kind} returned no secret. Return 32 bytes, or a Secret.")
        return Secret.from_bytes(bytes(found))

    def _from_environment(self) -> Secret:
        if self._what not in os.environ:
            raise SecretMissing(
                f"the environment variable {self._what} is not set in this process. Set it for the driver and for "
                "every worker, outside the configuration of the job, which is logged."
            )
        try:
            return Secret.of_bits(Bits.of_hex(lambda: os.environ[self._what].strip()))
        except ValueError:
            raise SecretMissing(f"the environment variable {self._what} is not 64 hexadecimal digits.") from None

    def __repr__(self) -> str:
        return f"<SecretFrom {self._kind}>"


@dataclass(frozen=True)
class TheSecret:
    """Where to find the secret, and what this job uses: the secret itself, or one derived for a single release."""

    reference: SecretFrom
    once: str | None = None

    def find(self) -> Secret:
        found = self.reference.find()
        return found if self.once is None else found.derive_secret(f"one release/{self.once}")

    def spend(self, name: Name) -> Secret:
        """The secret, for the one release of a group. A second is refused if this process knows of the first."""
        found = self.find()
        if self.reference.is_here:
            with _turn:
                if (self.once, name) in _released:
                    raise SecretSpent("this pipeline has already released. Create a new one for another run.")
                _released.add((self.once, name))
        return found


def stored_secret(secret: Secret, name: Name, *, separate: bool) -> Secret:
    """The secret of a group's stored collector: with `separate`, the child named after the group, or after the JSON of
    the parts of its name.
    """
    if not separate or not name:
        return secret
    return secret.child(name[0] if len(name) == 1 else json.dumps(name))


def reference(secret: object, otherwise: str, others: str) -> SecretFrom:
    """Checks that it is a reference, not a secret, which would be stored or logged with the job."""
    if isinstance(secret, SecretFrom):
        return secret
    raise ArgumentTypeError(
        "secret", type(secret), "must be a reference to the secret",
        f"Save it and pass SecretFrom.file(path), or {others}", because=f"the secret itself would be {otherwise}",
    )  # fmt: skip


def check_absent(secret: Secret, sent: bytes) -> None:
    """Refuses to send bytes that contain the secret, as bytes or as text."""
    if secret.is_in(sent):
        raise ArgumentError(
            "secret", HIDDEN, "must not be a function that holds the secret itself",
            "Let the function fetch the secret where it runs, or use SecretFrom.file",
            because="it would be sent and logged",
        )  # fmt: skip
