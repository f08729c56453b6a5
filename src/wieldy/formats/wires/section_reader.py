"""Reads sections of calls as they come, for one set of tools.

A section with opening nodes is read to its end, whatever stands in it; without them, each call stands for itself.
What cannot be read becomes an `InvalidToolCall` with its text, and reading goes on at the next mark that is known.
"""

from __future__ import annotations

from collections.abc import Sequence

from wieldy.formats.nodes.call_ending import CallEnding, described, optional_opener
from wieldy.formats.nodes.flat import (
    Flat,
    Literal,
    Name,
    parts_of,
)
from wieldy.formats.reading.mending import SaysCall, mend
from wieldy.formats.reading.pattern import SPACE, Either, Group, Part, Pattern, Scanner
from wieldy.formats.reading.sink import OpenCall, Sink
from wieldy.formats.reading.source import Reading, Source, WireError
from wieldy.formats.wires.section import ANY_NAME, Section, first_of, marks_of, names_part


class SectionReader:
    """Reads a section, for one set of tools.

    Args:
        tokens: The special tokens that are marked in the source.
        marks: Literals that stand outside this section and end what cannot be read.
    """

    def __init__(self, section: Section, names: Sequence[str], tokens: frozenset[str], marks: Sequence[str]) -> None:
        call, self._section = section.call, section
        known = names_part(names)
        first_of_call = first_of(call.head, tokens)
        closing = marks_of(section.close, tokens)
        self._holds_many = bool(section.open)
        self.before = section.before
        self.literals = first_of((*section.open, *call.head), tokens) or ("{",)
        self.at_line_start = section.at_line_start
        self.claim = self._claim(tokens, known, tuple(name for name in section.pretended if name not in names))
        self._open = Pattern(parts_of(section.open, tokens))
        self._between = Pattern((SPACE, *parts_of(section.between, tokens), SPACE)) if section.between else None
        self._close = Pattern((SPACE, *parts_of(section.close, tokens))) if section.close else None
        inside = self._beginning_in_section(tokens, known)
        self._begins = Pattern(
            (SPACE, Either(tuple((literal,) for literal in first_of_call))) if first_of_call else (SPACE, *inside)
        )
        self._joined = self._joining(tokens, known)
        self._head = Pattern((SPACE, *parts_of(call.head, tokens)))
        self._empty = (
            Pattern((SPACE, *parts_of(_up_to_name(call.head), tokens), *parts_of(call.without_arguments, tokens)))
            if call.without_arguments
            else None
        )
        self._opened, self._unopened = (
            CallEnding(call.arguments, section.around(names, tokens=tokens, marks=marks, may_stop=may_stop))
            for may_stop in (False, True)
        )
        self._opener = optional_opener(call.head, first_of_call, tokens)
        last = [node for node in call.close if isinstance(node, Literal) and node.required][-1:]
        self._ends = tuple(literal for literal in marks_of(last, tokens) if len(literal) > 1)
        openers = [literal for literal in (*first_of_call, *closing, *self.literals, *marks) if len(literal) > 1]
        self._recovery = Scanner((*self._ends, *openers))
        braces = ("{",) if inside == ("{",) else ()
        found = (*first_of_call, *closing, *braces)
        self._noise = Scanner((*found, *marks)) if found else None

    def _beginning_in_section(self, tokens: frozenset[str], known: Part) -> tuple[Part, ...]:
        beginning = self._section.beginning(tokens, Either(((known,), (ANY_NAME,))))
        # A brace is enough in a section that has begun: the name may come after the arguments.
        return beginning[:1] if beginning[:1] == ("{",) else beginning

    def _joining(self, tokens: frozenset[str], known: Part) -> Pattern | None:
        """What stands between two calls that stand for themselves, where that is more than layout."""
        between = self._section.between
        if self._holds_many or not any(isinstance(node, Literal) and node.required for node in between):
            return None
        return Pattern(
            (Group("between", (SPACE, *parts_of(between, tokens), SPACE)), *self._section.beginning(tokens, known))
        )

    def _claim(self, tokens: frozenset[str], name: Part, pretended: Sequence[str]) -> Pattern:
        section = self._section
        open_ = parts_of(section.open, tokens)
        not_called = Either(tuple((other,) for other in pretended))
        unless = Pattern((*open_, *self._section.beginning(tokens, not_called))) if pretended else None
        if section.claimed_by != "mark":
            claimed = name if section.claimed_by == "name" else Either(((name,), (ANY_NAME,)))
            return Pattern((*open_, *self._section.beginning(tokens, claimed)), unless=unless)
        return Pattern((Either(tuple((literal,) for literal in self.literals)),), unless=unless)

    def read(self, source: Source, sink: Sink) -> Reading[None]:
        """Takes the section, which begins at the source's place."""
        if not self._holds_many:
            yield from self._read_call(source, sink)
            while self._joined and (joined := (yield from self._joined.look(source))):
                source.begin("markup")
                source.take(joined.end("between"))
                yield from self._read_call(source, sink)
            return
        opening = yield from self._open.look(source)
        if not opening:
            yield from self._give_up(source, sink, source.error(described(self._section.open)))
            return
        source.begin("markup")
        source.recorded = []
        if not source.take(opening.end()).strip():
            yield from self._read_without_section(source, sink)
            return
        if self._section.stands_together:
            sink.hold()
        is_whole = yield from self._read_calls(source, sink)
        sink.release(is_whole=is_whole)

    def _read_without_section(self, source: Source, sink: Sink) -> Reading[None]:
        """Takes calls as long as one follows another, and the end of the section if it stands there."""
        yield from self._read_call(source, sink)
        while (yield from self._begins.look(source)):
            yield from self._read_call(source, sink)
        if self._close and (closing := (yield from self._close.look(source))):
            source.begin("markup")
            source.take(closing.end())

    def _read_calls(self, source: Source, sink: Sink) -> Reading[bool]:
        """Takes the calls of a section that has begun; whether nothing else stood there, its end missing at most."""
        calls, noise, is_whole = sink.calls, None, True
        while True:
            if self._close and (closing := (yield from self._close.look(source))):
                source.begin("markup")
                source.take(closing.end())
                break
            if (yield from self._begins.look(source)):
                yield from self._read_call(source, sink)
                continue
            between = (yield from self._between.look(source)) if self._between else None
            if between and between.end() > source.at:
                source.begin("markup")
                source.take(between.end())
                continue
            if noise is None:
                noise = source.error(f"a call or {described(self._section.close)}")
                yield from source.tell(noise)
            is_whole = is_whole and source.at == len(source.text)
            if not (yield from self._skip_noise(source)):
                break
        recorded, source.recorded = source.recorded, None
        if noise and sink.calls == calls:
            call, source.recorded = sink.open_call(), recorded
            call.fail(noise)
        elif noise:
            sink.problem(noise)
        return is_whole

    def _skip_noise(self, source: Source) -> Reading[bool]:
        """Whether a mark was found behind what belongs nowhere; without one the section is over."""
        if not self._noise or source.at == len(source.text):
            return False
        source.begin("markup")
        source.take(source.at + 1)
        return (yield from _skip_to(source, self._noise))

    def _read_call(self, source: Source, sink: Sink) -> Reading[None]:
        source.begin("call")
        call, start = sink.open_call(), source.position
        try:
            yield from self._read_parts(source, call)
        except WireError as error:
            yield from source.tell(error)
            if source.position == start:
                yield from self._take_beginning(source)
            closed = yield from self._recover(source)
            if not self._mended(source, sink, call, closed):
                call.fail(error)

    def _mended(self, source: Source, sink: Sink, call: OpenCall, closed: str) -> bool:
        """Whether the call was read with repair; never where the text ended before its closing mark."""
        node, text = self._section.call.arguments, call.arguments_text
        is_cut = not closed and source.ended and source.at == len(source.text)
        if not isinstance(node, SaysCall) or (is_cut and self._ends):
            return False
        text = text[: len(text) - len(closed)].rstrip()
        return mend(call, text, node=node, level=sink.repair, is_cut=is_cut)

    def _read_parts(self, source: Source, call: OpenCall) -> Reading[None]:
        if self._empty and (empty := (yield from self._empty.look(source))):
            call.named(empty.group("name"))
            source.take(empty.end())
            call.close()
            return
        head = yield from self._head.look(source)
        if not head:
            raise source.error(described(self._section.call.head))
        groups = head.groupdict()
        call.provider_id = groups.get("id")
        taken = source.take(head.end())
        is_opened = self._opener is None or self._opener.begins(taken)
        if "name" in groups:
            call.named(groups["name"])
        call.begin_arguments()
        yield from (self._opened if is_opened else self._unopened).read(source, call)
        call.close()

    def _take_beginning(self, source: Source) -> Reading[None]:
        """Takes the beginning of a call whose head cannot be read, so that it is not found again as another call's."""
        opened = (yield from self._opener.pattern.look(source)) if self._opener else None
        source.take(opened.end() if opened else min(source.at + 1, len(source.text)))
        if self._opener and opened and (yield from _skip_to(source, self._recovery)):
            second = next((mark for mark in self._opener.followed_by if source.text.startswith(mark, source.at)), "")
            source.take(source.at + len(second))

    def _give_up(self, source: Source, sink: Sink, error: WireError) -> Reading[None]:
        source.begin("call")
        call = sink.open_call()
        yield from source.tell(error)
        source.take(min(source.at + 1, len(source.text)))
        yield from self._recover(source)
        call.fail(error)

    def _recover(self, source: Source) -> Reading[str]:
        """Takes what belongs to a call that cannot be read: up to its close, which it returns, or to the next mark."""
        if not (yield from _skip_to(source, self._recovery)):
            return ""
        closed = next((mark for mark in self._ends if source.text.startswith(mark, source.at)), "")
        return source.take(source.at + len(closed))


def _up_to_name(nodes: Sequence[Flat]) -> Sequence[Flat]:
    return nodes[: next((index for index, node in enumerate(nodes, start=1) if isinstance(node, Name)), 0)]


def _skip_to(source: Source, scanner: Scanner) -> Reading[bool]:
    """Takes everything up to the next mark; whether there was one."""
    while True:
        end, begins = scanner.find(source, source.at)
        source.take(end)
        if begins or source.ended:
            return begins
        yield
