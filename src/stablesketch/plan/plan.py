"""`Plan`: how a statistic will be released and at what price, decided before any data are seen."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..checked_json import MOST_WHOLE, JsonError, parsed
from ..errors import ArgumentError, BlobError, shortened
from ..privacy import Privacy
from ..privacy.precision import ENTROPY_ERROR, NUMERICAL_ERROR, rounding_delta
from ..sketch.distinct import FEWEST
from ..statistic import STATISTICS, Derived, Distinct, Known, Moment, Shannon, Statistic, from_dict
from .phantoms import Phantoms
from .sampled import Sampled

if TYPE_CHECKING:
    from ..collector import Collector
    from ..secret import Secret

__all__ = ["LARGEST_IN_ALL", "LARGEST_SIZE", "Mechanism", "Plan"]

Mechanism = Literal["sketch", "exact", "bare"]

LARGEST_SIZE = 10_000  # of entries that one key touches: up to here the certified curve is tested
LARGEST_IN_ALL = 1 << 22  # of entries in buckets
_MOST_PARTS = 32  # of a profile: an order each, and the total
_FORMAT = "stablesketch-plan/2"
_FIRST_FORMAT = "stablesketch-plan/1"  # its sketches are bare


@dataclass(frozen=True)
class Plan:
    """A statistic, what is protected, and the mechanism that does it. Frozen, public, made from public numbers only.

    `epsilon` and `delta` are what is reached, never above what `privacy` asks; δ includes what finite precision costs.
    `error` is the relative root mean square error at the value `expected`; where that is 0 it is the error of the
    sketch alone, and that of the noise comes on top: `noise` is its scale b, in units of what is measured. Where
    `relative` is False the error is absolute. `bytes` is about what a stored collector takes. `cap` is where an
    estimate is cut before it gets its noise: far beyond all that is to be expected.
    `size` is the number of all entries. They lie in `buckets`, of which a key has one: it touches `entries_per_key` of
    them. `error` is then that of a stream in which no key dominates, and `worst_error` if one key holds everything.
    `sampled` says how pairs are sampled and what would be without; None if they are not. `parts` are the plans of what
    the statistic is computed from, where it is not measured itself; `epsilon` and `delta` are those of all together.
    Print a plan to see it as a table.
    """

    statistic: Statistic
    privacy: Privacy
    mechanism: Mechanism
    size: int
    phantoms: Phantoms
    step: float
    epsilon: float
    delta: float
    pure_epsilon: float
    error: float
    relative: bool
    expected: float
    bytes: int
    exact_error: float
    deletes: bool = False
    sampled: Sampled | None = None
    parts: tuple[Plan, ...] = ()
    noise: float = 0.0
    cap: float = 0.0
    buckets: int = 1

    @property
    def entries_per_key(self) -> int:
        """How many entries a key touches: those of its bucket."""
        return self.size // self.buckets

    @property
    def worst_error(self) -> float:
        """`error` if one key holds everything: more than that where entries lie in buckets."""
        from .mechanism import mechanism_of

        return mechanism_of(self).worst_error(self)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The entries of every part, or of the plan itself if it has none."""
        return tuple(part.size for part in self.parts) or (self.size,)

    @property
    def per_key(self) -> tuple[int, ...] | None:
        """Of every part in buckets how many entries a key touches, 0 of the others; None if there are no buckets."""
        each = tuple(part.entries_per_key if part.buckets > 1 else 0 for part in self.parts or (self,))
        return each if any(each) else None

    @property
    def floor(self) -> float:
        """Λ: the phantom mass that is added to F_p in the entries and taken off the estimate."""
        return self.phantoms.mass(self.statistic.p)

    def known(self, pairs: int) -> Known:
        """What is public of a stream of so many pairs that is released by this plan."""
        from .mechanism import needs_promise

        return Known.of(self.privacy, pairs, promised=needs_promise(self))  # which is then checked

    def range(self, pairs: int) -> tuple[float, float]:
        """What the statistic can be in such a stream."""
        return self.statistic.range(self.known(pairs))

    def open(
        self, secret: Secret | None = None, shard: str | None = None, shards: Iterable[str] | None = None
    ) -> Collector:
        """A collector for this plan, under `secret` or a fresh one. Shards of one stream share the secret.

        `shards` lists the names of all shards there are to be; then nothing is released while one is missing.
        """
        from ..collector import Collector

        return Collector(self, secret, shard, shards)

    def to_json(self) -> str:
        """The plan as JSON: the same plan, the same text. Where there is no pure ε it is null."""
        return _text(_finite(self._content()))

    def is_written_as(self, text: str) -> bool:
        """Whether this is its text, as it is written today or as it was, with infinities that are no JSON."""
        content = self._content()
        return text in (_text(_finite(content)), _text(content), _text(_in_first_format(content)))

    def _content(self) -> dict[str, Any]:
        content = {
            "format": _FORMAT,
            "statistic": self.statistic.to_dict(),
            "privacy": self.privacy.to_dict(),
            "mechanism": self.mechanism,
            "size": self.size,
            "phantoms": {"count": self.phantoms.count, "weight": self.phantoms.weight},
            "step": self.step,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "pure_epsilon": self.pure_epsilon,
            "error": self.error,
            "relative": self.relative,
            "expected": self.expected,
            "bytes": self.bytes,
            "exact_error": self.exact_error,
            "deletes": self.deletes,
            "noise": self.noise,
            "cap": self.cap,
        }
        if self.buckets > 1:
            content["buckets"] = self.buckets
        if self.sampled is not None:
            content["sampled"] = self.sampled.to_dict()
        if self.parts:
            content["parts"] = [part._content() for part in self.parts]
        return content

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Reads what `to_json` wrote. The reached ε and δ are trusted: keep plans where only you can write them."""
        try:
            return cls._from_content(parsed(text, finite=False))
        except (ArithmeticError, AttributeError, JsonError, LookupError, RecursionError, TypeError) as error:
            shown = error if isinstance(error, JsonError) else shortened(error)
            raise BlobError(f"this is not the JSON of a plan: {shown}. Pass what Plan.to_json() gave.") from None
        except ArgumentError as error:
            raise BlobError(f"a plan that nothing writes: {error}") from None

    @classmethod
    def _from_content(cls, content: Mapping[str, Any]) -> Plan:
        if content["format"] == _FIRST_FORMAT:
            content = _of_first_format(content)
        if content["format"] != _FORMAT or content["statistic"]["name"] not in STATISTICS:
            raise BlobError("a plan of a format this version does not read. Make the plan again, or upgrade.")
        if content.get("pure_epsilon", 0.0) is None:
            content = {**content, "pure_epsilon": math.inf}
        # A dictionary where there is sampling, a list where there are parts, and not there at all elsewhere.
        sampled, parts = content.get("sampled", {}), content.get("parts", [])
        buckets = content.get("buckets", 1)
        odd = set(content) ^ {"format", "statistic", "privacy", "phantoms", *_PLAIN_FIELDS}
        there = (("sampled", sampled), ("parts", parts), ("buckets", _is_plain(buckets, int) and buckets > 1))
        odd -= {name for name, known in there if known}
        odd |= {name for name, kind in _PLAIN_FIELDS.items() if not _is_plain(content.get(name), kind)}
        if content.get("pure_epsilon") == math.inf:  # of entropy, and of sampling without a floor
            odd -= {"pure_epsilon"}
        if odd:
            named = ", ".join(shortened(name) for name in sorted(odd)[:5])
            raise BlobError(f"a plan with fields that nothing writes, or without some: {named}.")
        if not isinstance(parts, list) or len(parts) > _MOST_PARTS:
            raise BlobError(
                f"a plan with more than {_MOST_PARTS} parts, or none that can be read; nothing writes such."
            )
        plan = cls(
            statistic=from_dict(content["statistic"]),
            privacy=Privacy.from_dict(content["privacy"]),
            phantoms=Phantoms.checked(**content["phantoms"]),
            **{name: content[name] for name in _PLAIN_FIELDS},
            sampled=Sampled.from_dict(sampled) if sampled else None,
            parts=tuple(cls._from_content(part) for part in parts),
            buckets=buckets,
        )
        if plan.epsilon > plan.privacy.epsilon or plan.delta > plan.privacy.delta or not (plan.step or plan.parts):
            raise BlobError("a plan that reaches less than it was asked for, or has no grid; nothing writes such.")
        if isinstance(plan.statistic, Derived) != bool(parts):
            raise BlobError(f"a plan of {plan.statistic} that is not made as such plans are; nothing writes such.")
        if parts and tuple(part.statistic for part in plan.parts) != plan.statistic.needs(plan.privacy):
            raise BlobError(f"a plan of {plan.statistic} with other parts than it needs; nothing writes such.")
        plan._check_size()
        plan._check_noise()
        plan._check_grid()
        plan._check_claim()
        return plan

    def _check_size(self) -> None:
        """Refuses a size that nothing is planned with, before anybody allocates so much."""
        measured = self.mechanism != "exact" and not self.parts
        least, most = (1, LARGEST_SIZE if self.buckets == 1 else LARGEST_IN_ALL) if measured else (0, 0)
        if self.parts:
            least = most = sum(part.size for part in self.parts)
        if isinstance(self.statistic, Distinct) and measured:
            least = FEWEST
        if not least <= self.size <= most:
            raise BlobError(
                f"a plan of {self.statistic} has size {self.size}, and plans have {most:,} entries at most. "
                "Make the plan again with ss.plan."
            )
        if self.buckets > 1 and (self.parts or not self._has_even_buckets()):
            raise BlobError(
                f"a plan of {self.statistic} has {self.size} entries in {self.buckets} buckets; nothing writes such. "
                "Make the plan again with ss.plan."
            )

    def _has_even_buckets(self) -> bool:
        """Equally many entries in each, and an even number, as the kernels make them two at a time."""
        from .layout import has_buckets

        each, left = divmod(self.size, self.buckets)
        even = left == 0 and each % 2 == 0 and 6 <= each <= LARGEST_SIZE
        return even and has_buckets(self.statistic, self.mechanism)

    def _check_claim(self) -> None:
        """Refuses parts of another privacy than the whole, and an ε or δ below what the mechanism takes by itself."""
        asked = (self.privacy.epsilon, self.privacy.delta)
        own = replace(self.privacy, epsilon=1.0, delta=0.5)
        if any(replace(part.privacy, epsilon=1.0, delta=0.5) != own for part in self.parts):
            raise BlobError(f"a plan of {self.statistic} whose parts protect something else; nothing writes such.")
        told = (self.epsilon, self.delta)
        less = not self.parts and self.mechanism != "bare" and self.epsilon < asked[0]
        if less or (len(self.parts) == 1 and told != (self.parts[0].epsilon, self.parts[0].delta)):
            raise BlobError(f"a plan of {self.statistic} that claims less than it spends; nothing writes such.")

    def _check_noise(self) -> None:
        """Refuses an estimate without noise, on a grid too coarse for it or cut to nothing; and noise where none is."""
        noisy = self.mechanism == "sketch" and isinstance(self.statistic, Moment)
        if (noisy and not (self.cap and self.step <= self.noise * 2.0**-10)) or (
            self.mechanism == "bare" and (self.noise or self.cap)
        ):
            raise BlobError(
                f"a plan of {self.statistic} by mechanism {self.mechanism!r} with noise = {self.noise:g}, step = "
                f"{self.step:g} and cap = {self.cap:g}; nothing writes such. Make the plan again with ss.plan."
            )

    def _check_grid(self) -> None:
        """Refuses a grid of bare estimates that is too fine: what finite precision costs alone is more than δ."""
        if self.mechanism != "bare" or not isinstance(self.statistic, Moment | Shannon):
            return
        error = ENTROPY_ERROR if isinstance(self.statistic, Shannon) else NUMERICAL_ERROR
        if rounding_delta(self.epsilon, self.step, error) > self.delta * (1.0 + 1e-9):
            raise BlobError(
                f"a plan of {self.statistic} with step = {self.step:g}, which is too fine for δ = {self.delta:g}; "
                "nothing writes such. Make the plan again with ss.plan."
            )

    def __repr__(self) -> str:
        """As dataclasses have it; a plan that was never made has what it has."""
        there = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if hasattr(self, field.name)]
        return f"Plan({', '.join(there)})"

    def __str__(self) -> str:
        from .table import plan_table

        return plan_table(self)


def _text(content: Mapping[str, Any]) -> str:
    """Canonical."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _finite(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same with null for an infinite pure ε: JSON has no infinities."""
    own = {**content, "pure_epsilon": None} if content["pure_epsilon"] == math.inf else dict(content)
    return {**own, "parts": [_finite(part) for part in content["parts"]]} if "parts" in content else own


def _of_first_format(content: Mapping[str, Any]) -> dict[str, Any]:
    """A plan of version 0.1.0 as one of today: a sketch of a moment or of entropy was released without noise."""
    if content["mechanism"] == "bare" or {"noise", "cap", "buckets"} & set(content):
        raise BlobError("a plan of version 0.1.0 with a mechanism, noise, cap or buckets that it did not have.")
    parts = [_of_first_format(part) for part in content.get("parts", [])]
    counts = content["statistic"]["name"] == "distinct"
    bare = any(part["mechanism"] == "bare" for part in parts) if parts else not counts
    mechanism = "bare" if content["mechanism"] == "sketch" and bare else content["mechanism"]
    own = {**content, "format": _FORMAT, "mechanism": mechanism, "noise": 0.0, "cap": 0.0}
    return {**own, "parts": parts} if parts else own


def _in_first_format(content: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `_of_first_format`."""
    own = {name: value for name, value in content.items() if name not in ("noise", "cap")}
    own |= {"format": _FIRST_FORMAT, "mechanism": "sketch" if content["mechanism"] == "bare" else content["mechanism"]}
    return {**own, "parts": [_in_first_format(part) for part in content["parts"]]} if "parts" in content else own


def _is_plain(value: object, kind: object) -> bool:
    """Whether a field has its type and is a value that plans have: a number that is finite and not negative."""
    if kind is Mechanism:
        return value in get_args(Mechanism)
    # An int is compared as it is: one of 400 digits has no float.
    return type(value) is kind and 0 <= value <= (sys.float_info.max if kind is float else MOST_WHOLE)  # type: ignore[operator]


_PLAIN_FIELDS = {
    "mechanism": Mechanism,
    "size": int,
    "step": float,
    "epsilon": float,
    "delta": float,
    "pure_epsilon": float,
    "error": float,
    "relative": bool,
    "expected": float,
    "bytes": int,
    "exact_error": float,
    "deletes": bool,
    "noise": float,
    "cap": float,
}
