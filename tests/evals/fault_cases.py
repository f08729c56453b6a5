"""Runs with a fault put in at the boundary itself: a model, a provider, a validator, a policy, a tool."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import anyio

from wieldy import Agent, InvalidToolCall, Limits, Message, Principal, ToolCall, ToolError, Usage, tool
from wieldy.core.errors import (
    AuthenticationError,
    ModelNotAvailableError,
    ModelUnreachableError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    RunError,
    TransientToolError,
)
from wieldy.core.ports import Entry, Model, ModelEvent, ModelReply, ModelRequest
from wieldy.run.policy import Allow, Decision, Deny, Proposal
from wieldy.schema import CompiledSchema
from wieldy.testing import ScriptedModel, call, text


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read")
def crash(a: int) -> int:
    """Fail."""
    raise KeyError(a)


@tool(effect="read")
def refuse(a: int) -> int:
    """Say no."""
    raise ToolError(f"There is no {a}.")


@tool(effect="read", retries=1)
def flaky(a: int) -> int:
    """Never get there."""
    raise TransientToolError(f"{a} is busy")


@tool(effect="read", timeout_s=0.01)
async def slow(a: int) -> int:
    """Take for ever."""
    await anyio.sleep_forever()
    return a


@tool(effect="read", permission="sums")
def guarded(a: int) -> int:
    """Need a permission."""
    return a


class FailingModel:
    """A model whose provider fails in one way."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        raise self._error
        yield ModelReply(message=request.messages[0], usage=Usage())


class MisreadingModel:
    """What stands between a model and us gives up on a call whose text is perfectly good."""

    name = "misreading"

    def __init__(self) -> None:
        self._asked = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self._asked += 1
        bad = InvalidToolCall(id="x", name="add", text='{"a": 1, "b": 2}', error="Could not be read.")
        message = Message.assistant("", [bad]) if self._asked == 1 else Message.assistant("I cannot.")
        yield ModelReply(message=message, usage=Usage())


class CutModel:
    """A model whose provider ends the answer by a limit of its own."""

    name = "cut"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        del request
        yield ModelReply(message=Message.assistant("The answer is"), usage=Usage(), finish="length")


def calling(name: str, arguments: dict[str, object] | str) -> ScriptedModel:
    return ScriptedModel([[call(name, arguments)], [text("Something went wrong.")]])


def adding(calls: int = 1) -> ScriptedModel:
    return ScriptedModel(
        lambda messages: (
            [call("add", {"a": 10 * len(messages) + at, "b": 2}) for at in range(calls)]
            if messages[-1].role != "assistant"
            else [text("Enough.")]
        )
    )


def deny(proposal: Proposal) -> Decision:
    return Allow() if proposal.call.name == "note" else Deny(reason=f"no {proposal.call.name} today")


NOTHING_FITS = replace(add, schema=CompiledSchema({"type": "object", "maxProperties": 0}))
"""The validator of this tool is broken: it refuses what the tool's definition promises to take."""


@tool(effect="read")
def note(number: int) -> str:
    """Take a note."""
    return f"noted {number}"


class After:
    """A model that takes so many notes, and then goes on as another one."""

    def __init__(self, notes: int, model: Model) -> None:
        self._notes, self._model = notes, model

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        turn = sum(message.role == "assistant" for message in request.messages)
        if turn < self._notes:
            said = ToolCall(id=f"note-{turn}", name="note", arguments={"number": turn})
            yield ModelReply(message=Message.assistant("", [said]), usage=Usage(output_tokens=1))
            return
        async for event in self._model.stream(request):
            yield event


class Case(NamedTuple):
    """A fault, and where it is put in."""

    model: Callable[[], Model]
    layer: str
    code: str
    tools: tuple[Any, ...] = (add,)
    options: Mapping[str, Any] = MappingProxyType({})

    def agent(self, notes: int = 0) -> Agent:
        return Agent(After(notes, self.model()), [note, *self.tools], **self.options)


GOOD = {"a": 1, "b": 2}
CASES = {
    "malformed call": Case(lambda: calling("add", '{"a": 1,'), "model", "malformed-call"),
    "unknown tool": Case(lambda: calling("ad", {"a": 1}), "model", "unknown-tool"),
    "bad arguments": Case(lambda: calling("add", {"a": "one"}), "model", "bad-arguments"),
    "turns used up": Case(adding, "model", "turn_limit", options={"limits": Limits(turns=3)}),
    "calls used up": Case(lambda: adding(2), "model", "call_limit", options={"limits": Limits(calls=1)}),
    "the same again": Case(lambda: ScriptedModel(lambda _: [call("add", GOOD)]), "model", "repeated_call"),
    "tokens used up": Case(
        lambda: ScriptedModel([[text("word " * 100)]] * 2),
        "model",
        "output_token_limit",
        options={"limits": Limits(output_tokens=12)},
    ),
    "cut by the provider": Case(CutModel, "model", "output_token_limit"),
    "a good call misread": Case(MisreadingModel, "harness", "parse"),
    "good arguments refused": Case(lambda: calling("add", GOOD), "harness", "validation", (NOTHING_FITS,)),
    "no key": Case(lambda: FailingModel(AuthenticationError("no key")), "harness", "auth"),
    "a wrong request": Case(lambda: FailingModel(RequestRefusedError("no such model")), "harness", "request"),
    "a crash of ours": Case(lambda: FailingModel(ZeroDivisionError("ours")), "harness", "crash-of-run"),
    "too many requests": Case(lambda: FailingModel(RateLimitError("slow down")), "provider", "rate-limit"),
    "a broken server": Case(lambda: FailingModel(ProviderError("HTTP 500")), "provider", "protocol"),
    "no route": Case(lambda: FailingModel(ModelUnreachableError("no route")), "provider", "unreachable"),
    "no weights": Case(lambda: FailingModel(ModelNotAvailableError("no file")), "environment", "weights"),
    "a tool crashes": Case(lambda: calling("crash", {"a": 1}), "tool", "tool-failed", (crash,)),
    "a tool takes too long": Case(lambda: calling("slow", {"a": 1}), "tool", "tool-failed", (slow,)),
    "a tool stays busy": Case(lambda: calling("flaky", {"a": 1}), "tool", "tool-failed", (flaky,)),
    "a tool says no": Case(lambda: calling("refuse", {"a": 1}), "tool", "tool-error", (refuse,)),
    "a rule": Case(lambda: calling("add", GOOD), "policy", "denied", options={"policy": deny}),
    "no permission": Case(
        lambda: calling("guarded", {"a": 1}), "policy", "denied", (guarded,), {"principal": Principal(name="ann")}
    ),
}


async def journal_of(agent: Agent) -> Sequence[Entry]:
    with contextlib.suppress(RunError, ZeroDivisionError):
        await agent.run("Do it.")
    (run_id,) = agent.journal.run_ids()
    return agent.journal.read(run_id)
