"""A request and a backend put together: what is sent, how far it holds, and how the reply is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from wieldy.connect.models.backends.taken import NOTHING, Asked, Backend, Reading, Taken
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.ports import ModelRequest

_BESIDE_TOOLS: Final = {
    "in a chat format": "an answer beside tools, unless the program names the model's chat format",
    "never": "an answer beside tools: it would forbid calls",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is asked of a server for one request.

    Attributes:
        answer: What it takes of the output.
        calls: What it takes of the tools.
    """

    answer: Taken = NOTHING
    calls: Taken = NOTHING

    @property
    def is_constrained(self) -> bool:
        """Whether anything is sent that a server might refuse."""
        return bool(self.fields or self.strict or self.answer.tools)

    @property
    def fields(self) -> JsonObject:
        """The request fields."""
        return {**self.calls.fields, **self.answer.fields}

    @property
    def strict(self) -> frozenset[str]:
        """Names of the tools that are sent as strict."""
        return self.calls.strict

    @property
    def reading(self) -> Reading:
        """How the reply is read."""
        return replace(
            self.answer.reading,
            calls=self.calls.reading.calls,
            chat_format=self.answer.reading.chat_format or self.calls.reading.chat_format,
        )

    def request(self, request: ModelRequest) -> ModelRequest:
        """The request with the tools and the choice that are sent."""
        for taken in (self.calls, self.answer):
            if taken.tools is not None:
                request = replace(request, tools=taken.tools)
            if taken.tool_choice is not None:
                request = replace(request, tool_choice=taken.tool_choice)
        return request


def plan_of(backend: Backend, asked: Asked, *, options: Mapping[str, JsonValue]) -> Plan:
    """What the backend takes of what is asked, beside the program's own options, which are not touched."""
    calls = _unless_decided(backend.calls(asked), options) if asked.may_call else NOTHING
    if asked.output is None or asked.must_call:
        return Plan(calls=calls)
    if asked.may_call and not _takes_both(backend, asked):
        return Plan(answer=Taken(how="prompt", cannot=(_BESIDE_TOOLS[backend.takes_both],)), calls=calls)
    return Plan(answer=_unless_decided(backend.answer(asked, asked.output), options), calls=calls)


def merged(options: JsonObject, fields: JsonObject) -> JsonObject:
    """Both together; a field that is an object in both has the members of both."""
    return options | {name: _both(options.get(name), value) for name, value in fields.items()}


def _both(option: JsonValue, field: JsonValue) -> JsonValue:
    return {**option, **field} if isinstance(option, dict) and isinstance(field, dict) else field


def _takes_both(backend: Backend, asked: Asked) -> bool:
    return backend.takes_both == "always" or (backend.takes_both != "never" and asked.chat_format is not None)


def _unless_decided(taken: Taken, options: Mapping[str, JsonValue]) -> Taken:
    decided = [name for name, value in taken.fields.items() if _clashes(options.get(name), value)]
    if not decided:
        return taken
    return Taken(how="prompt", cannot=(f"anything: the program sets options={{{decided[0]!r}: ...}} itself",))


def _clashes(option: JsonValue, field: JsonValue) -> bool:
    if isinstance(option, dict) and isinstance(field, dict):
        return bool(option.keys() & field.keys())
    return option is not None
