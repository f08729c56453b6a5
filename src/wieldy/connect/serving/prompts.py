"""`@prompt`: a typed function becomes a prompt, which a client's user picks and fills in.

    @prompt
    def review(code: str, tone: Literal["kind", "strict"] = "kind") -> str:
        '''Review code.'''
        return f"Review this, be {tone}: {code}"

It returns what the user is taken to say: a text, an image, a file, a message, or several of these. Filling it in is a
call like one of a tool that reads. Deliberately not here: who may have it, and how it goes over the wire.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, overload

from wieldy.connect.mcp.names import offered_name
from wieldy.connect.serving.blocks import Content, block_of
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message, TextPart
from wieldy.schema.resolve import merged
from wieldy.tools.callables import AnyFunction, default_name
from wieldy.tools.declare import tool
from wieldy.tools.present import Presented

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.tools import Tool

Completer: TypeAlias = "Callable[[str], Iterable[str]]"
"""Values for an argument, given what was written so far."""

TOOL_PREFIX: Final = "prompt"
"""Filling in the prompt `x` is a call of `prompt__x` in the journal and for policies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt.

    Attributes:
        name: By which clients ask for it.
        title: For people.
        tool: Fills it in; its structured result is the result of `prompts/get`.
        complete: Values for arguments, by their names.
    """

    name: str
    title: str | None
    tool: Tool
    complete: Mapping[str, Completer] = field(default_factory=dict[str, Completer])

    def described(self) -> JsonObject:
        """As `prompts/list` has it."""
        schema = self.tool.definition.input_schema
        properties = cast("Mapping[str, JsonObject]", schema.get("properties") or {})
        required = cast("list[str]", schema.get("required") or [])
        arguments: list[JsonValue] = []
        for name, said in properties.items():
            words: JsonObject = {key: said[key] for key in ("title", "description") if isinstance(said.get(key), str)}
            arguments.append({"name": name, **words, "required": name in required})
        entry: JsonObject = {"name": self.name}
        if self.title:
            entry["title"] = self.title
        if self.tool.definition.description:
            entry["description"] = self.tool.definition.description
        entry["arguments"] = arguments
        return entry


@overload
def prompt(function: AnyFunction, /) -> Prompt: ...
@overload
def prompt(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    complete: Mapping[str, Completer] | None = None,
    permission: str | None = None,
) -> Callable[[AnyFunction], Prompt]: ...
def prompt(function: AnyFunction | None = None, /, **declared: Any) -> Prompt | Callable[[AnyFunction], Prompt]:
    """Makes a function a prompt; used as `@prompt`, `@prompt(...)` or `prompt(function)`.

    Args:
        function: A function with type hints, asynchronous or not. It returns a text, an `ImagePart`, a `FilePart`, a
            `ResourceContent`, a `Message`, or a list of these. Clients send its arguments as texts.
        **declared: What the signature and docstring do not say:

            name: By which clients ask for it; the function's own if left out.
            title: For people.
            description: What it is for; the docstring's prose if left out.
            complete: By the names of arguments: functions that give values for what was written so far. Arguments that
                are a choice complete by themselves.
            permission: What the caller must be allowed to see and fill it in.

    Raises:
        ToolSignatureError: The function cannot become a prompt as it is written.
        UsageError: `complete` names an argument that there is not.
    """
    if function is None:
        return lambda later: _made(later, **declared)
    return _made(function, **declared)


def _made(
    function: AnyFunction,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    complete: Mapping[str, Completer] | None = None,
    permission: str | None = None,
) -> Prompt:
    made = reading_tool(
        function, _presented, prefix=TOOL_PREFIX, name=name, description=description, permission=permission
    )
    properties = cast("Mapping[str, JsonObject]", made.definition.input_schema.get("properties") or {})
    own = dict(complete or {})
    called = name or default_name(function)
    for argument in own:
        if argument not in properties:
            known = ", ".join(properties) or "none"
            raise UsageError(f"The prompt {called!r}: `complete` names {argument!r}; it has {known}.")
    choices = {
        argument: starting_with(found)
        for argument in properties
        if (found := _choices(made.definition.input_schema, argument))
    }
    return Prompt(name=called, title=title, tool=made, complete=choices | own)


def reading_tool(
    function: AnyFunction,
    shown: Callable[[Any], Presented],
    *,
    prefix: str,
    name: str | None,
    description: str | None,
    permission: str | None,
) -> Tool:
    """The tool that runs a prompt's or a resource's function, and whose result is what `shown` makes of its value.

    Raises:
        ToolSignatureError: The function cannot be called by name with JSON.
    """
    plain = tool(function) if description is None else tool(description=description)(function)
    made: Tool = replace(plain, effect="read", effect_declared=True, permission=permission)
    definition = replace(made.definition, name=offered_name(prefix, name or made.name), output_schema=None)
    run = made.function

    if made.is_async:

        @functools.wraps(run)
        async def later(*args: Any, **kwargs: Any) -> Presented:
            return shown(await run(*args, **kwargs))

        code: AnyFunction = later
    else:

        @functools.wraps(run)
        def now(*args: Any, **kwargs: Any) -> Presented:
            return shown(run(*args, **kwargs))

        code = now
    return replace(made, definition=definition, function=code, signature=replace(made.signature, result=None))


def starting_with(values: Iterable[str]) -> Completer:
    """Completes to those of these values that begin with what was written, whatever its case."""
    known = tuple(values)

    def complete(written: str) -> list[str]:
        return [value for value in known if value.lower().startswith(written.lower())]

    return complete


def _choices(schema: JsonObject, argument: str) -> tuple[str, ...]:
    values = merged(schema, ("properties", argument)).get("enum")
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def _presented(value: object) -> Presented:
    items = cast("list[object]", value) if isinstance(value, list | tuple) else [value]
    messages: list[JsonValue] = []
    texts: list[str] = []
    for item in items:
        role, contents = ("user", [item]) if not isinstance(item, Message) else _said(item)
        for content in contents:
            block = block_of(cast("Content", content))
            messages.append({"role": role, "content": block})
            texts.append(f"{role}: {block.get('text', block['type'])}")
    return Presented(text="\n".join(texts), structured={"messages": messages})


def _said(message: Message) -> tuple[str, list[object]]:
    if message.role not in ("user", "assistant"):
        raise UsageError(f"Expected messages of user and assistant in a prompt, found one of {message.role!r}.")
    return message.role, [part.text if isinstance(part, TextPart) else part for part in message.parts]
