"""Where readers put what they read: the events of one feed, and the call that is open.

Deltas of one kind are joined while they are neighbours within one feed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject, parse_json
from wieldy.formats.events import ArgumentsDelta, CallOpened, ParseEvent, Problem, Repaired
from wieldy.formats.reading.source import Source, WireError
from wieldy.formats.reading.tool_index import ToolIndex
from wieldy.formats.values.expected import Expected
from wieldy.schema.repair import RepairLevel


class Sink:
    """Collects the events of a reply.

    Args:
        id_prefix: Calls get the ids `{id_prefix}0`, `{id_prefix}1`, ... in order.
        repair: Up to which level JSON that is nearly right is mended. Above 1 the arguments of a call are told when
            it is complete, because what was told cannot be taken back.
    """

    def __init__(self, source: Source, tools: ToolIndex, *, id_prefix: str, repair: RepairLevel = 1) -> None:
        self.source = source
        self.tools = tools
        self.repair: RepairLevel = repair
        self.calls = 0
        self._id_prefix = id_prefix
        self._events: list[ParseEvent] = []
        self._pieces: list[str] = []
        self._delta: Callable[[str], ParseEvent] = _text_delta
        self._held: list[tuple[ToolCall | InvalidToolCall, str]] | None = None

    def text(self, text: str) -> None:
        """Text for the reader."""
        self._add(text, _text_delta)

    def reasoning(self, text: str) -> None:
        """The model's reasoning."""
        self._add(text, _reasoning_delta)

    def arguments(self, text: str, delta: Callable[[str], ParseEvent]) -> None:
        """JSON text of the arguments of a call."""
        self._add(text, delta)

    def event(self, event: ParseEvent) -> None:
        """Anything else."""
        self._flush()
        self._events.append(event)

    def hold(self) -> None:
        """Calls that are complete are not told until `release`."""
        self._held = []

    def release(self, *, is_whole: bool) -> None:
        """Tells the calls that were held back: all as they are, or none to be run if they are not whole."""
        held, self._held = self._held or [], None
        is_broken = not is_whole or any(isinstance(call, InvalidToolCall) for call, _ in held)
        for call, text in held:
            self.event(_unmade(call, text) if is_broken and isinstance(call, ToolCall) else call)

    def complete(self, call: ToolCall | InvalidToolCall) -> None:
        """A call has been read to its end, or as far as it could be read."""
        recorded, self.source.recorded = self.source.recorded, None
        if self._held is None:
            self.event(call)
        else:
            self._held.append((call, "".join(recorded or ())))

    def problem(self, error: WireError) -> None:
        """Something was not as the format says, and was passed over."""
        self.event(Problem(position=error.position, expected=error.expected, found=error.found))

    def drain(self) -> list[ParseEvent]:
        """The events since the last time."""
        self._flush()
        events = self._events
        self._events = []
        return events

    def open_call(self) -> OpenCall:
        """A call begins here; what the source gives from now on is recorded as its text."""
        call = OpenCall(self, index=self.calls, call_id=f"{self._id_prefix}{self.calls}")
        self.calls += 1
        return call

    def _add(self, text: str, delta: Callable[[str], ParseEvent]) -> None:
        if not text:
            return
        if delta is not self._delta:
            self._flush()
            self._delta = delta
        self._pieces.append(text)

    def _flush(self) -> None:
        if self._pieces:
            self._events.append(self._delta("".join(self._pieces)))
            self._pieces.clear()


def _text_delta(text: str) -> ParseEvent:
    return TextDelta(text=text)


def _reasoning_delta(text: str) -> ParseEvent:
    return ReasoningDelta(text=text)


def _unmade(call: ToolCall, text: str) -> InvalidToolCall:
    error = "The call was not made: the list in which it stands could not be read to its end. Write the list again."
    return InvalidToolCall(id=call.id, name=call.name, text=text, error=error, provider_id=call.provider_id)


class OpenCall:
    """A call that is being read: its name, and its arguments as JSON text."""

    def __init__(self, sink: Sink, *, index: int, call_id: str) -> None:
        self._sink = sink
        self.index = index
        self.id = call_id
        self.name: str | None = None
        self.provider_id: str | None = None
        self.arguments_position = sink.source.position
        """Where the arguments begin, or the JSON that holds them."""
        self._parts: list[str] = []
        self._recorded_before = 0
        self._delta = partial(ArgumentsDelta, index)
        sink.source.recorded = []

    @property
    def expected(self) -> Expected:
        """What the tool's schema says of the arguments; anything for an unknown tool."""
        return self._sink.tools.expected(self.name)

    def named(self, name: str) -> None:
        """The name is known: the call is announced, with what was read of its arguments."""
        self.name = name
        self._sink.event(CallOpened(index=self.index, id=self.id, name=name, provider_id=self.provider_id))
        for part in self._parts:
            self._tell(part)

    def write(self, text: str) -> None:
        """The next piece of the arguments' JSON text."""
        self._parts.append(text)
        if self.name is not None:
            self._tell(text)

    def _tell(self, text: str) -> None:
        if self._sink.repair == 1:
            self._sink.arguments(text, self._delta)

    def begin_arguments(self) -> None:
        """What the source gives from now on is the arguments' text."""
        self.arguments_position = self._sink.source.position
        self._recorded_before = len("".join(self._sink.source.recorded or ()))

    @property
    def arguments_text(self) -> str:
        """What was taken since then."""
        return "".join(self._sink.source.recorded or ())[self._recorded_before :]

    def schema(self, name: str) -> JsonObject | None:
        """The schema of the arguments of a tool; None if it is unknown."""
        return next((tool.input_schema for tool in self._sink.tools.definitions if tool.name == name), None)

    @property
    def has_arguments(self) -> bool:
        """Whether anything was written of the arguments."""
        return bool(self._parts)

    def close(self) -> None:
        """The call is complete: a `ToolCall`, or an `InvalidToolCall` if its arguments are no JSON object."""
        if not self._parts:
            self.write("{}")
        if self.name is None:
            self.fail(WireError(self._sink.source.position, expected="the name of a tool", found="none"))
            return
        try:
            arguments = read_object("".join(self._parts))
        except (ValueError, RecursionError) as error:
            self.fail(WireError(self._sink.source.position, expected="one JSON object", found=f"a fault: {error}"))
            return
        self._complete(self.name, arguments)

    def repaired(self, event: Repaired) -> None:
        """What was changed in it."""
        self._sink.event(event)

    def finish(self, name: str, arguments: JsonObject, provider_id: str | None) -> None:
        """The call is complete and says this, whatever was read of it so far."""
        self.provider_id = self.provider_id or provider_id
        if self.name is None:
            self.named(name)
        self._parts = [json.dumps(arguments, ensure_ascii=False)]
        if self._sink.repair == 1:
            self._tell(self._parts[0])
        self._complete(name, arguments)

    def _complete(self, name: str, arguments: JsonObject) -> None:
        if self._sink.repair > 1:
            self._sink.arguments("".join(self._parts), self._delta)
        self._sink.complete(ToolCall(id=self.id, name=name, arguments=arguments, provider_id=self.provider_id))

    def fail(self, error: WireError) -> None:
        """The call cannot be read; its text is kept and it will never be run."""
        text = "".join(self._sink.source.recorded or ())
        self._sink.complete(
            InvalidToolCall(
                id=self.id,
                name=self.name,
                text=text,
                error=f"The call could not be read at character {error.position}: "
                f"expected {error.expected}, found {error.found}.",
                provider_id=self.provider_id,
            )
        )


def read_object(text: str) -> JsonObject:
    """The JSON object that the text is.

    Raises:
        ValueError: It is none, or something of it would be lost.
    """
    value = parse_json(text)
    if isinstance(value, dict):
        return value
    raise ValueError(f"the arguments are {text[:40]!r}")
