"""What of an entry somebody has said, and the same entry without secrets.

A table says for each kind which of its fields are content, and of what sort; all others are the runtime's own. Kinds
that are not in it are not the runtime's, and are masked as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from wieldy.core.ports import Draft, Entry
from wieldy.run.control import FINISH
from wieldy.run.journal import kinds
from wieldy.run.results import read_result_tool
from wieldy.run.results.masks import Mask
from wieldy.run.secrecy.names import together

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.tools import Tool

_Field: TypeAlias = "Callable[[Secrecy, Any], Any]"

_SHOWN_IN_SCHEMAS: Final = ("title", "description", "default", "examples", "const", "enum", "pattern")
"""Keywords whose values are words; under all others stand names and rules, which a mask would break."""

_BY_NAME: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords whose values hold schemas by names, which are no keywords."""


class Secrecy:
    """Of one run.

    Args:
        secrets: By name; at least one.
        tools: On offer; their names, and those of their parameters, stay as they are where they are used as such.

    Attributes:
        mask: Finds them.

    Raises:
        UsageError: A secret cannot be masked.
    """

    def __init__(self, secrets: Mapping[str, str], *, tools: Iterable[ToolDefinition] = ()) -> None:
        self.mask = Mask(secrets)
        offered = (*tools, FINISH, read_result_tool(lambda handle: None).definition)
        self._tool_names = {definition.name for definition in offered}
        self._parameters = {name for definition in offered for name in _names_in(definition.input_schema)}

    def draft(self, draft: Draft) -> Draft:
        """The draft without secrets."""
        return Draft(draft.kind, self._data(draft.kind, draft.data))

    def entry(self, entry: Entry) -> Entry:
        """The entry as it would be if its writer had known the secrets."""
        return entry._replace(data=self._data(entry.kind, entry.data))

    def name(self, name: str) -> str:
        """What a model wrote as a tool's name, without secrets."""
        return name if name in self._tool_names else self.mask.text(name)

    def arguments(self, arguments: JsonObject) -> JsonObject:
        """A call's arguments without secrets."""
        return cast("JsonObject", self._argument(arguments))

    def _argument(self, value: JsonValue) -> JsonValue:
        match value:
            case dict():
                return {self._parameter(name): self._argument(item) for name, item in value.items()}
            case list():
                return [self._argument(item) for item in value]
            case _:
                return self.mask.value(value)

    def _parameter(self, name: str) -> str:
        return name if name in self._parameters else self.mask.text(name)

    def definition(self, definition: ToolDefinition) -> ToolDefinition:
        """The tool as a model may see it."""
        shown = definition.use_when, definition.avoid_when
        use_when, avoid_when = (None if text is None else self.mask.text(text) for text in shown)
        output_schema = definition.output_schema
        return replace(
            definition,
            description=self.mask.text(definition.description),
            input_schema=_schema(self, definition.input_schema),
            output_schema=None if output_schema is None else _schema(self, output_schema),
            examples=tuple(cast("JsonObject", self.mask.value(example)) for example in definition.examples),
            use_when=use_when,
            avoid_when=avoid_when,
        )

    def _data(self, kind: str, data: JsonObject) -> JsonObject:
        fields = _CONTENT.get(kind)
        if fields is None:
            return cast("JsonObject", self.mask.value(data))
        return {name: fields[name](self, value) if name in fields else value for name, value in data.items()}


def secrecy_of(own: Mapping[str, str], others: Mapping[str, str], tools: Iterable[Tool]) -> Secrecy | None:
    """That of a run with these secrets of its own and of the runs around it; None if there are none.

    Args:
        own: By name.
        others: By name as well.
        tools: That are on offer.
    """
    secrets = together(own, others)
    if not secrets:
        return None
    return Secrecy(secrets, tools=[tool.definition for tool in tools])


def _value(secrecy: Secrecy, value: JsonValue) -> JsonValue:
    return secrecy.mask.value(value)


def _name(secrecy: Secrecy, name: str | None) -> str | None:
    return None if name is None else secrecy.name(name)


def _starting(secrecy: Secrecy, messages: list[dict[str, Any]]) -> list[JsonValue]:
    """The messages that a run starts from: their ids are somebody else's."""
    masked = [_message(secrecy, message) for message in messages]
    for message in masked:
        for part in message["parts"]:
            part.update({key: _value(secrecy, part[key]) for key in ("id", "tool_call_id", "handle") if key in part})
    return cast("list[JsonValue]", masked)


def _message(secrecy: Secrecy, message: dict[str, Any]) -> dict[str, Any]:
    parts = [_PARTS[part["type"]](secrecy, part) for part in message["parts"]]
    texts = [part for part in parts if part["type"] == "text"]
    text = "".join(part["text"] for part in texts)
    masked = secrecy.mask.text(text)
    if masked != text:  # it stood in several parts
        texts[0]["text"] = masked
        parts = [part for part in parts if part["type"] != "text" or part is texts[0]]
    return {**message, "parts": parts}


def _reasoning(secrecy: Secrecy, part: dict[str, Any]) -> dict[str, Any]:
    masked = _fields("text", "signature")(secrecy, part)
    return masked if masked == part else {**masked, "signature": None}  # it would sign something else


def _attachment(secrecy: Secrecy, part: dict[str, Any]) -> dict[str, Any]:
    found = secrecy.mask.names_in(part["url"])
    if found:
        kind = "A file" if part["type"] == "file" else "An image"
        return {"type": "text", "text": f"[{kind} is left out: it contains {', '.join(found)}.]"}
    return _fields("name", "media_type")(secrecy, part)


def _call(secrecy: Secrecy, part: dict[str, Any]) -> dict[str, Any]:
    masked = _fields("text", "error", "forced")(secrecy, part)
    if "arguments" in part:
        masked["arguments"] = secrecy.arguments(part["arguments"])
    provider_id = part["provider_id"]
    is_shown = provider_id is None or secrecy.mask.text(provider_id) == provider_id
    return {**masked, "name": _name(secrecy, part["name"]), "provider_id": provider_id if is_shown else None}


def _result(secrecy: Secrecy, result: dict[str, Any]) -> dict[str, Any]:
    masked = _fields("content", "structured_content", "source")(secrecy, result)
    if "parts" in result:
        parts = [_attachment(secrecy, part) for part in result["parts"]]
        left_out = [part["text"] for part in parts if part["type"] == "text"]
        masked["parts"] = [part for part in parts if part["type"] != "text"]
        masked["content"] = "\n".join([masked["content"], *left_out])
    return masked


def _left(secrecy: Secrecy, left: dict[str, Any]) -> dict[str, Any]:
    doubts = [{**doubt, "arguments": secrecy.arguments(doubt["arguments"])} for doubt in left["doubts"]]
    return {**left, "doubts": doubts}


def _definitions(secrecy: Secrecy, definitions: list[JsonObject]) -> list[JsonValue]:
    return [_schema(secrecy, definition) for definition in definitions]


def _schema(secrecy: Secrecy, schema: JsonObject) -> JsonObject:
    return {keyword: _keyword(secrecy, keyword, value) for keyword, value in schema.items()}


def _keyword(secrecy: Secrecy, keyword: str, value: JsonValue) -> JsonValue:
    if keyword in _SHOWN_IN_SCHEMAS:
        return secrecy.mask.value(value)
    match value:
        case dict() if keyword in _BY_NAME:
            return {name: _keyword(secrecy, "", schema) for name, schema in value.items()}
        case dict():
            return _schema(secrecy, value)
        case list():
            return [_keyword(secrecy, "", item) for item in value]
        case _:
            return value


def _names_in(schema: JsonValue) -> Iterator[str]:
    """The names of all parameters, also of those within others."""
    match schema:
        case dict():
            for keyword, value in schema.items():
                if keyword == "properties" and isinstance(value, dict):
                    yield from value
                yield from _names_in(value)
        case list():
            for item in schema:
                yield from _names_in(item)
        case _:
            return


def _fields(*names: str) -> _Field:
    def masked(secrecy: Secrecy, data: dict[str, Any]) -> dict[str, Any]:
        return {name: _value(secrecy, value) if name in names else value for name, value in data.items()}

    return masked


_PARTS: Final[Mapping[str, _Field]] = {
    "text": _fields("text"),
    "reasoning": _reasoning,
    "image": _attachment,
    "file": _attachment,
    "call": _call,
    "invalid_call": _call,
    "result": _result,
}

_OUTCOME: Final[Mapping[str, _Field]] = {
    "result": _result,
    "detail": _value,
    "whole": _value,
    "left": _left,
    "answer": _value,
}
_FAILURE: Final[Mapping[str, _Field]] = dict.fromkeys(("error", "message", "detail"), _value)

_CONTENT: Final[Mapping[str, Mapping[str, _Field]]] = {
    kinds.RUN_STARTED: {
        "model": _value,
        "messages": _starting,
        "tools": _definitions,
        "principal": _value,
        "metadata": _value,
    },
    kinds.RUN_RESUMED: {"by": _value},
    kinds.TURN_STARTED: {},
    kinds.REPLY: {"message": _message, "forced": _value},
    kinds.CORRECTION: {"message": _message, "detail": _value},
    kinds.CALL_WAITING: {"arguments": Secrecy.arguments, "reason": _value},
    kinds.APPROVAL: {"by": _value, "reason": _value},
    kinds.CALL_STARTED: {"arguments": Secrecy.arguments, "repairs": _value, "approved_by": _value},
    kinds.ATTEMPT_FAILED: {"error": _value, "message": _value, "left": _left},
    kinds.CALL_FINISHED: _OUTCOME,
    kinds.CALL_CAME_LATE: _OUTCOME,
    kinds.LIMIT_REACHED: {},
    kinds.RUN_PAUSED: {},
    kinds.RUN_FINISHED: {},
    kinds.RUN_FAILED: _FAILURE,
    kinds.RUN_INTERRUPTED: _FAILURE,
}
