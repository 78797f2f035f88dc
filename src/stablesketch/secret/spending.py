"""The order of a release: claim, compute, pay, spend, show; and what a crash leaves behind.

1. The secret is claimed in memory. Its files are locked and read again, and their spent replacements are prepared
   beside them. Any problem (already spent, a full disk, a file with a second name or that cannot be replaced) is
   noticed here.
2. The value is computed, in memory only. It is the same whenever it is computed, because its noise comes from the
   secret.
3. The ledger records the release and its value, in one durable transaction, or refuses.
4. The files are marked as spent: one rename each, and a sync.
5. The value is returned to the caller, and the bits of the secret are overwritten in memory.

If the process is killed or the machine loses power:

| during step | ledger | secret file | value | what to do then |
|---|---|---|---|---|
| 1, 2 | does not have it | fresh (perhaps beside a `.name.spent`, which means nothing) | none | release again |
| 3, before the commit | does not have it | fresh | none | the same |
| 3, after the commit | has it | fresh | in the ledger | read it there: `Ledger.published` |
| 4 | has it | fresh or spent, never neither | in the ledger | the same |
| 5 | has it | spent | in the ledger, and on its way to the caller | the same |

A value is seen only if the ledger has it, and what was paid for is never lost. Without a ledger there is no step 3: the
file decides, and a value is lost if the process dies in step 4 or 5. The ledger's transaction and the rename concern
two files, so they cannot be one atomic step; their order keeps the gap on the safe side.

If the system refuses a rename even after several attempts (step 4), nothing is lost while the process lives: state,
secret and receipt are kept, and the same release can be finished without paying again once the cause is removed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from ..errors import ArgumentError, SecretFileError, SecretSpent
from .file import Spending
from .paying import Paid
from .secret import Secret


@contextlib.contextmanager
def spending(
    secrets: Sequence[Secret], pay: Callable[[], list[Paid]] | None, receipt: object = None
) -> Iterator[list[Paid]]:
    """Does steps 1 to 4 for all of these secrets at once, runs the block, which returns the values, and then wipes the
    secrets.

    `pay` computes and records the releases; if it raises an error, nothing has happened. The block gets its records.
    `receipt` identifies what was paid for: a call with the same receipt finishes a release that was paid for but could
    not be finished. An error inside the block comes after the payment; the secrets are wiped all the same.
    """
    fingerprints = [secret.fingerprint for secret in secrets]
    if len(set(fingerprints)) < len(fingerprints):
        raise ArgumentError(
            "collectors", len(secrets), "must have different secrets", "Merge shards of one stream before the release"
        )
    roots = _roots(secrets)
    with contextlib.ExitStack() as held:
        files = [(root, file) for root in roots for file in held.enter_context(root._claimed())]
        paid = _pay(roots, pay, receipt)
        for root, file in files:
            _mark(root, file, bool(paid) or any(root._marked for root in roots))
        try:
            yield paid
        finally:
            for secret in (*roots, *secrets):
                secret._wipe()


def _roots(secrets: Sequence[Secret]) -> list[Secret]:
    """The secrets that these were derived from: each once, even if it was loaded twice."""
    found: dict[bytes, Secret] = {}
    for secret in secrets:
        root = secret._root
        found.setdefault(root.fingerprint, root).adopt(root)
    return sorted(found.values(), key=lambda root: root.fingerprint)


def _pay(roots: Sequence[Secret], pay: Callable[[], list[Paid]] | None, receipt: object) -> list[Paid]:
    """Pays, unless the same receipt was paid before. Returns the records in the ledger; empty without a ledger."""
    before = [root._paid for root in roots]
    if any(one is not None for one in before):
        known = {id(records): (own, records) for own, records in filter(None, before)}
        if receipt is None or None in before or any(own != receipt for own, _ in known.values()):
            raise SecretSpent(
                "this secret is already paid for in another release, which is not finished yet. Call that one again, "
                "with the same collectors, ledger, labels and parts."
            )
        return next(records for _, records in known.values())
    if pay is None:
        return []
    records = pay()
    for root in roots:
        root._paid = (receipt, records)
    return records


def _mark(root: Secret, file: Spending, begun: bool) -> None:
    try:
        file.mark()
    except OSError as error:
        then = (
            "The release was paid for or begun, but no value was released. Correct this and call release again with "
            "the same arguments: it is not charged again."
            if begun
            else "Nothing was released."
        )
        raise SecretFileError(f"cannot mark {file.path} as spent: {error.strerror}. {then}") from None
    root._marked.add(file.path)
