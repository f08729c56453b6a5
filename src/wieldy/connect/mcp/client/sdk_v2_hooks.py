"""What a server says and asks unasked, in the types of version 2 of the SDK, handed to the hooks.

Deliberately not here: what is made of it (`server`, `rounds`), and requests of ours (`sdk_v2`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio
import mcp_types as types
from mcp.client.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    SubscriptionLost,
    ToolsListChanged,
    listen,
)
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from wieldy.core.errors import ToolError

if TYPE_CHECKING:
    from mcp import ClientSession

    from wieldy.connect.mcp.client.port import Hooks, ServerInfo
    from wieldy.core.json import JsonObject

_CHANGES: Final = {
    ToolsListChanged: "tools",
    ResourcesListChanged: "resources",
    PromptsListChanged: "prompts",
    types.ToolListChangedNotification: "tools",
    types.ResourceListChangedNotification: "resources",
    types.PromptListChangedNotification: "prompts",
}
_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 60.0
"""How long it takes until a server is listened to again; longer each time, if it keeps breaking off."""

_Answer = TypeVar("_Answer", bound=BaseModel)


async def or_refused(answer: Awaitable[JsonObject], kind: type[_Answer]) -> _Answer | types.ErrorData:
    """The answer to what a server asks, or the error that says why there is none."""
    try:
        return kind.model_validate(await answer)
    except ToolError as error:
        return types.ErrorData(code=types.INVALID_REQUEST, message=str(error))


def answering(hooks: Hooks) -> dict[str, Any]:
    """What answers a server of a revision with a handshake that asks for more than a person's word."""
    if hooks.on_input is None:
        return {}
    on_input = hooks.on_input

    async def sample(context: object, params: types.CreateMessageRequestParams) -> Any:
        del context
        said = params.model_dump(mode="json", by_alias=True, exclude_none=True)
        kind = types.CreateMessageResultWithTools if params.tools else types.CreateMessageResult
        return await or_refused(on_input("sampling/createMessage", said), kind)

    async def list_roots(context: object) -> types.ListRootsResult | types.ErrorData:
        del context
        return await or_refused(on_input("roots/list", {}), types.ListRootsResult)

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        hooks.on_log(params.model_dump(mode="json", by_alias=True, exclude_none=True))

    return {"sampling_callback": sample, "list_roots_callback": list_roots, "logging_callback": log}


async def listen_for_lists(session: ClientSession, info: ServerInfo, hooks: Hooks) -> None:
    """Hears of changed lists for as long as the server lets us."""
    tools, resources, prompts = (info.tells_of_changes(what) for what in ("tools", "resources", "prompts"))
    if tools or resources or prompts:
        await listen_to(session, hooks, [], tools=tools, resources=resources, prompts=prompts)


async def listen_to(
    session: ClientSession,
    hooks: Hooks,
    uris: list[str],
    *,
    tools: bool = False,
    resources: bool = False,
    prompts: bool = False,
) -> None:
    """Hears of changes of these lists, and of the resources at these addresses, for as long as the server lets us.

    Where that breaks off, as when the server is started anew, it begins again; nobody knows what has changed meanwhile.
    """
    what = [name for name, is_meant in (("tools", tools), ("resources", resources), ("prompts", prompts)) if is_meant]
    wait_s, has_begun = _FIRST_WAIT_S, False
    while True:
        began_s = anyio.current_time()
        try:
            async with listen(
                session,
                tools_list_changed=tools,
                resources_list_changed=resources,
                prompts_list_changed=prompts,
                resource_subscriptions=uris,
            ) as subscription:
                if has_begun:
                    _hear_of_a_break(hooks, what, uris)
                has_begun = True
                async for event in subscription:
                    hear(event, hooks)
        except (MCPError, SubscriptionLost):
            if not has_begun:
                return  # changes are then found when the list is read the next time
        _hear_of_a_break(hooks, (), ())
        await anyio.sleep(wait_s)
        wait_s = _FIRST_WAIT_S if anyio.current_time() - began_s > _LONGEST_WAIT_S else min(2 * wait_s, _LONGEST_WAIT_S)


def _hear_of_a_break(hooks: Hooks, lists: Iterable[str], uris: Iterable[str]) -> None:
    """It may be that something has changed and was not told; what is heard of again is looked at again."""
    hooks.on_break()
    for name in lists:
        hooks.on_change(name)
    for uri in uris:
        hooks.on_update(uri)


def hear(said: object, hooks: Hooks) -> None:
    """What a server tells unasked, in either era."""
    if isinstance(said, ResourceUpdated):
        hooks.on_update(said.uri)
    elif isinstance(said, types.ResourceUpdatedNotification):
        hooks.on_update(str(said.params.uri))
    elif changed := _CHANGES.get(cast("Any", type(said))):
        hooks.on_change(changed)
