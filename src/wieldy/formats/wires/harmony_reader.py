"""Reads a reply that is several messages with headers.

A mark that ends a message counts only where another message or the end of the text follows, so that a model may write
about marks. What is not in order is passed over with a `Problem`, and reading goes on with the next message; messages
to others than the tools on offer, and by others than the model, are kept as markup. Without a header at all, the text
is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from wieldy.formats.nodes.flat import Literal, marked
from wieldy.formats.nodes.json_calls import JsonArguments, read_arguments
from wieldy.formats.reading.mending import mend
from wieldy.formats.reading.pattern import SPACE, Either, End, Part, Pattern, Scanner
from wieldy.formats.reading.sink import OpenCall, Sink
from wieldy.formats.reading.source import Reading, Source, WireError
from wieldy.formats.wires.message_header import Channel, HeaderMarks
from wieldy.formats.wires.reply import ReadOptions

_BODY = JsonArguments()


class HarmonyReader:
    """Reads one reply; used once."""

    def __init__(
        self, marks: HeaderMarks, channels: Mapping[str, Channel], names: Sequence[str], options: ReadOptions
    ) -> None:
        self._marks, self._channels, self._names = marks, channels, names
        self._header = options.start.header

        def spelled(literal: Literal) -> str:
            return marked(literal.text, options.tokens)

        start, message = spelled(marks.start), spelled(marks.message)
        ends = tuple(map(spelled, marks.ends))
        self._message = message
        any_end = Either(tuple((end,) for end in ends))
        header_goes_on = Either(((spelled(marks.channel),), (marks.to,), (message,)))
        another = (start, marks.role, header_goes_on)
        self._header_marks = Scanner((message, start, *ends))
        self._body_marks = Scanner((start, *ends))
        self._starts = Scanner((start,))
        self._start = Pattern((SPACE, start))
        self._end = Pattern((any_end,))
        self._header_begins = Pattern((SPACE, Either(_first_in_header(marks, spelled))))
        body_end: tuple[tuple[Part, ...], ...] = ((any_end, SPACE, Either(((start,), (End(),)))), another)
        self._ends_body = Pattern((Either(body_end),))
        self._call_end = Pattern((SPACE, Either(((any_end,), another, (End(),)))))
        self._no_body = Pattern((SPACE, any_end))

    def read(self, source: Source, sink: Sink) -> Reading[None]:
        """Takes everything."""
        source.begin("markup")
        header = self._header
        if not header:
            found = yield from self._start.look(source)
            if found:
                source.take(found.end())
            else:
                header = self._marks.role
        opened, is_whole, _ = header.partition(self._marks.message.text)
        if is_whole:
            yield from self._read_body(source, sink, opened, source.position)
        elif header.strip() == self._marks.role and not (yield from self._header_begins.look(source)):
            yield from self._read_unmarked(source, sink)
        else:
            yield from self._read_message(source, sink, header)
        while (yield from self._next_message(source, sink)):
            yield from self._read_message(source, sink, "")

    def _read_unmarked(self, source: Source, sink: Sink) -> Reading[None]:
        problem = source.error(f"a header, such as {self._marks.channel.text!r} and a channel")
        yield from source.tell(problem)
        sink.problem(problem)
        source.begin("content")
        yield from self._take_body(source, sink.text)

    def _next_message(self, source: Source, sink: Sink) -> Reading[bool]:
        """Whether there is another message; its opening mark is taken, and what ends the one before."""
        source.begin("markup")
        end = yield from self._end.look(source)
        if end:
            source.take(end.end())
        start = yield from self._start.look(source)
        if start:
            source.take(start.end())
            return True
        rest = source.error(f"{self._marks.start.text!r} or the end of the text")
        yield from source.tell(rest)
        is_blank = True
        while True:
            upto, begins = self._starts.find(source, source.at)
            is_blank = not source.take(upto).strip() and is_blank
            if begins or source.ended:
                break
            yield
        if not is_blank:
            sink.problem(rest)
        return bool(begins) and (yield from self._next_message(source, sink))

    # Headers

    def _read_message(self, source: Source, sink: Sink, opened: str) -> Reading[None]:
        source.begin("markup")
        position, pieces = source.position, [opened]
        while True:
            upto, begins = self._header_marks.find(source, source.at)
            pieces.append(source.take(upto))
            if begins:
                break
            if source.ended:
                yield from self._no_message(source, sink, "".join(pieces), position)
                return
            yield
        header = "".join(pieces)
        if source.text.startswith(self._message, source.at):
            source.take(source.at + len(self._message))
            yield from self._read_body(source, sink, header, position)
        else:
            yield from self._no_message(source, sink, header, position)

    def _no_message(self, source: Source, sink: Sink, header: str, position: int) -> Reading[None]:
        """A header that no body follows: nothing but a role says nothing, and a recipient means a call."""
        if header.strip() in ("", self._marks.role):
            return
        error = source.error(repr(self._marks.message.text))
        yield from source.tell(error)
        name = self._marks.called(self._marks.parsed(header), self._names)
        if name is None:
            sink.problem(error)
            return
        call = sink.open_call()
        source.recorded = [header]
        call.named(name)
        call.fail(error)

    # Bodies

    def _read_body(self, source: Source, sink: Sink, text: str, position: int) -> Reading[None]:
        marks, header = self._marks, self._marks.parsed(text)
        if header.role not in (marks.role, ""):
            sink.problem(WireError(position, expected=f"a message by {marks.role!r}", found=repr(header.role)))
            yield from self._take_body(source, _nowhere)
            return
        name = marks.called(header, self._names)
        channel = self._channels.get(header.channel)
        if name is not None:
            yield from self._read_call(source, sink, name)
        elif header.recipient not in marks.nobody:
            expected = f"a call of {marks.namespace + 'NAME'!r}"
            sink.problem(WireError(position, expected=expected, found=repr(header.recipient)))
            yield from self._take_body(source, _nowhere)
        else:
            if channel is None or not header.is_in_order:
                sink.problem(WireError(position, expected=self._expected_channel, found=repr(text)))
            source.begin(channel or "content")
            yield from self._take_body(source, sink.reasoning if channel == "reasoning" else sink.text)

    @property
    def _expected_channel(self) -> str:
        return f"a header with one of the channels {', '.join(self._channels)}"

    def _take_body(self, source: Source, out: Callable[[str], object]) -> Reading[bool]:
        """Takes everything up to what ends the message; whether something did before the text was over."""
        while True:
            upto, begins = self._body_marks.find(source, source.at)
            out(source.take(upto))
            if begins:
                if (yield from self._ends_body.look(source)):
                    return True
                out(source.take(source.at + 1))
            elif source.ended:
                return False
            else:
                yield

    def _read_call(self, source: Source, sink: Sink, name: str) -> Reading[None]:
        source.begin("call")
        call = sink.open_call()
        call.named(name)
        call.begin_arguments()
        try:
            yield from self._read_json(source, call)
        except WireError as error:
            yield from source.tell(error)
            is_closed = yield from self._take_body(source, _nowhere)
            if not mend(call, call.arguments_text, node=_BODY, level=sink.repair, is_cut=not is_closed):
                call.fail(error)

    def _read_json(self, source: Source, call: OpenCall) -> Reading[None]:
        if not (yield from self._no_body.look(source)):
            yield from read_arguments(source, call)
        if not (yield from self._call_end.look(source)):
            raise source.error("the end of the message")
        call.close()


def _first_in_header(marks: HeaderMarks, spelled: Callable[[Literal], str]) -> tuple[tuple[Part, ...], ...]:
    """What may follow the role, or end a header that says nothing more."""
    literals = (marks.channel, marks.kind, marks.message, marks.start, *marks.ends)
    return (*((spelled(literal),) for literal in literals), (marks.to.strip(),), (End(),))


def _nowhere(text: str) -> None:
    """Takes text that is neither said nor called; its span stays."""
