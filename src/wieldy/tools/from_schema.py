"""Tools whose parameters are given as a JSON Schema: operations of a service, tools of a server.

There is no Python signature to read a schema from, so the schema is the only thing that arguments are checked against,
and the code gets them as they fit it, in one dictionary. Deliberately not here: tools made from functions (`declare`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import BaseModel

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.schema import CompiledSchema
from wieldy.tools.names import check_name
from wieldy.tools.signature import Signature
from wieldy.tools.tool import DEFAULT_RETRIES, Tool

if TYPE_CHECKING:
    from wieldy.core.calls import Effect, ToolDefinition, Trust
    from wieldy.core.context import Context

Code: TypeAlias = "Callable[[JsonObject, Context], Awaitable[object]]"
"""What such a tool runs: given the arguments as they fit the schema, and what it may know of its call."""

_ARGUMENTS: Final = "arguments"
_CONTEXT: Final = "context"


class _Anything(BaseModel):
    """The arguments' Python type, of which nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OneDictionary(Signature):
    """Parameters that only the schema knows: all arguments are one dictionary, in the same words."""

    def read(self, arguments: JsonObject) -> dict[str, Any]:
        return {_ARGUMENTS: arguments}

    def means_same(self, values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
        return canonical_json(values[_ARGUMENTS]) == canonical_json(others[_ARGUMENTS])

    def call(self, function: Callable[..., Any], values: Mapping[str, Any], context: Context) -> Callable[[], Any]:
        return lambda: function(values[_ARGUMENTS], context)


_SIGNATURE: Final = _OneDictionary(
    parameters=(), contexts=(_CONTEXT,), order=(), by_position=(), arguments=_Anything, result=None
)


def tool_from_schema(  # noqa: PLR0913 - one parameter for each thing that can be said of such a tool
    definition: ToolDefinition,
    code: Code,
    *,
    origin: str,
    effect: Effect = "unsafe",
    effect_declared: bool = True,
    trust: Trust = "trusted",
    timeout_s: float | None = None,
    retries: int = DEFAULT_RETRIES,
    goes_on: bool = False,
) -> Tool:
    """A tool with this definition that runs this code.

    Args:
        definition: What the model sees; its input schema may use every keyword of JSON Schema 2020-12.
        code: Asynchronous.
        origin: Where the code comes from, the same in every process and under every name.
        effect: What a call does to the world; never `reconcile`, for there is nobody to ask.
        effect_declared: Whether somebody who may be believed has said so.
        trust: Whether strangers may have shaped what it returns.
        timeout_s: How long a call may take, in seconds.
        retries: How often a call is tried again after a failure that may pass.
        goes_on: Whether the code, when it is started again for the same call, finds out itself where it was.

    Raises:
        UsageError: The name is no tool's name, or the input schema is broken or refers outside itself.
    """
    check_name(definition.name, subject=f"The tool {definition.name!r}", error=UsageError)
    return Tool(
        definition=definition,
        function=code,
        signature=_SIGNATURE,
        schema=CompiledSchema(definition.input_schema),
        effect=effect,
        effect_declared=effect_declared,
        trust=trust,
        timeout_s=timeout_s,
        retries=retries,
        origin=origin,
        is_async=True,
        goes_on=goes_on,
    )
