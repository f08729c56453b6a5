"""Resource keys with places for arguments: `order:{order_id}`, `file:{path}`, `shop/{order.customer}`.

A place names a parameter, or a property inside it by dots. A list gives one key per item. Where there is no value, the
key is cut before the last `/` in front of the place: `a` stands for all of `a/b`, and the empty key for everything, so
that a call of unknown reach is never taken for a harmless one.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterable, Sequence
from typing import cast

from wieldy.core.errors import ToolSignatureError
from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.schema import nearest
from wieldy.schema.resolve import accepted_types, conjunction


def check_templates(templates: object, document: JsonObject, *, subject: str) -> tuple[str, ...]:
    """The templates as a tuple, each found to fit the input schema.

    Raises:
        ToolSignatureError: One of them is no template, or names no parameter.
    """
    if isinstance(templates, str) or not isinstance(templates, Iterable):
        raise ToolSignatureError(
            f'{subject}: expected a list of keys such as ["order:{{order_id}}"], found {templates!r}.'
        )
    found: list[str] = []
    for template in cast("Iterable[object]", templates):
        if not isinstance(template, str) or not template.strip():
            raise ToolSignatureError(f"{subject}: expected keys that are text, found {template!r}.")
        for name in _names(template, subject):
            _check_name(name, template, document, subject)
        found.append(template)
    return tuple(found)


def fill(templates: Sequence[str], arguments: JsonObject) -> tuple[str, ...]:
    """The keys of one call, each once."""
    return tuple(dict.fromkeys(key for template in templates for key in _filled(template, arguments)))


def _names(template: str, subject: str) -> list[str]:
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ToolSignatureError(f"{subject}: the key {template!r} cannot be read: {error}.") from error
    for _, name, form, conversion in parts:
        if name is not None and (form or conversion or not all(part.isidentifier() for part in name.split("."))):
            raise ToolSignatureError(
                f"{subject}: expected a parameter's name between the braces of {template!r}, found "
                f"{name + (f'!{conversion}' if conversion else '') + (f':{form}' if form else '')!r}."
            )
    return [name for _, name, _, _ in parts if name is not None]


def _check_name(name: str, template: str, document: JsonObject, subject: str) -> None:
    location: tuple[str | int, ...] = ()
    for part in name.split("."):
        known: dict[str, tuple[str | int, ...]] = {}
        for place, schema in conjunction(document, location):
            properties = schema.get("properties")
            known.update(
                {key: (*place, "properties", key) for key in properties} if isinstance(properties, dict) else {}
            )
        if part not in known:
            if location and not known:
                return  # an object whose properties nobody declared
            hint = nearest(part, known)
            instead = f"did you mean {hint!r}?" if hint else f"expected one of {', '.join(known) or 'none'}."
            raise ToolSignatureError(
                f"{subject}: the key {template!r} names {part!r}, which is no parameter; {instead}"
            )
        location = known[part]
    if accepted_types(document, location) <= {"object", "null"}:
        raise ToolSignatureError(
            f"{subject}: the key {template!r} names {name!r}, which is an object; name one of its properties by a dot."
        )


def _filled(template: str, arguments: JsonObject) -> Iterable[str]:
    parts = list(string.Formatter().parse(template))
    choices = [_texts(name, arguments) for _, name, _, _ in parts if name is not None]
    for chosen in itertools.product(*choices):
        yield _key([(literal, name is not None) for literal, name, _, _ in parts], iter(chosen))


def _key(parts: list[tuple[str, bool]], values: Iterable[str | None]) -> str:
    key, remaining = "", iter(values)
    for literal, has_value in parts:
        key += literal
        if has_value:
            value = next(remaining)
            if value is None:
                return key[: key.rfind("/") + 1].rstrip("/")
            key += value
    return key


def _texts(name: str, arguments: JsonObject) -> list[str | None]:
    value: JsonValue = arguments
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    values = value if isinstance(value, list) else [value]
    return [None if item is None else item if isinstance(item, str) else canonical_json(item) for item in values]
