"""What a server offers beside tools: prompts, and resources that can be read, in the words of MCP.

A port, so that servers do not know whether functions or other servers stand behind it. Deliberately not here: prompts
and resources that are functions (`functions`), and those of a gateway's sources (`gateway.shelf`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, cast

from wieldy.connect.serving.client import ProtocolRefusalError, client_if_any

if TYPE_CHECKING:
    from wieldy.connect.serving.calls import Answered
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.core.principals import Principal

Kind: TypeAlias = Literal["prompts", "resources", "resourceTemplates"]
"""What can be listed."""

Change: TypeAlias = Literal["tools", "prompts", "resources"]
"""A list that can change."""

INVALID_PARAMS: Final = -32602
MOST_COMPLETIONS: Final = 100
"""How many values the protocol allows in one answer."""


class Shelf(Protocol):
    """Prompts and resources. What a caller may not have is not there for them."""

    @property
    def has(self) -> frozenset[str]:
        """Which of "prompts", "resources" and "completions" there are, in the words of the protocol's capabilities."""
        ...

    async def listed(self, kind: Kind, *, principal: Principal | None) -> Sequence[JsonObject]:
        """All that there are, always in the same order."""
        ...

    async def get_prompt(self, name: str, arguments: Mapping[str, str], *, principal: Principal | None) -> JsonObject:
        """The result of `prompts/get`.

        Raises:
            ProtocolRefusalError: There is none, or it cannot be filled in.
        """
        ...

    async def read_resource(self, uri: str, *, principal: Principal | None) -> JsonObject:
        """The result of `resources/read`.

        Raises:
            ProtocolRefusalError: There is none, or it cannot be read.
        """
        ...

    async def complete(self, params: JsonObject, *, principal: Principal | None) -> JsonObject:
        """The result of `completion/complete`, whose parameters these are.

        Raises:
            ProtocolRefusalError: There is no such prompt or template.
        """
        ...

    async def subscribe(self, uri: str, *, principal: Principal | None) -> None:
        """Changes of this resource are told from now on, as far as anybody knows of them.

        Raises:
            ProtocolRefusalError: There is no such resource.
        """
        ...


def no_such_prompt(name: str) -> ProtocolRefusalError:
    """The answer where nobody knows a prompt of that name, or may know it."""
    return ProtocolRefusalError(f"There is no prompt {name!r:.200}. List the prompts first.", code=INVALID_PARAMS)


def no_such_resource(uri: str) -> ProtocolRefusalError:
    """The answer where nobody knows a resource of that address, or may know it."""
    text = f"There is no resource {uri!r:.200}. List the resources first."
    return ProtocolRefusalError(text, code=INVALID_PARAMS, data={"uri": uri})


def structured(answered: Answered) -> JsonObject:
    """The data of a call that a request for a prompt or a resource is.

    Raises:
        ProtocolRefusalError: There is none; the error that answers the request says why.
    """
    result = answered.result
    if result is None:
        reason = answered.waiting[0].reason
        raise ProtocolRefusalError(f"It needs a person's consent ({reason}).", code=INVALID_PARAMS)
    if result.is_error:
        caller = client_if_any()
        refusal = None if caller is None else caller.refusal
        raise refusal or ProtocolRefusalError(result.content, code=INVALID_PARAMS)
    return cast("JsonObject", result.structured_content)


def completion(values: Sequence[str]) -> JsonObject:
    """The result of `completion/complete` with these values, of which as many are told as the protocol allows."""
    told: list[JsonValue] = [*values[:MOST_COMPLETIONS]]
    return {"completion": {"values": told, "total": len(values), "hasMore": len(values) > MOST_COMPLETIONS}}
