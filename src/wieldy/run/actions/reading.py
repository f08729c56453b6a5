"""A text reply read as it comes: text, thoughts and calls, and nothing behind an observation of the model's own. Pure.

What a model writes as the result of its own call is never taken as one. Some formats know a label for results, and
their parsers end the reply there. For the others the texts with which the family's turns begin do the same once a call
is complete; before that they are words like any other.
Law: what is told does not depend on how the text was cut, once neighbouring deltas of one kind are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolCall, ToolDefinition
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.formats.events import ArgumentsDelta, CallOpened, ParseEvent, Reply, reply_of
from wieldy.formats.format import ChatFormat
from wieldy.formats.wires.labelled import LabelledWire

Delta: TypeAlias = TextDelta | ReasoningDelta | CallDelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReply:
    """What a whole reply says.

    Attributes:
        calls: In order; the text of those that could not be read is in the form in which the model wrote it.
        text: All that the model wrote.
        problems: What was not as the format says, one sentence each.
        is_answer: Whether the content can be one: it is not blank, and no problem stands before it.
        is_over: Whether the reply was ended here, so that a token limit behind that cut nothing off.
    """

    content: str
    reasoning: str
    calls: tuple[AnyCall, ...]
    text: str
    problems: tuple[str, ...]
    is_answer: bool
    is_over: bool


class ReplyReading:
    """Reads one reply.

    Args:
        chat_format: What it is written in.
        tools: The tools on offer.
        id_prefix: What the ids of its calls begin with.
    """

    def __init__(self, chat_format: ChatFormat, tools: Iterable[ToolDefinition], *, id_prefix: str) -> None:
        # An empty prompt: what went before opened nothing.
        self._parser = chat_format.parser(tools, prompt="", id_prefix=id_prefix)
        self._stops = _Stops(chat_format.turns.reply_end)
        self._end = result_mark(chat_format)
        self._events: list[ParseEvent] = []
        self._fed: list[str] = []
        self._dropped: list[str] = []
        self._has_call = False

    def feed(self, text: str) -> list[Delta]:
        """What the next piece of text tells."""
        if self._dropped:
            self._dropped.append(text)
            return []
        deltas: list[Delta] = []
        self._stops.push(text)
        while not self._dropped:
            before, stop = self._stops.next()
            # The line before ends with the line break that the stop begins with; a call may be complete with it.
            blank = stop[: len(stop) - len(stop.lstrip())]
            deltas += self._parse(before + blank)
            if not stop:
                break
            if self._has_call:
                self._dropped += [stop[len(blank) :], self._stops.rest()]
            else:
                deltas += self._parse(stop[len(blank) :])
        return deltas

    def close(self, *, is_whole: bool) -> list[Delta]:
        """What the end of the text tells.

        Args:
            is_whole: Whether the model ended its reply itself, so that bare text at its end is known to be complete.
        """
        deltas = [] if self._dropped else self._parse(self._stops.rest())
        self._end = self._end if is_whole else ""
        deltas += self._tell(self._parser.feed(self._end))
        return [*deltas, *self._tell(self._parser.close())]

    def rest_of(self, whole: str) -> str | None:
        """What is missing of a text whose beginning was fed; None if another text was."""
        text = self._text
        return whole[len(text) :] if whole.startswith(text) else None

    def reply(self) -> ReadReply:
        """The whole reply, once it is closed."""
        reply = reply_of(self._events, self._parser.spans)
        problems = [str(problem) for problem in reply.problems]
        if self._dropped:
            problems.append(
                f"What stood behind {self._dropped[0].strip()!r} was dropped: results are not the model's to write."
            )
        content_starts = max((span.start for span in reply.spans if span.kind == "content"), default=-1)
        is_clean = all(problem.position > content_starts for problem in reply.problems)
        ends_in_problem = bool(reply.problems and reply.spans and reply.spans[-1].kind == "markup")
        return ReadReply(
            content=reply.content,
            reasoning=reply.reasoning,
            calls=_as_written(reply, "".join(self._fed) + self._end),
            text=self._text,
            problems=tuple(problems),
            is_answer=bool(reply.content.strip()) and is_clean,
            is_over=bool(self._dropped) or ends_in_problem,
        )

    @property
    def _text(self) -> str:
        return "".join([*self._fed, *self._dropped]) + ("" if self._dropped else self._stops.held)

    def _parse(self, text: str) -> list[Delta]:
        self._fed.append(text)
        return self._tell(self._parser.feed(text))

    def _tell(self, events: Sequence[ParseEvent]) -> list[Delta]:
        self._events += events
        self._has_call = self._has_call or any(isinstance(event, ToolCall | InvalidToolCall) for event in events)
        return [delta for event in events if (delta := _delta(event)) is not None]


def result_mark(chat_format: ChatFormat) -> str:
    """The label of a result at the beginning of a line, where the format has such labels; else empty.

    Behind a reply in labelled parts it would come next: a label ends bare text, and the end of a reply does not.
    """
    wire = chat_format.wire
    labels = wire.labels if isinstance(wire, LabelledWire) else ()
    return next((f"\n{label.text}" for label in labels if label.means == "result"), "")


class _Stops:
    """Text on its way, in which certain texts are looked for; what may be the beginning of one is held."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._pattern = re.compile("|".join(map(re.escape, stops))) if stops else None
        self.held = ""

    def push(self, text: str) -> None:
        self.held += text

    def next(self) -> tuple[str, str]:
        """The text before the next stop, and the stop; without one, the text that belongs to none, and nothing."""
        found = self._pattern.search(self.held) if self._pattern else None
        if found:
            self.held, before = self.held[found.end() :], self.held[: found.start()]
            return before, found.group()
        longest = max((_overlap(self.held, stop) for stop in self._stops), default=0)
        cut = len(self.held) - longest
        self.held, before = self.held[cut:], self.held[:cut]
        return before, ""

    def rest(self) -> str:
        rest, self.held = self.held, ""
        return rest


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of the text may be the beginning of the stop."""
    return next((size for size in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:size])), 0)


def _delta(event: ParseEvent) -> Delta | None:
    match event:
        case TextDelta() | ReasoningDelta():
            return event
        case CallOpened():
            return CallDelta(index=event.index, name=event.name)
        case ArgumentsDelta():
            return CallDelta(index=event.index, arguments=event.text)
        case _:
            return None


def _as_written(reply: Reply, text: str) -> tuple[AnyCall, ...]:
    """The calls; the text of an unreadable one with the mark before it, without which it could not be told again."""
    marked: dict[str, str] = {}
    before = ""
    for span in reply.spans:
        written = text[span.start : span.end]
        if span.kind == "call":
            marked.setdefault(written, (before + written).strip())
        before = written if span.kind == "markup" else ""
    return tuple(
        replace(call, text=marked.get(call.text, call.text)) if isinstance(call, InvalidToolCall) else call
        for call in reply.calls
    )
