"""What answered, recorded whole: the configuration, what its model tells of itself, and this harness.

Law: results of two different deployments are never kept under one name. Where only one of two says something, they do
not contradict each other: a server that was down had nothing to say. Deliberately not here: finding out (`connect`).
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast, runtime_checkable

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, canonical_json

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from wieldy.core.json import JsonValue
    from wieldy.core.ports import Model
    from wieldy.evals.cases.configurations import Configuration


PLACE: Final = "place"
"""What the source of a study's tasks says under this name: their file, as named from the folder of results."""


@runtime_checkable
class Deployed(Protocol):
    """A model that can tell more of itself than its name."""

    async def deployment(self) -> JsonObject:
        """What answers.

        Raises:
            ModelNotAvailableError: Nothing does, and nothing will.
        """
        ...


async def deployment_of(configuration: Configuration, model: Model | None, *, policy: str | None = None) -> JsonObject:
    """Everything that is known of what answers, never a mere name; a script of the tasks has no model.

    Args:
        configuration: What is wanted.
        model: Is asked; None where it is not.
        policy: By its name, what is asked before its calls.

    Raises:
        ModelNotAvailableError: The model cannot be had.
    """
    told = await model.deployment() if isinstance(model, Deployed) else None
    return {**unasked_deployment(configuration, policy=policy), "deployed": told}


def unasked_deployment(configuration: Configuration, *, policy: str | None = None) -> JsonObject:
    """What is known of what answers before it is asked."""
    return {
        "model": configuration.model,
        "settings": dict(configuration.settings),
        "deployed": None,
        "policy": policy,
        "harness": version("wieldy"),
        "python": platform.python_version(),
        "system": f"{sys.platform} {platform.machine()}",
    }


def with_deployments(
    folder: Path, before: JsonObject, *, suite: str, source: JsonObject, found: Mapping[str, JsonObject]
) -> JsonObject:
    """What a study is, with what was in its folder before.

    Raises:
        UsageError: That was another suite, one of another file, or the same configuration of another deployment.
    """
    if before and before.get("suite") != suite:
        raise UsageError(
            f"{folder}: expected results of {suite!r}, found those of {before.get('suite')!r}. Give another folder."
        )
    there = before.get("source")
    where = contradiction({PLACE: there.get(PLACE)}, {PLACE: source.get(PLACE)}) if isinstance(there, dict) else None
    if where is not None:
        raise UsageError(
            f"{folder}: expected the file of tasks that results here are of, found another one: {where}, as named from "
            "the folder. Give another folder."
        )
    known = before.get("deployments")
    deployments: JsonObject = dict(known) if isinstance(known, dict) else {}
    for name, deployment in found.items():
        there = deployments.get(name)
        if isinstance(there, dict):
            where = contradiction(there, deployment)
            if where is not None:
                raise UsageError(
                    f"{folder}: {name!r} is not what its results here are of: {where}. Results of both in one table "
                    "would mislead: give another folder."
                )
            deployment = merged(there, deployment)  # noqa: PLW2901 - what is known by now
        deployments[name] = deployment
    return {**before, "suite": suite, "source": source, "deployments": deployments}


def with_judges(folder: Path, study: JsonObject, judges: Mapping[str, JsonObject]) -> JsonObject:
    """What a study is, with who judges in it.

    Raises:
        UsageError: Others judged there before, or the same with other settings, or nobody does now.
    """
    before = study.get("judges")
    known: JsonObject = dict(before) if isinstance(before, dict) else {}
    if known and not judges:
        raise UsageError(
            f"{folder}: results here were judged by {', '.join(known)}; trials that nobody judges are not like them. "
            "Name the same judges by --judge, or give another folder."
        )
    if known and (where := contradiction(known, {**judges}) or _other_names(known, judges)) is not None:
        raise UsageError(f"{folder}: results here were judged otherwise: {where}. Give another folder.")
    return {**study, "judges": merged(known, {**judges})} if judges else study


def _other_names(known: Collection[str], judges: Collection[str]) -> str | None:
    return None if set(known) == set(judges) else f"by {', '.join(known)}, not by {', '.join(judges)}"


def contradiction(one: JsonObject, other: JsonObject, path: str = "") -> str | None:
    """Where two records say different things, and what; None if they do not."""
    for key in sorted(one.keys() & other.keys()):
        first, second, place = one[key], other[key], f"{path}{key}"
        if first is None or second is None:
            continue
        if isinstance(first, dict) and isinstance(second, dict) and key != "settings":
            found = contradiction(first, second, f"{place}.")
            if found is not None:
                return found
        elif canonical_json(first) != canonical_json(second):
            return f"{place} was {_short(first)} and is {_short(second)}"
    return None


def _short(value: JsonValue) -> str:
    text = canonical_json(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def merged(one: JsonObject, other: JsonObject) -> JsonObject:
    """What either of two records says that do not contradict each other."""
    found: JsonObject = dict(one)
    for key, value in other.items():
        there = found.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            found[key] = merged(there, cast("JsonObject", value))
        elif there is None:
            found[key] = value
    return found
