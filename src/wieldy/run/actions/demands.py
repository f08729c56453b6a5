"""What a model that acts in text is told besides the conversation: what its reply must be, and how to write it. Pure.

The forms that are shown are written by the format itself, from calls and answers made up for the purpose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolChoice, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.core.messages import Message
from wieldy.core.outputs import Output, in_words
from wieldy.formats.format import ChatFormat
from wieldy.schema import CompiledSchema, example

_ANSWER: Final = "your answer to the user"
_ANY_CALL: Final = ToolCall(id="", name="name_of_the_tool", arguments={"name_of_the_argument": "value"})


def demand_of(choice: ToolChoice, chat_format: ChatFormat, output: Output | None = None) -> str:
    """What the reply must be; empty where the model may choose.

    Args:
        choice: Whether it may call.
        chat_format: The form of calls and answers.
        output: What an answer must be; None for any text.
    """
    said = _demand(choice, chat_format)
    if output is None or choice.mode in ("required", "tool"):
        return said
    return "\n\n".join(filter(None, (said, in_words(output))))


def _demand(choice: ToolChoice, chat_format: ChatFormat) -> str:
    match choice.mode:
        case "none":
            form = _answer_form(chat_format)
            how = "in plain words." if form == _ANSWER else f"in this form:\n\n{form}"
            return f"Do not use a tool now. Answer from what you know, {how}"
        case "required":
            return "Use a tool now, in the form that was described. Do not answer yet."
        case "tool":
            return f"Use the tool `{choice.name}` now, in the form that was described. Do not answer yet."
        case "auto":
            return ""


def explained(
    call: InvalidToolCall, chat_format: ChatFormat, tools: Mapping[str, ToolDefinition], *, was_cut: bool
) -> InvalidToolCall:
    """The call with an error that shows the form first, and then says what was wrong.

    Args:
        call: As the format's parser gives it.
        chat_format: What it was written in.
        tools: The tools on offer, by name.
        was_cut: Whether a token limit ended the reply within it.
    """
    tool = tools.get(call.name or "")
    shown = _ANY_CALL if tool is None else ToolCall(id="", name=tool.name, arguments=_example(tool))
    subject = "A call" if tool is None else f"A call of `{tool.name}`"
    form = chat_format.render_reply(Message.assistant(calls=[shown]), [tool] if tool else []).strip()
    cut = "The reply was cut off by the limit on output tokens. " if was_cut else ""
    return replace(call, error=f"{subject} is written like this:\n\n{form}\n\n{cut}{call.error}")


def neither(call_id: str, *, text: str, problems: Sequence[str], chat_format: ChatFormat) -> InvalidToolCall:
    """What stands for a reply that was neither a call nor an answer, so that the model is told and may try again."""
    form = chat_format.render_reply(Message.assistant(calls=[_ANY_CALL])).strip()
    error = (
        f"Your reply was neither a call nor an answer. A call is written like this:\n\n{form}\n\n"
        f"and an answer like this:\n\n{_answer_form(chat_format)}"
    )
    return InvalidToolCall(id=call_id, name=None, text=text, error="\n\n".join([error, *problems]))


def _answer_form(chat_format: ChatFormat) -> str:
    return chat_format.render_reply(Message.assistant(_ANSWER)).strip()


def _example(tool: ToolDefinition) -> JsonObject:
    """Arguments that fit; none where they cannot be found."""
    if tool.examples:
        return tool.examples[0]
    try:
        found = example(CompiledSchema(tool.input_schema))
    except UsageError:  # a schema with references to elsewhere: the tool's own validation says more about it
        return {}
    return found if isinstance(found, dict) else {}
