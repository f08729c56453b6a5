"""The fields of a response template, checked: what each is opened and closed by and how its content is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from wieldy.core.errors import UsageError
from wieldy.formats.response_templates.expressions import Choice, Piece, Run, Text, pieces

_MEANS = {
    "content": "content",
    "tool_calls": "calls",
    "reasoning_content": "reasoning",
    "thinking": "reasoning",
    "reasoning": "reasoning",
}
_TEMPLATE_KEYS = {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"}
_FIELD_KEYS = {
    *("open", "open_pattern", "close", "close_pattern", "content", "content_args"),
    *("repeats", "join", "optional", "transform", "transform_each"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field.

    Attributes:
        where: Its place in the template, for messages.
        open: The alternatives that open it; None if it has what is left over.
        close: The alternatives that close it.
        content: How its content is read.
        is_each: Whether the transform is for each item of the content.
        strips: Whether layout at its edges is dropped.
    """

    where: str
    open: tuple[tuple[Piece, ...], ...] | None
    close: tuple[tuple[Piece, ...], ...]
    content: str
    arguments: Mapping[str, object]
    transform: object
    is_each: bool
    strips: bool

    @property
    def open_text(self) -> list[str]:
        """The letters of each alternative that opens it."""
        return [_letters(option) for option in self.open or ()]


def refused(where: str, expected: str, found: str) -> UsageError:
    """That a part of a template has no node."""
    return UsageError(
        f"{where}: expected {expected}, found {found}. Define the format by hand with the nodes of wieldy.formats."
    )


def checked_fields(template: object) -> dict[str, Field]:
    """The fields by what they mean: content, calls, reasoning.

    Raises:
        UsageError: The template is none, or has a field that no reply of ours has.
    """
    spec = _object(template, "response_template")
    if unknown := set(spec) - _TEMPLATE_KEYS:
        raise refused("response_template", f"the keys {sorted(_TEMPLATE_KEYS)}", str(sorted(unknown)))
    if spec.get("version", 1) != 1:
        raise refused("response_template.version", "1", repr(spec["version"]))
    found: dict[str, Field] = {}
    for name, raw in _object(spec.get("fields"), "fields").items():
        if name not in _MEANS or _MEANS[name] in found:
            raise refused("fields", "content, tool_calls and one of reasoning_content or thinking", repr(name))
        found[_MEANS[name]] = _field(f"fields.{name}", _object(raw, f"fields.{name}"))
    if "calls" not in found:
        raise refused("fields", "the field 'tool_calls'", f"only {sorted(_object(spec.get('fields'), 'fields'))}")
    return found


def start_anchor(template: Mapping[str, object]) -> str:
    """The first text with which a reply may begin; empty if that is no plain text."""
    options = _anchor(template, "start_anchor", "response_template")
    if options is None:
        raise refused("response_template", "'start_anchor' or 'start_anchor_pattern'", "neither")
    return _letters(options[0]) if options else ""


def _field(where: str, raw: Mapping[str, object]) -> Field:
    if unknown := set(raw) - _FIELD_KEYS:
        raise refused(where, f"the keys {sorted(_FIELD_KEYS)}", str(sorted(unknown)))
    arguments = _object(raw.get("content_args", {}), f"{where}.content_args")
    content = raw.get("content", "text")
    is_text = not where.endswith("tool_calls")
    if not isinstance(content, str) or (is_text and (content != "text" or raw.get("transform") is not None)):
        raise refused(f"{where}.content", "'text' without a transform" if is_text else "a name", repr(content))
    return Field(
        where=where,
        open=_anchor(raw, "open", where),
        close=_anchor(raw, "close", where) or (),
        content=content,
        arguments=arguments,
        transform=raw.get("transform"),
        is_each=raw.get("transform_each", False) is True,
        strips=arguments.get("strip", True) is not False,
    )


def _anchor(raw: Mapping[str, object], key: str, where: str) -> tuple[tuple[Piece, ...], ...] | None:
    literal, pattern = raw.get(key), raw.get(f"{key}_pattern")
    match literal, pattern:
        case None, None:
            return None
        case None, str():
            return pieces(pattern, where=f"{where}.{key}_pattern")
        case str(), None if literal:
            return ((Text(literal),),)
        case list(), None if literal and all(isinstance(item, str) and item for item in cast("list[object]", literal)):
            return tuple((Text(item),) for item in cast("list[str]", literal))
        case _:
            raise refused(f"{where}.{key}", "a text, texts, or one expression", repr(literal or pattern)[:80])


def _letters(option: tuple[Piece, ...]) -> str:
    """The texts of a sequence, what may be missing left out, the first of alternatives taken."""
    found = ""
    for piece in option:
        match piece:
            case Text(text=text):
                found += text
            case Choice(is_optional=False, is_ahead=False, options=options):
                found += _letters(options[0])
            case _:
                found += "" if not isinstance(piece, Run) else "x"
    return found


def _object(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise refused(where, "an object", type(value).__name__)
    return cast("Mapping[str, object]", value)
