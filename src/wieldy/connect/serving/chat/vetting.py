"""Whether a reply of a model is what may leave for the client. Pure.

Law: of a reply whose calls leave, each names a tool of the request and has arguments that fit its schema; a call that a
limit cut, or whose arguments the budget decided, never leaves. A reply leaves as a whole or not at all, but for calls
beyond the one that was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from wieldy.connect.serving.chat.stops import first_stop
from wieldy.core.calls import InvalidToolCall, ToolResult
from wieldy.core.errors import ModelVisibleError, UnknownToolError
from wieldy.core.json import canonical_json
from wieldy.core.messages import Message, Part, TextPart
from wieldy.core.outputs import Incomplete
from wieldy.run.fitting import fitting_arguments, look_up, unreadable
from wieldy.run.outputs import JsonReader, correction
from wieldy.run.outputs.document import read_document
from wieldy.run.outputs.readers import SPEAKER
from wieldy.run.replies import CallNumbers, adopt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wieldy.connect.serving.chat.requests import ChatRequest
    from wieldy.core.calls import AnyCall
    from wieldy.core.ports import ModelReply
    from wieldy.tools import Tool, ValidArguments

Fault: TypeAlias = Literal["invalid_tool_call", "missing_tool_call", "invalid_output"]

_NOT_RUN: Final = (
    "Not run, because another call of the same reply is not right. Make it again, together with the others."
)
_PASSED_ON: Final = "What you wrote beside your calls has been passed on: write the calls only."


class SentCall(NamedTuple):
    """A call that leaves.

    Attributes:
        provider_id: What the model's provider calls it, if it does.
        arguments: JSON text.
    """

    provider_id: str | None
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """The reply may leave.

    Attributes:
        text: What of its text was held back until now.
        repairs: What was changed to make arguments fit.
        forced: JSON pointers to what of an output the budget decided.
        warnings: What of it does not leave, and why.
    """

    finish: Literal["stop", "length", "tool_calls"]
    calls: tuple[SentCall, ...] = ()
    text: str = ""
    repairs: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """The reply must not leave.

    Attributes:
        code: What is wrong with it, for programs.
        message: The same in words.
        written: What the model wrote of it.
        told: How the conversation goes on if the model is asked again.
    """

    code: Fault
    message: str
    written: str
    told: tuple[Message, ...]


Vetted: TypeAlias = Right | Wrong


def vet(reply: ModelReply, request: ChatRequest, *, history: Sequence[Message]) -> Vetted:
    """What becomes of a reply.

    Args:
        reply: The model's.
        request: The client's.
        history: What the model was shown.
    """
    parts, is_stopped = _before_stop(reply.message.parts, request.asked.stop)
    reply = replace(reply, message=replace(reply.message, parts=parts), finish="stop" if is_stopped else reply.finish)
    if reply.message.calls:
        return _vet_calls(reply, request, history)
    if request.asked.tool_choice.mode in ("required", "tool") and reply.finish != "length":
        return _missing(reply, request)
    return _vet_answer(reply, request)


def _before_stop(parts: Sequence[Part], stops: Sequence[str]) -> tuple[tuple[Part, ...], bool]:
    """The parts up to the first text at which the answer ends, and whether there is one."""
    text, kept = "", list[Part]()
    for part in parts:
        if isinstance(part, TextPart):
            start, text = len(text), text + part.text
            place = first_stop(text, stops)
            if place is not None:
                return (*kept, TextPart(text=part.text[: max(0, place - start)])), True
        kept.append(part)
    return tuple(kept), False


def _vet_calls(reply: ModelReply, request: ChatRequest, history: Sequence[Message]) -> Vetted:
    text = reply.message.text if request.output is not None else ""
    named = [call.provider_id for call in reply.message.calls]
    reply = adopt(reply, CallNumbers(history))
    calls = reply.message.calls
    if cut := _cut(reply):
        return Right(finish="length", text=text, warnings=(_left_out_text(cut),))
    beyond = calls[1:] if not request.asked.parallel_calls and request.asked.tool_choice.mode != "none" else ()
    checked = [_checked(call, request) for call in (calls[:1] if beyond else calls)]
    if any(isinstance(each, ModelVisibleError) for each in checked):
        return _wrong(reply, checked, has_text_left=bool(reply.message.text) and request.output is None)
    warnings = (f"{len(beyond)} more calls were left out, because one was asked for.",) if beyond else ()
    good = [each for each in checked if not isinstance(each, ModelVisibleError)]
    return Right(
        finish="tool_calls",
        calls=tuple(
            SentCall(provider_id, call.name or "", json.dumps(arguments.json, ensure_ascii=False))
            for provider_id, call, arguments in zip(named, calls, good, strict=False)
        ),
        text=text,
        repairs=tuple(note for arguments in good for note in arguments.repairs),
        warnings=warnings,
    )


def _cut(reply: ModelReply) -> AnyCall | None:
    """A call that is not what the model would have written, had it had more tokens."""
    was_cut = reply.finish == "length"
    for call in reply.message.calls:
        if was_cut if isinstance(call, InvalidToolCall) else call.forced:
            return call
    return None


def _left_out_text(call: AnyCall) -> str:
    return f"The limit on tokens cut a call of {call.name or 'a tool'!r}, so no call of this reply is sent. Allow more."


def _checked(call: AnyCall, request: ChatRequest) -> ValidArguments | ModelVisibleError:
    choice, tools = request.asked.tool_choice, request.tools
    try:
        if choice.mode == "none":
            return UnknownToolError("No tool may be called now. Answer in text.", name=call.name or "")
        if isinstance(call, InvalidToolCall):
            return unreadable(call, tools)
        if choice.mode == "tool" and call.name != choice.name:
            return UnknownToolError(f"Expected a call of `{choice.name}`, found one of `{call.name}`.", name=call.name)
        return fitting_arguments(call, look_up(call.name, tools))
    except ModelVisibleError as error:
        return error


def _wrong(reply: ModelReply, checked: Sequence[ValidArguments | ModelVisibleError], *, has_text_left: bool) -> Wrong:
    results: list[Message] = []
    calls = reply.message.calls
    errors = [each for each in checked if isinstance(each, ModelVisibleError)]
    for index, call in enumerate(calls):
        each = checked[index] if index < len(checked) else None
        content = str(each) if isinstance(each, ModelVisibleError) else _NOT_RUN
        if call is calls[-1] and has_text_left:
            content += f"\n{_PASSED_ON}"
        result = ToolResult(tool_call_id=call.id, content=content, is_error=True, layer="model")
        results.append(Message.tool(result))
    return Wrong(
        code="invalid_tool_call",
        message=" ".join(str(error) for error in errors),
        written="\n".join(map(_written, calls)),
        told=(reply.message, *results),
    )


def _written(call: AnyCall) -> str:
    arguments = call.text if isinstance(call, InvalidToolCall) else canonical_json(call.arguments)
    return f"{call.name or ''}({arguments})"


def _missing(reply: ModelReply, request: ChatRequest) -> Wrong:
    names = _names(request.asked.tool_choice.name, request.tools)
    message = f"Expected a call of {names}, found an answer in text."
    told = Message.user(f"{SPEAKER}\n{message} Make the call, and write nothing else.")
    return Wrong(
        code="missing_tool_call", message=message, written=reply.message.text, told=(*_said(reply.message), told)
    )


def _names(chosen: str | None, tools: Mapping[str, Tool]) -> str:
    return " or ".join(f"`{name}`" for name in ([chosen] if chosen else tools))


def _said(message: Message) -> tuple[Message, ...]:
    return (message,) if message.parts else ()


def _vet_answer(reply: ModelReply, request: ChatRequest) -> Vetted:
    text = reply.message.text
    if request.output is None:
        return Right(finish="length" if reply.finish != "stop" else "stop")
    found = request.output.read(text, is_cut=reply.finish == "length")
    if not isinstance(found, Incomplete):
        document = read_document(text)[0] if isinstance(request.output, JsonReader) else text
        return Right(finish="stop", text=document, forced=reply.forced)
    if reply.finish == "length":
        return Right(finish="length", text=text)
    told = (*_said(reply.message), correction(found))
    return Wrong(code="invalid_output", message=found.error, written=text, told=told)
