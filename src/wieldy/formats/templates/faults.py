"""What a chat template loses of a conversation, whatever it is told: found by probes, said in a few words each.

A fault is a fact about the template, not an error: most conversations do without what it cannot carry.
Deliberately not here: what one rendering has lost (`ChatTemplate.losses`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from wieldy.core.calls import ToolCall, ToolResult
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats.templates.probes import (
    NESTED,
    NO_ARGUMENTS,
    ONE_CALL,
    PROBE_TIME,
    REASONING_AND_CALL,
    TEXT_AND_CALL,
    TWO_CALLS,
    TYPES,
    UNICODE,
    Probe,
    RendersMessages,
    holds_calls,
    question,
    reply_text,
)

_RESULT: Final = "18 degrees and dry"


def faults_of(template: RendersMessages) -> tuple[str, ...]:
    """What the template loses, the gravest first."""
    if (fault := _call_fault(template, ONE_CALL, "calls")) is not None:
        return (fault,)
    return tuple(_lesser_faults(template))


def _lesser_faults(template: RendersMessages) -> Iterator[str]:
    faults = (
        _call_fault(template, TWO_CALLS, "the second call"),
        _call_fault(template, NO_ARGUMENTS, "a call without arguments"),
        _call_fault(template, TYPES, "values of some types"),
        _call_fault(template, NESTED, "nested arguments"),
        _call_fault(template, UNICODE, "text beyond ASCII"),
        _words_fault(template, TEXT_AND_CALL, TEXT_AND_CALL.reply.text, "text beside a call"),
        _words_fault(template, REASONING_AND_CALL, REASONING_AND_CALL.reply.reasoning, "reasoning beside a call"),
        _likeness(template),
        _result_fault(template),
        _tools_fault(template),
    )
    return (fault for fault in faults if fault is not None)


def _call_fault(template: RendersMessages, probe: Probe, what: str) -> str | None:
    return _fault(template, probe, what, lambda text: holds_calls(text, probe.calls))


def _words_fault(template: RendersMessages, probe: Probe, words: str, what: str) -> str | None:
    return _fault(template, probe, what, lambda text: words in text)


def _fault(template: RendersMessages, probe: Probe, what: str, is_whole: Callable[[str], bool]) -> str | None:
    try:
        return None if is_whole(reply_text(template, probe).text) else f"drops {what}"
    except UsageError:
        return f"refuses {what}"


def _likeness(template: RendersMessages) -> str | None:
    number, text = _with_days(2), _with_days("2")
    try:
        same = reply_text(template, number).text == reply_text(template, text).text
    except UsageError:
        return None
    return "prints 2 and '2' alike" if same else None


def _with_days(days: int | str) -> Probe:
    call = ToolCall(id="call_1", name="get_weather", arguments={"city": "Paris", "days": days})
    return replace(ONE_CALL, reply=Message.assistant(calls=[call]))


def _result_fault(template: RendersMessages) -> str | None:
    result = Message.tool(ToolResult(tool_call_id=ONE_CALL.calls[0].id, content=_RESULT))
    return _conversation_fault(template, [question(), ONE_CALL.reply, result], _RESULT, "results")


def _tools_fault(template: RendersMessages) -> str | None:
    return _conversation_fault(template, [question()], ONE_CALL.tools[0].name, "the tools on offer")


def _conversation_fault(template: RendersMessages, messages: list[Message], words: str, what: str) -> str | None:
    try:
        text = template.render(messages, tools=ONE_CALL.tools, generation_prompt=True, lossy=True, now=PROBE_TIME)
    except UsageError:
        return f"refuses {what}"
    return None if words in text else f"drops {what}"
