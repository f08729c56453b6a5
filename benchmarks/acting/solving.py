"""Solvers: what a competent model writes, turn by turn, by code, by its own calls, and in text (ReAct).

A plan is a generator: it yields what the model does next, gets what the model then reads, and returns the answer. It
knows of the world only what it was told and what it reads. Arithmetic and counting are taken to be without fault, which
is kind to calls: a model that acts by them does it in its head. In text there is one call a turn; the plan is the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Sequence
from typing import Any, Literal, TypeAlias

from wieldy import Agent, Limits, Tool, formats
from wieldy.core.calls import ToolCall, ToolDefinition
from wieldy.core.messages import Message
from wieldy.testing import ScriptedModel, call, text

Asked: TypeAlias = "tuple[str, dict[str, Any]]"
CallsPlan: TypeAlias = "Generator[list[Asked], list[str], str]"
CodePlan: TypeAlias = "Generator[str, str, str]"
Mode: TypeAlias = Literal["code", "calls", "react"]
MODES: tuple[Mode, ...] = ("code", "calls", "react")

_CUT = re.compile(
    r"\[Characters (\d+) to (\d+) of (\d+) are left out here\. To read them, call `read_result` with handle "
    r'"([^"]+)" and offset \d+\.\]'
)
_PAGE_NOTE = re.compile(r"\n\n\[Characters \d+ to (\d+) of \d+ of the result [^\]]*\]$")
_REACT = formats.get("react")


def one(name: str, /, **arguments: Any) -> CallsPlan:
    """One call, of which everything is read, by pages where it is long."""
    [read] = yield [(name, arguments)]
    found = _CUT.search(read)
    if found is None:
        return read
    start, end, length, handle = int(found[1]), int(found[2]), int(found[3]), found[4]
    whole = read[:start]
    while len(whole) < end:
        [page] = yield [("read_result", {"handle": handle, "offset": len(whole)})]
        note = _PAGE_NOTE.search(page)
        assert note is not None, page[-300:]
        whole += page[: note.start()]
    return whole[:end] + (read[-(length - end) :] if length > end else "")


def data(read: str) -> Any:
    """What was read, as data; remarks may stand below it."""
    return json.JSONDecoder().raw_decode(read)[0]


def model_for(mode: Mode, plan: CallsPlan | CodePlan, tools: Sequence[Tool]) -> ScriptedModel:
    """A model that follows the plan in this way of acting."""
    if mode == "code":
        return ScriptedModel(_by_code(plan))  # type: ignore[arg-type]
    if mode == "calls":
        return ScriptedModel(_by_calls(plan))  # type: ignore[arg-type]
    return ScriptedModel(_in_text(plan, [each.definition for each in tools]))  # type: ignore[arg-type]


def agent_for(mode: Mode, model: ScriptedModel, tools: Sequence[Tool]) -> Agent:
    """The agent that is measured; its limit on turns is out of the way."""
    return Agent(model, tools, actions=mode, limits=Limits(turns=100))


def _by_code(plan: CodePlan) -> Callable[[Sequence[Message]], list[Any]]:
    def turn(messages: Sequence[Message]) -> list[Any]:
        try:
            code = next(plan) if messages[-1].role == "user" else plan.send(messages[-1].text)
        except StopIteration as end:
            return [text(end.value)]
        return [call("python", {"code": code})]

    return turn


def _by_calls(plan: CallsPlan) -> Callable[[Sequence[Message]], list[Any]]:
    def turn(messages: Sequence[Message]) -> list[Any]:
        last = max(number for number, message in enumerate(messages) if message.role != "tool")
        read = [message.text for message in messages[last + 1 :]]
        try:
            asked = plan.send(read) if read else next(plan)
        except StopIteration as end:
            return [text(end.value)]
        return [call(name, arguments) for name, arguments in asked]

    return turn


def _in_text(plan: CallsPlan, definitions: list[ToolDefinition]) -> Callable[[Sequence[Message]], list[Any]]:
    waiting: list[Asked] = []
    read: list[str] = []

    def turn(messages: Sequence[Message]) -> list[Any]:
        try:
            if messages[-2].role == "assistant":
                read.append(messages[-1].text.removeprefix("Observation: "))
            if not waiting:
                waiting.extend(plan.send(read[:]) if read else next(plan))
                read.clear()
        except StopIteration as end:
            return [text(f"Final Answer: {end.value}")]
        name, arguments = waiting.pop(0)
        asked = Message.assistant(calls=[ToolCall(id="", name=name, arguments=arguments)])
        return [text(_REACT.render_reply(asked, definitions))]

    return turn
