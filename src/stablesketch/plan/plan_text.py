"""Plans as JSON: written in the current format, read in every format; invalid plans are refused."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, get_args

from ..errors import ArgumentError, BlobError, shortened
from ..format.checked_json import MOST_WHOLE, JsonError, parsed
from ..privacy import Privacy
from ..privacy.sampling import Sampling
from ..statistic import STATISTICS, Statistic, from_dict
from ..text.wording import either
from .asked import Asked, MechanismName
from .mechanism import find, mechanism_of
from .phantoms import NO_PHANTOMS, Phantoms
from .plan import Numbers, Plan, Sampled

_MAKE_ONE = either("Pass the result of Plan.to_json()", "Make one: stablesketch plan ... -o plan.json")
_MOST_INPUTS = 32  # in a profile: one for each order, and the total
_FORMAT = "stablesketch-plan/3"
_SECOND_FORMAT = "stablesketch-plan/2"  # does not store the question
_FIRST_FORMAT = "stablesketch-plan/1"  # its sketches are bare


def written(plan: Plan) -> str:
    """The canonical JSON. An infinite pure ε is null, because JSON has no infinities."""
    return _text(_content(plan))


def is_written_as(plan: Plan, text: str) -> bool:
    """Whether this text is the plan's, in the current format or an earlier one that had non-JSON infinities."""
    flat = _in_second_format(plan)
    return text in (written(plan), _text(_finite(flat)), _text(flat), _text(_in_first_format(flat)))


def read(text: str) -> Plan:
    """A plan from its text, in any format."""
    try:
        return _read(parsed(text, finite=False))
    except (ArithmeticError, AttributeError, JsonError, LookupError, RecursionError, TypeError) as error:
        shown: object = error if isinstance(error, JsonError) else shortened(error)
        if isinstance(error, KeyError):
            shown = f"missing or unknown: {shortened(error.args[0])}"
        raise BlobError(f"not the JSON of a plan: {shown}. {_MAKE_ONE}.") from None
    except ArgumentError as error:
        raise BlobError(f"invalid plan: {error}") from None


def _content(plan: Plan) -> dict[str, Any]:
    cost, accuracy, numbers = ({name: getattr(plan, name) for name in names} for names in (_COST, _ACCURACY, _NUMBERS))
    content: dict[str, Any] = {
        "format": _FORMAT,
        "asked": plan.asked.to_dict(),
        "mechanism": plan.mechanism,
        "cost": cost | ({"pure_epsilon": None} if math.isinf(plan.pure_epsilon) else {}),
        "accuracy": accuracy,
        "numbers": {name: value for name, value in numbers.items() if value != _USUAL[name]},
    }
    if plan.own:
        content["numbers"]["own"] = dict(plan.own)
    return {**content, "parts": [_content(one) for one in plan.inputs]} if plan.inputs else content


def _read(content: Mapping[str, Any]) -> Plan:
    flat = content["format"] in (_FIRST_FORMAT, _SECOND_FORMAT)
    known = flat or content["format"] == _FORMAT
    if not known and str(content["format"]).startswith("stablesketch-release/"):
        raise BlobError(f"this is a release, not a plan. {_MAKE_ONE}.")
    if not known or (content if flat else content["asked"])["statistic"]["name"] not in STATISTICS:
        raise BlobError(
            "this version of stablesketch cannot read the format of the plan. Make the plan again, or upgrade."
        )
    plan = _read_flat(content) if flat else _read_grouped(content)
    if plan.epsilon > plan.privacy.epsilon or plan.delta > plan.privacy.delta or not (plan.step or plan.inputs):
        raise BlobError("the plan costs more than was asked for, or has no grid: invalid plan.")
    mechanism_of(plan).check(plan)
    return plan


def _read_grouped(content: Mapping[str, Any]) -> Plan:
    """A plan in the current format."""
    odd = content.keys() ^ {"format", "asked", "mechanism", "cost", "accuracy", "numbers"}
    inputs = content.get("parts", [])
    odd -= {"parts"} if inputs else set()
    if not _is_plain(content["mechanism"], MechanismName):
        odd |= {"mechanism"}
    cost, accuracy = {**content["cost"]}, {**content["accuracy"]}  # TypeError if one is not an object
    numbers = {**_USUAL, "phantoms": asdict(NO_PHANTOMS), **content["numbers"]}
    if cost.get("pure_epsilon", 0.0) is None:
        cost["pure_epsilon"] = math.inf
    none = {"pure_epsilon"} if cost.get("pure_epsilon") == math.inf else set()  # entropy, sampling without a floor
    for whole, kinds in ((cost, _COST), (accuracy, _ACCURACY), (numbers, _NUMBERS)):
        odd |= whole.keys() ^ kinds.keys()
        plain = {name for name, kind in kinds.items() if kind is None or _is_plain(whole.get(name), kind)}
        odd |= kinds.keys() - plain - none
    _refuse(odd, inputs)
    own = Asked.from_dict(content["asked"])
    made = Plan(own, content["mechanism"], **cost, **accuracy, **_parsed(numbers), inputs=tuple(map(_read, inputs)))
    sampled_by = None if made.sampled is None else made.sampled.sampling
    answers = find(own.statistic, own.mechanism, sampled=own.sampling is not None) is mechanism_of(made)
    if not answers or own.sampling != sampled_by or any(one.deletes != made.deletes for one in made.inputs):
        raise BlobError(
            f"a plan of {made.statistic} has numbers that do not match what was asked. Make it again with ss.plan."
        )
    return made


def _read_flat(content: Mapping[str, Any]) -> Plan:
    """A plan in a format that does not store the question. The question is taken to be the plan's own numbers."""
    if content["format"] == _FIRST_FORMAT:
        content = _of_first_format(content)
    if content.get("pure_epsilon", 0.0) is None:
        content = {**content, "pure_epsilon": math.inf}
    # "sampled" is a dictionary if there is sampling, "parts" a list if there are inputs; otherwise they are absent.
    sampled, inputs = content.get("sampled", {}), content.get("parts", [])
    buckets = content.get("buckets", 1)
    odd = set(content) ^ {"format", "statistic", "privacy", "phantoms", *_FLAT}
    there = (("sampled", sampled), ("parts", inputs), ("buckets", _is_plain(buckets, int) and buckets > 1))
    odd -= {name for name, known in there if known}
    odd |= {name for name, kind in _FLAT.items() if not _is_plain(content.get(name), kind)}
    if content.get("pure_epsilon") == math.inf:
        odd -= {"pure_epsilon"}
    _refuse(odd, inputs)
    numbers = _parsed({**_USUAL, **{name: content[name] for name in _NUMBERS if name in content}})
    own = Asked(
        from_dict(content["statistic"]),
        Privacy.from_dict(content["privacy"]),
        expected=None if inputs else content["expected"] or None,
        mechanism=content["mechanism"],
        deletes=content["deletes"],
        sampling=numbers["sampled"] and numbers["sampled"].sampling,
    )
    claimed = {name: content[name] for name in (*_COST, *_ACCURACY)}
    made = Plan(own, content["mechanism"], **claimed, **numbers, inputs=tuple(map(_read, inputs)))
    return replace(made, asked=own.like(made))


def _parsed(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a plan from their JSON."""
    sampled = None if numbers["sampled"] is None else _sampled(numbers["sampled"])
    own = dict(numbers["own"])
    _refuse({name for name, value in own.items() if not _is_plain(value, float)}, [])
    return {
        **numbers, "phantoms": Phantoms.checked(**numbers["phantoms"]), "sampled": sampled, "own": tuple(own.items())
    }  # fmt: skip


def _sampled(data: Mapping[str, Any]) -> Sampled:
    numbers = {name: data[name] for name in ("bias", "unsampled_error", "unsampled_floor", "bare_epsilon")}
    sound = all(type(value) is float and not math.isnan(value) for value in numbers.values())
    if set(data) != {"sampling", *numbers} or not sound:
        raise TypeError("not the fields of a sampled plan")
    return Sampled(Sampling(**data["sampling"]), **numbers)


def _refuse(odd: set[str], inputs: object) -> None:
    if odd:
        named = ", ".join(shortened(name) for name in sorted(odd)[:5])
        raise BlobError(f"unknown or missing fields in a plan: {named}.")
    if not isinstance(inputs, list) or len(inputs) > _MOST_INPUTS:
        raise BlobError(f"a plan has more than {_MOST_INPUTS} measurements, or unreadable ones: invalid plan.")


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), default=asdict)


def _in_second_format(plan: Plan) -> dict[str, Any]:
    """The plan in the second format, which does not store the question."""
    content: dict[str, Any] = {name: getattr(plan, name) for name in _FLAT}
    content |= {"format": _SECOND_FORMAT, "statistic": plan.statistic.to_dict(), "privacy": plan.privacy.to_dict()}
    content["phantoms"] = plan.phantoms
    content |= {name: getattr(plan, name) for name in ("buckets", "sampled") if getattr(plan, name) != _USUAL[name]}
    if plan.inputs:
        content["parts"] = [_in_second_format(one) for one in plan.inputs]
    return content


def _finite(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with null for an infinite pure ε, because JSON has no infinities."""
    own = {**content, "pure_epsilon": None} if content["pure_epsilon"] == math.inf else dict(content)
    return {**own, "parts": [_finite(one) for one in content["parts"]]} if "parts" in content else own


def _of_first_format(content: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a plan of version 0.1.0, in which sketches of moments and entropy were released without noise."""
    if content["mechanism"] == "bare" or {"noise", "cap", "buckets"} & set(content):
        raise BlobError("a plan of version 0.1.0 cannot have this mechanism, noise, cap or buckets: invalid plan.")
    inputs = [_of_first_format(one) for one in content.get("parts", [])]
    kind = STATISTICS.get(content["statistic"]["name"], Statistic)
    bare = any(one["mechanism"] == "bare" for one in inputs) if inputs else kind.bare_in_first_version
    mechanism = "bare" if content["mechanism"] == "sketch" and bare else content["mechanism"]
    own = {**content, "format": _SECOND_FORMAT, "mechanism": mechanism, "noise": 0.0, "cap": 0.0}
    return {**own, "parts": inputs} if inputs else own


def _in_first_format(content: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `_of_first_format`."""
    own = {name: value for name, value in content.items() if name not in ("noise", "cap")}
    own |= {"format": _FIRST_FORMAT, "mechanism": "sketch" if content["mechanism"] == "bare" else content["mechanism"]}
    return {**own, "parts": [_in_first_format(one) for one in content["parts"]]} if "parts" in content else own


def _is_plain(value: object, kind: object) -> bool:
    """Whether a field has its type and a value that a plan can have: numbers are finite and not negative."""
    if kind is MechanismName:
        return value in get_args(MechanismName)
    # An int is not converted: one of 400 digits has no float.
    return type(value) is kind and 0 <= value <= (sys.float_info.max if kind is float else MOST_WHOLE)  # type: ignore[operator]


_COST = {"epsilon": float, "delta": float, "pure_epsilon": float}
_ACCURACY = {"error": float, "relative": bool, "expected": float, "exact_error": float}
_NUMBERS: dict[str, type | None] = {
    "size": int, "buckets": int, "step": float, "noise": float, "cap": float, "phantoms": None, "sampled": None,
    "bytes": int, "own": None,
}  # fmt: skip
_USUAL: dict[str, Any] = {each.name: each.default for each in fields(Numbers)}
_FLAT: dict[str, object] = {
    "mechanism": MechanismName, **_COST, **_ACCURACY, "deletes": bool,
    "size": int, "step": float, "noise": float, "cap": float, "bytes": int,
}  # fmt: skip
