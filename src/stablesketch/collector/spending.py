"""The order of a release: paid, spent, computed, in this order and no other; and what a crash leaves at each point.

1. The secret is claimed in memory, its files are locked, read again, and the spent ones made ready beside them.
   Whatever is wrong (spent already, a full disk, a folder that cannot be written) shows here.
2. The ledger records the release, in one durable transaction, or refuses.
3. The files are marked as spent: one rename each, and a sync.
4. The value is computed, and the bits of the secret are overwritten in memory.

A process that is killed, or a machine that loses power,

| during | ledger | secret file | value | what one can do then |
|---|---|---|---|---|
| 1 | without it | fresh (perhaps beside a `.name.spent`, which says nothing) | none | release as if nothing had been |
| 2, before the commit | without it | fresh | none | the same |
| 2, after the commit | has it | fresh | none | nothing: the ledger refuses this secret; it is paid |
| 3 | has it | fresh or spent, never neither | none | nothing; it is paid |
| 4 | has it | spent | none, or on its way to who asked | nothing; it is paid |

So a value exists only if the ledger has it and the secret is spent; the other way round, a release may have been paid
for that nobody got. Without a ledger there is no step 2 and the file decides. The transaction of the ledger and the
rename cannot be one atom, being in two files; the order makes sure that the gap is on the safe side.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from ..errors import ArgumentError
from ..secret import Secret
from ..secret_file import Spending

__all__ = ["spending"]


@contextlib.contextmanager
def spending(secrets: Sequence[Secret], pay: Callable[[], object] | None) -> Iterator[None]:
    """Steps 1 to 3 for all of these secrets at once, then the block, which computes the values; then the end of them.

    `pay` records the releases, or raises: then nothing has happened. An error within the block comes after the
    payment: the secrets are gone all the same.
    """
    fingerprints = [secret.fingerprint for secret in secrets]
    if len(set(fingerprints)) < len(fingerprints):
        raise ArgumentError(
            "collectors",
            len(secrets),
            "two of them have the same secret",
            "Merge shards of one stream before the release",
        )
    roots = sorted({id(secret._root): secret._root for secret in secrets}.values(), key=lambda root: root.fingerprint)
    files: list[Spending] = []
    with contextlib.ExitStack() as held:
        for root in roots:
            files += held.enter_context(root._claimed(guarded=pay is not None))
        gone = False
        try:
            if pay is not None:
                pay()
                gone = True
            for file in files:
                file.mark()
                gone = True
            gone = True
            yield
        finally:
            if gone:
                for secret in (*roots, *secrets):
                    secret._wipe()
