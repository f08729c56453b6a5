"""Wieldy as an engine of the suite `canitoolcall`: its formats read what the suite's fixtures have.

Only a `ToolCall` is a call here. What Wieldy tells as an `InvalidToolCall` is never executable, and no server would
send it as one. Deliberately not here: anything about single fixtures.
"""

import json
import tomllib
from collections.abc import Collection, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from canitoolcall.adapters.base import Adapter, ReplayInput, Support, ToolSpec
from canitoolcall.results import ParsedToolCall, ParseResult, StreamAccumulator
from units import Units, units_for

from wieldy.core.calls import ToolCall
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.formats import get, names
from wieldy.formats.events import ArgumentsDelta, CallOpened, ParseEvent, TextWasReasoning, reply_of
from wieldy.formats.format import ChatFormat

FORMATS: dict[str, dict[str, str]] = tomllib.loads((Path(__file__).parent / "formats.toml").read_text("utf-8"))


class WieldyAdapter(Adapter):
    """Replays outputs through `ChatFormat.parse` and `ChatFormat.parser`."""

    name = "wieldy"
    supports_text_deltas = True
    pinned_version = "the working tree"

    def version(self) -> str:
        """The version that is installed."""
        return version("wieldy")

    def supports(self, family: str, model: str) -> Support:
        """Whether the table names a format for the model, and the catalogue has it."""
        name = FORMATS.get(family, {}).get(model)
        if name is None:
            return Support(supported=False, reason=f"formats.toml names no format for {model}")
        return Support(name in names(), None if name in names() else f"there is no format {name!r}")

    def parser_config(self, raw: ReplayInput) -> dict[str, Any]:
        """All that the parser is told besides the tools."""
        return {"format": _format(raw).name, "prompt": raw.generation_prompt, "units": _units(raw).kind}

    def units(self, raw: ReplayInput) -> list[int]:
        """Tokens, or what stands for them."""
        return _units(raw).ids(raw)

    def special_token_ids(self, raw: ReplayInput) -> Collection[int] | None:
        """Special tokens, or the family's markers."""
        return _units(raw).special()

    def parse(self, raw: ReplayInput, tools: Sequence[ToolSpec]) -> ParseResult:
        """The whole output at once."""
        try:
            reply = _format(raw).parse(raw.text, tools, prompt=raw.generation_prompt)
        except Exception as error:  # an engine's exception is an outcome
            return ParseResult(exception=f"{type(error).__name__}: {error}")
        calls = [call for call in reply.calls if isinstance(call, ToolCall)]
        return ParseResult(
            content=reply.content or None,
            reasoning_content=reply.reasoning or None,
            tool_calls=tuple(ParsedToolCall(call.name, json.dumps(call.arguments)) for call in calls),
        )

    def parse_stream(self, raw: ReplayInput, chunks: Sequence[Sequence[int]], tools: Sequence[ToolSpec]) -> ParseResult:
        """The output in groups of units."""
        return self.parse_stream_text(raw, _units(raw).texts(chunks), tools)

    def parse_stream_text(self, raw: ReplayInput, deltas: Sequence[str], tools: Sequence[ToolSpec]) -> ParseResult:
        """The output in pieces of text."""
        events: list[ParseEvent] = []
        try:
            parser = _format(raw).parser(tools, prompt=raw.generation_prompt)
            for delta in deltas:
                events += parser.feed(delta)
            events += parser.close()
        except Exception as error:  # as above
            return _streamed(events, exception=f"{type(error).__name__}: {error}")
        return _streamed(events)


def _streamed(events: Sequence[ParseEvent], exception: str | None = None) -> ParseResult:
    """What a client has who joins the deltas: of complete calls the name and the arguments as they were streamed."""
    client = StreamAccumulator()
    complete = {event.id for event in events if isinstance(event, ToolCall)}
    whole = {event.index for event in events if isinstance(event, CallOpened) and event.id in complete}
    for event in _with_reasoning_known(events):
        match event:
            case TextDelta(text=text):
                client.add_content(text)
            case ReasoningDelta(text=text):
                client.add_reasoning(text)
            case CallOpened(index=index, name=name) if index in whole:
                client.add_tool_call(index, name=name)
            case ArgumentsDelta(index=index, text=text) if index in whole:
                client.add_tool_call(index, arguments=text)
            case _:
                pass
    return client.result(exception)


def _with_reasoning_known(events: Sequence[ParseEvent]) -> Iterable[ParseEvent]:
    """The events, with text that turned out to be reasoning as reasoning; only without a prompt does that happen."""
    if not any(isinstance(event, TextWasReasoning) for event in events):
        return events
    reply = reply_of(events)
    rest = [event for event in events if not isinstance(event, TextDelta | ReasoningDelta)]
    return [ReasoningDelta(text=reply.reasoning), TextDelta(text=reply.content), *rest]


def _format(raw: ReplayInput) -> ChatFormat:
    return get(FORMATS[raw.family][raw.model])


def _units(raw: ReplayInput) -> Units:
    pin = raw.tokenizer
    repository, revision = (pin.repo, pin.revision) if pin else (raw.model, raw.revision)
    return units_for(raw.family, repository, revision, raw.tokenizer_mode)
