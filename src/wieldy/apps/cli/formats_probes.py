"""A portrait of a chat format: what it writes for a few replies, and what of others does not come back.

Everything is found out by rendering and reading back; nothing is a list of what is known of a family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wieldy.core.calls import ToolCall, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.core.messages import Message, TextPart
from wieldy.formats.format import ChatFormat

WEATHER = ToolDefinition(
    name="get_weather",
    description="The weather in a city.",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
CITIES = ToolDefinition(
    name="list_cities",
    description="The cities that are known.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
)
UNTYPED = ToolDefinition(name="store", description="Keep values.", input_schema={"type": "object"})
TOOLS = (WEATHER, CITIES, UNTYPED)

_VALUE = "VALUE"
_BEHIND = "Behind the call."


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What of a reply does not come back.

    Attributes:
        of: What the reply had, in words.
        lost: What became of it.
    """

    of: str
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Portrait:
    """What a format looks like.

    Attributes:
        examples: What it writes, by what that is; only what its wire can carry.
        grammar: The Lark grammar for one tool; empty if its engine is not here.
        no_grammar_because: Why, then.
    """

    format: ChatFormat
    examples: dict[str, str]
    grammar: str
    no_grammar_because: str
    losses: tuple[Loss, ...]


def portrait_of(format_: ChatFormat) -> Portrait:
    """The portrait of a format."""
    grammar, reason = _grammar(format_)
    examples = {
        name: format_.render_reply(reply, TOOLS, prompt="")
        for name, reply in EXAMPLES.items()
        if not format_.losses(reply, TOOLS, prompt="")
    }
    return Portrait(
        format=format_, examples=examples, grammar=grammar, no_grammar_because=reason, losses=losses_of(format_)
    )


def losses_of(format_: ChatFormat) -> tuple[Loss, ...]:
    """Everything probed that does not come back."""
    probes = {**PROBES, **_closing_marks(format_)}
    found = [Loss(of=of, lost=format_.losses(reply, TOOLS, prompt="")) for of, reply in probes.items()]
    return tuple(loss for loss in (*found, _order(format_), _id(format_)) if loss.lost)


def _call(name: str, provider_id: str | None = None, **arguments: str | int) -> ToolCall:
    given: JsonObject = {**arguments}
    return ToolCall(id=f"call_{name}", name=name, arguments=given, provider_id=provider_id)


_PARIS = _call("get_weather", city="Paris", days=2)
_ROME = _call("get_weather", city="Rome")
EXAMPLES: dict[str, Message] = {
    "one call": Message.assistant("", [_PARIS]),
    "two calls": Message.assistant("", [_PARIS, _ROME]),
    "text and a call": Message.assistant("I look it up.", [_PARIS]),
    "a call without arguments": Message.assistant("", [_call("list_cities")]),
    "reasoning and text": Message.assistant("It is warm.", reasoning="The forecast says 25 degrees."),
}
PROBES: dict[str, Message] = {
    "a second call": EXAMPLES["two calls"],
    "text beside a call": EXAMPLES["text and a call"],
    "empty arguments": EXAMPLES["a call without arguments"],
    "reasoning": EXAMPLES["reasoning and text"],
    "reasoning and a call": Message.assistant("", [_PARIS], reasoning="I need the forecast."),
    "white space around text": Message.assistant("\n Two lines.\n\n"),
    "white space between text and a call": Message.assistant("I look it up.\n\n", [_PARIS]),
    "white space around a value": Message.assistant("", [_call("get_weather", city="\n Paris \n")]),
    "an empty text as a value": Message.assistant("", [_call("get_weather", city="")]),
    'the text "2" beside the number 2, without a schema': Message.assistant("", [_call("store", text="2", number=2)]),
    "quotes, brackets and backslashes in a value": Message.assistant(
        "", [_call("get_weather", city="\"a\" 'b' {c} [d] <e> \\f, g=h: i")]
    ),
}


def _closing_marks(format_: ChatFormat) -> dict[str, Message]:
    """Replies that contain the format's own marks."""
    written = format_.render_reply(Message.assistant("", [_call("get_weather", city=_VALUE)]), TOOLS, prompt="")
    before, found, after = written.partition(_VALUE)
    if not found:
        return {}
    value = f"a{after}b"
    mark = before.partition(WEATHER.name)[0].strip() or before.strip()
    return {
        f"a value that contains what ends a call, {after!r}": Message.assistant(
            "", [_call("get_weather", city=value, days=2)]
        ),
        f"text that contains what begins a call, {mark!r}": Message.assistant(f"Calls begin with {mark} here."),
        "text that is a whole call": Message.assistant(f"Write {written} to call."),
    }


def _order(format_: ChatFormat) -> Loss:
    reply = Message(role="assistant", parts=(_PARIS, TextPart(text=_BEHIND)))
    written = format_.render_reply(reply, TOOLS, prompt="")
    is_moved = _BEHIND in written and written.index(_BEHIND) < written.index(WEATHER.name)
    lost = ("it is written before the call",) if is_moved else format_.losses(reply, TOOLS, prompt="")
    return Loss(of="text behind a call", lost=lost)


def _id(format_: ChatFormat) -> Loss:
    given = "call_7fA3"
    reply = Message.assistant("", [_call("get_weather", given, city="Paris")])
    read = format_.parse(format_.render_reply(reply, TOOLS, prompt=""), TOOLS, prompt="")
    found = read.calls[0].provider_id if read.calls else None
    if found == given:
        return Loss(of="ids", lost=())
    lost = "there are none on this wire" if found is None else f"{given!r} is written and comes back as {found!r}"
    return Loss(of="ids", lost=(lost,))


def _grammar(format_: ChatFormat, tools: Sequence[ToolDefinition] = (WEATHER,)) -> tuple[str, str]:
    try:
        return format_.grammar(tools, prompt="").lark, ""
    except UsageError as error:  # the engine is an extra that may not be installed
        return "", str(error)
