"""A task's functions as tools that a model is offered, and the names on both sides.

Types are translated into JSON Schema, names into those that every provider takes. For Java and JavaScript every value
is a text that holds a literal of the language, as the benchmark has it. Deliberately not here: carrying out
calls; those of tasks of one turn are only compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonObject, sha256
from wieldy.evals.bfcl.categories import Language
from wieldy.evals.bfcl.data import BfclTask
from wieldy.tools.names import MAX_NAME_LENGTH

_TYPES: Final = {"dict": "object", "float": "number", "tuple": "array"}
_KNOWN: Final = frozenset({"object", "number", "array", "string", "integer", "boolean"})
_KEYWORDS: Final = ("description", "enum", "default", "minItems", "maxItems", "minimum", "maximum", "uniqueItems")
_NAMES_OF_LANGUAGES: Final[dict[Language, str]] = {"python": "Python 3", "java": "Java 8", "javascript": "JavaScript"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a model is shown.

    Attributes:
        names: The benchmark's names by those that the model sees.
    """

    definitions: tuple[ToolDefinition, ...]
    names: Mapping[str, str]

    def shown(self, name: str) -> str:
        """What the model sees for the benchmark's name; the name itself where there is no such function."""
        return next((shown for shown, own in self.names.items() if own == name), name)


def offer_of(task: BfclTask) -> Offer:
    """The task's functions as definitions; of several with one name, the first."""
    return offered(task.functions, task.category.language)


def offered(functions: Iterable[Mapping[str, Any]], language: Language = "python") -> Offer:
    """The functions as definitions; of several with one name, the first."""
    names = dict[str, str]()
    definitions = list[ToolDefinition]()
    for function in functions:
        if function["name"] in names.values():
            continue
        shown = _shown(function["name"], taken=names)
        names[shown] = function["name"]
        definitions.append(_definition(shown, function, language))
    return Offer(definitions=tuple(definitions), names=names)


def _shown(name: str, *, taken: Mapping[str, str]) -> str:
    shown = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    if len(shown) > MAX_NAME_LENGTH or shown in taken or not shown:
        shown = f"{shown[: MAX_NAME_LENGTH - 9]}_{sha256(name)[:8]}"
    return shown


def _definition(shown: str, function: Mapping[str, Any], language: Language) -> ToolDefinition:
    parameters: Mapping[str, Any] = function["parameters"]
    properties: Mapping[str, Mapping[str, Any]] = parameters.get("properties") or {}
    read = _schema if language == "python" else _literal_schema(language)
    return ToolDefinition(
        name=shown,
        description=f"{function['description']} (In {_NAMES_OF_LANGUAGES[language]}.)",
        input_schema={
            "type": "object",
            "properties": {name: read(detail) for name, detail in properties.items()},
            "required": [name for name in parameters.get("required") or () if name in properties],
            "additionalProperties": False,
        },
    )


def _schema(detail: Mapping[str, Any]) -> JsonObject:
    schema: JsonObject = {key: detail[key] for key in _KEYWORDS if key in detail}
    kind = _TYPES.get(str(detail.get("type")), str(detail.get("type")))
    if kind in _KNOWN:
        schema["type"] = kind
    properties = cast("Mapping[str, Mapping[str, Any]] | None", detail.get("properties"))
    if kind == "object" and properties:
        schema["properties"] = {name: _schema(each) for name, each in properties.items()}
        schema["required"] = [name for name in detail.get("required") or () if name in properties]
    if kind == "array" and isinstance(detail.get("items"), dict):
        schema["items"] = _schema(detail["items"])
    return schema


def _literal_schema(language: Language) -> Any:
    name = _NAMES_OF_LANGUAGES[language]

    def read(detail: Mapping[str, Any]) -> JsonObject:
        kind = str(detail.get("type"))
        what = "value of any type" if kind == "any" else f"value of type {kind}"
        items = cast("Mapping[str, Any] | None", detail.get("items"))
        told = f" of {items.get('type')}" if items else ""
        description = f"{detail.get('description', '')} Give the {name} {what}{told} as a text."
        return {"type": "string", "description": description.strip()}

    return read
