"""Tools of every effect class, synchronous and not, whose only effect is a request to the world outside.

look · put · pay · book · send          read, idempotent, keyed, reconcile, unsafe; in a thread
look_async · put_async · ...            the same on the event loop
send_alone                              unsafe, and says of nothing what it touches: excludes everything
pay_briefly · send_briefly              wait for an answer for a short time only
pay_elsewhere · book_elsewhere          gives up at once; then `pay` or `book` is asked the same instead
meet                                    waits until somebody opens the gate
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from effect_client import ask, ask_async

from wieldy import Context, Tool, tool
from wieldy.core.errors import ToolError, TransientToolError

NAMES = {"read": "look", "idempotent": "put", "keyed": "pay", "reconcile": "book", "unsafe": "send"}


PATIENCE_S = 0.1


@dataclass(kw_only=True)
class Outside:
    """The part of the world outside that one trial sees; set before a tool is called.

    Attributes:
        after_effect: Called when an effect's answer has arrived, before the tool returns.
    """

    port: int = 0
    world: str = ""
    pid: int = 0
    after_effect: Callable[[], None] = lambda: None

    def request(self, do: str, effect: str, operation: str, context: Context) -> dict[str, Any]:
        """What a tool sends."""
        return {
            "port": self.port,
            "world": self.world,
            "do": do,
            "effect": effect,
            "operation": operation,
            "service": context.tool_name,
            "value": f"value of {operation}",
            "key": context.idempotency_key,
            "run_id": context.run_id,
            "call_id": context.call_id,
            "attempt": context.attempt,
            "pid": self.pid,
        }

    def receipt(self, answer: dict[str, Any]) -> str:
        """What a tool returns."""
        self.after_effect()
        if "refused" in answer:
            raise TransientToolError("The service is busy.", retry_after_s=0.001, nothing_done=True)
        if "receipt" not in answer:
            raise ConnectionError("the connection was lost before an answer came")
        return answer["receipt"]


def tools_of(outside: Outside) -> list[Tool]:
    """Every tool but the nested agents."""
    made = [_tool(outside, effect, is_async=is_async) for effect in NAMES for is_async in (False, True)]
    elsewhere = [_tool(outside, effect, kind="_elsewhere") for effect in ("keyed", "reconcile")]
    brief = [_tool(outside, effect, kind="_briefly") for effect in ("keyed", "unsafe")]
    return [*made, *elsewhere, *brief, _send_alone(outside), _meet(outside)]


def _tool(outside: Outside, effect: str, *, is_async: bool = False, kind: str = "") -> Tool:
    def act(operation: str, ctx: Context) -> str:
        return outside.receipt(ask(**outside.request("act", effect, operation, ctx)))

    async def act_async(operation: str, ctx: Context) -> str:
        return outside.receipt(await ask_async(**outside.request("act", effect, operation, ctx)))

    def happened(operation: str, ctx: Context) -> str | None:
        return ask(**outside.request("ask", effect, operation, ctx))["receipt"]

    async def happened_async(operation: str, ctx: Context) -> str | None:
        return (await ask_async(**outside.request("ask", effect, operation, ctx)))["receipt"]

    declared: dict[str, Any] = {"reads" if effect == "read" else "writes": ["thing:{operation}"]}
    if effect == "reconcile":
        declared["reconcile"] = happened_async if is_async else happened
    else:
        declared["effect"] = effect
    name = NAMES[effect] + "_async" * is_async
    if kind == "_elsewhere":
        declared |= {"retries": 0, "fallback": name}
    if kind == "_briefly":
        declared |= {"timeout_s": PATIENCE_S}
    return tool(name=name + kind, description=f"The {effect} thing.", **declared)(act_async if is_async else act)


def _send_alone(outside: Outside) -> Tool:
    @tool
    def send_alone(operation: str, ctx: Context) -> str:
        """The thing of which nothing is declared."""
        return outside.receipt(ask(**outside.request("act", "unsafe", operation, ctx)))

    return send_alone


def _meet(outside: Outside) -> Tool:
    @tool(effect="read")
    def meet(ctx: Context) -> str:
        """Waits at the gate."""
        if not ask(**outside.request("gate", "read", "meet", ctx))["opened"]:
            raise ToolError("Nobody came.")
        return "met"

    return meet
