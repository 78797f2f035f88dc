"""A release in the fields of the OpenDP registry of differential privacy deployments, as YAML.

The registry describes a deployment in six sections: what the product is, which variant of differential privacy it has,
the unit and the size of its privacy loss, who is trusted, how it was computed, and who filled it in. A release knows
most of this. What only its curator knows is marked "Fill in:"; a note at the top of the file says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..plan.in_words import of_one_person
from ..release.outcome import Outcome
from ..release.shares import in_words
from ..text.spoken import at_most
from .report import Context, explained
from .sentences import Explained, computed

_HEAD = """\
# This release in the fields of the OpenDP registry of differential privacy deployments.
# Every text that begins with "Fill in:" is for you to replace. Everything else follows from the release.
"""


def check_registry_path(path: Path) -> None:
    """Refuses a path that does not end in .yaml."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise ArgumentError("registry", str(path), "must end in .yaml", "Choose another name")


def registry_entry(outcome: Outcome, context: Context) -> str:
    """The entry. It contains no value of the release, and nothing else that comes from the data."""
    own, name = explained(outcome, context, "Describe"), _name(outcome, context)
    entry = {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "release",
        "deployment": {
            "basic": _basic(outcome, context, name),
            "dp_variant": _variant(own),
            "privacy_loss": _loss(own),
            "deployment_model": _trust(context),
            "implementation": _implementation(outcome, context, own),
            "administrative": {
                "status": "Draft",
                "registry_authors": ["Fill in: who described it"],
                "tier": 3,
            },
        },
    }
    return _HEAD + "\n".join(_yaml(entry)) + "\n"


def _name(outcome: Outcome, context: Context) -> str:
    named = context.named
    return ", ".join(filter(None, (named.label or str(outcome.plan.statistic), named.dataset, named.period)))


def _basic(outcome: Outcome, context: Context, name: str) -> dict[str, Any]:
    statistic = outcome.plan.statistic
    by = f" for each {context.by}" if outcome.grouped and context.by else ""
    return {
        "name": name,
        "data_curators": [
            {
                "data_curator_name": "Fill in: who publishes it",
                "data_curator_type": "Fill in: Government, Industry or Nonprofit",
            }
        ],
        "description": f"{statistic}{by}: {statistic.definition()}",
        "intended_use": "Fill in: what it is for",
        "data_product_type": "Summary statistics",
        "data_product_region": "Fill in: what region it describes",
        "publication_date": context.date,
    }


def _variant(own: Explained) -> dict[str, Any]:
    public = []
    if own.groups and not own.paid_for("names"):
        public.append(f"The names of all {own.groups:,} groups: they were listed.")
    if own.release.relation == "replace":
        public.append(f"The number of {own.unit}s.")
    return {
        "variant_name": "Approximate DP" if own.release.delta else "Pure DP",
        "data_domain": _lines(f"{what}: {how}" for what, how in own.terms()),
        "unprotected_quantities": _lines(public) if public else "None.",
    }


def _loss(own: Explained) -> dict[str, Any]:
    release, most = own.release, own.release.pairs_per_person
    unit = own.unit.capitalize() if most == 1 else of_one_person(most, own.unit)
    if own.protects_people:
        unit = "Person"
    return {
        "privacy_unit": unit,
        "privacy_unit_details": f"Neighbouring data differ by {own.change()}. {own.whom('the release')}",
        "privacy_parameters": {"epsilon": float(at_most(release.epsilon)), "delta": float(at_most(release.delta, 3))},
        "privacy_parameters_details": own.cost(),
    }


def _trust(context: Context) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "actors": _lines([
            "The curator holds the data and runs the release; data subjects trust the curator with both.",
            "Anyone who runs the computation sees the data and a secret that is used once.",
            "Readers see only the release, may know anything else, and are not trusted.",
        ]),
        "release_type": "One release",
        "release_type_details": context.ledger or "Every further release of the same data costs its own ε on top.",
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }  # fmt: skip


def _implementation(outcome: Outcome, context: Context, own: Explained) -> dict[str, Any]:
    plan, shares, release = own.plan, own.shares, own.release
    used = f"At most {release.pairs_per_person:,} {own.pair}s of each person were used, drawn at random."
    found = " and on the maximum value that was found privately" if own.paid_for("max_value") else ""
    sized = f"The size of the sketch and the noise depend on public numbers alone{found}."
    divided = in_words(shares, release.epsilon, grouped=bool(own.groups))
    composition = [
        f"ε was divided: {divided}." if len(shares) > 1 else "",
        "Several measurements compose by their privacy loss distributions." if len(plan.measurements) > 1 else "",
        "All groups together cost as much as one (the price is for the whole table)." if own.groups else "",
        context.ledger,
    ]
    return {
        "preprocessing_and_hyperparameter_tuning": _lines([*([used] if own.person else []), sized]),
        "mechanisms": _lines([
            *own.chosen(),
            *computed(outcome.plan),
            f"Software: stablesketch {context.version}. What is known about its floating point, timing and other side "
            "channels is in its docs/evaluation.md.",
        ]),
        "composition": " ".join(filter(None, composition)) or "One measurement.",
        "post_processing": "Limits of the interval, and values computed from several measurements.",
        "justification": "Fill in: how ε and the unit of privacy were chosen",
        "utility": f"Planned error: {outcome.planned_error}. {own.limits()}",
    }  # fmt: skip


def _lines(items: Iterator[str] | Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _yaml(content: Any, indent: str = "") -> Iterator[str]:
    """YAML in blocks. Texts are written as JSON, which is also YAML; those of several lines are written as they are."""
    if isinstance(content, dict):
        for name, value in content.items():
            if isinstance(value, (dict, list)):
                yield f"{indent}{name}:"
                yield from _yaml(value, indent + "  ")
            elif isinstance(value, str) and "\n" in value:
                yield f"{indent}{name}: |"
                yield from (f"{indent}  {line}" for line in value.splitlines())
            else:
                yield f"{indent}{name}: {_scalar(value)}"
    else:
        for value in content:
            if isinstance(value, dict):
                first, *rest = _yaml(value, indent + "  ")
                yield f"{indent}- {first.lstrip()}"
                yield from rest
            else:
                yield f"{indent}- {_scalar(value)}"


def _scalar(value: str | float) -> str:
    """A number or a text. A float needs a point: YAML 1.1 would read 1e-09 as text."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("e", ".0e") if isinstance(value, float) and "e" in text and "." not in text else text
