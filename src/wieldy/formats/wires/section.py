"""Where calls stand: one call, and the section that holds several.

A section with opening nodes is read to its end, whatever stands in it; without them, each call stands for itself.
What cannot be read becomes an `InvalidToolCall` with its text, and reading goes on at the next mark that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOfThese

from wieldy.core.calls import ToolDefinition
from wieldy.formats.nodes.call_ending import CallEnding, around_arguments, described, optional_opener
from wieldy.formats.nodes.flat import (
    Arguments,
    Around,
    Flat,
    Gap,
    Literal,
    Name,
    WrittenCall,
    first_literals,
    parts_of,
    shapes_of,
    write_flat,
)
from wieldy.formats.reading.mending import SaysCall, mend
from wieldy.formats.reading.pattern import SPACE, Either, End, Group, Part, Pattern, Run, Scanner
from wieldy.formats.reading.sink import OpenCall, Sink
from wieldy.formats.reading.source import Reading, Source, WireError
from wieldy.grammar.shape import InOrder, OneOf, Repeated, Shape

_ANY_NAME = Run(r"\w.\-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How one call is written.

    Attributes:
        head: What stands before the arguments, the name among it unless the arguments hold it.
        arguments: The node that holds the arguments.
        close: What stands behind them.
        without_arguments: What may stand behind the name instead of all that follows it, where there are no arguments;
            only read.
    """

    head: tuple[Flat, ...] = ()
    arguments: Arguments
    close: tuple[Flat, ...] = ()
    without_arguments: tuple[Flat, ...] = ()

    def write(self, call: WrittenCall) -> str:
        """The call."""
        return write_flat(self.head, call) + self.arguments.write(call) + write_flat(self.close, call)

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """What a grammar allows for a call of the tool."""
        return InOrder(
            (
                *shapes_of(self.head, tool.name),
                self.arguments.shape(tool, rules, around=around),
                *shapes_of(self.close, tool.name),
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Where the calls of a reply stand.

    Attributes:
        before: What stands between text and calls, if that is only layout.
        open: What stands before the first call. If none of it is required, calls may stand without the section.
        between: What stands between two calls.
        close: What stands behind the last call.
        claimed_by: What tells calls from text: the opening mark alone, or the whole beginning with a known name, or
            with any name.
        at_line_start: Whether calls begin only where a line begins.
        most: How many calls the wire can carry; None for any number.
        pretended: Names with which a model says that it calls nothing; what begins with one of them is text.
        stands_together: Whether the calls are one expression, so that none is made if one of them cannot be read.
    """

    call: Call
    before: Gap | None = None
    open: tuple[Flat, ...] = ()
    between: tuple[Flat, ...] = ()
    close: tuple[Flat, ...] = ()
    claimed_by: OneOfThese["mark", "name", "any name"] = "mark"
    at_line_start: bool = False
    most: int | None = None
    pretended: tuple[str, ...] = ()
    stands_together: bool = False

    def write(self, calls: Sequence[WrittenCall], *, after_text: bool) -> str:
        """The calls, with what stands around them."""
        if not calls:
            return ""
        gap = self.before.text if self.before and after_text else ""
        written = write_flat(self.between, calls[0]).join(self.call.write(call) for call in calls)
        return gap + write_flat(self.open, calls[0]) + written + write_flat(self.close, calls[-1])

    def shape(
        self,
        tools: Sequence[ToolDefinition],
        rules: dict[str, Shape],
        *,
        at_most: int | None,
        marks: Sequence[str],
    ) -> Shape:
        """One call or more of any of the tools.

        Args:
            tools: The tools that may be called.
            rules: The shapes that have names.
            at_most: How many calls; None for any number.
            marks: Literals that stand outside this section and end what cannot be read.
        """
        limits = [limit for limit in (self.most, at_most) if limit is not None]
        between = shapes_of(self.between, "")
        # Text must do without calls of any name: with each name on its own, grammars of many tools would be huge.
        around = self.around((), tokens=frozenset(), marks=marks, may_stop=False)
        return InOrder(
            (
                *shapes_of(self.open, ""),
                Repeated(
                    OneOf(tuple(self.call.shape(tool, rules, around=around) for tool in tools)),
                    at_least=1,
                    at_most=min(limits, default=None),
                    between=InOrder(between) if between else None,
                ),
                *shapes_of(self.close, ""),
            )
        )

    def around(self, names: Sequence[str], *, tokens: frozenset[str], marks: Sequence[str], may_stop: bool) -> Around:
        """Where the arguments of a call stand.

        Args:
            names: All tools that a parser knows.
            tokens: The special tokens that are marked in the source.
            marks: Literals that stand outside this section.
            may_stop: Whether the end of the text shows that a close whose last mark is missing is one.
        """
        behind = (*_first(self.call.head, tokens), *_marks(self.close, tokens), *marks)
        next_call = (*parts_of(self.between, tokens), SPACE, *self.beginning(tokens, _known(names)))
        shown_by = (next_call, (End(),)) if may_stop else (next_call,)
        return around_arguments(self.call.close, tokens=tokens, behind=behind, shown_by=shown_by)

    def beginning(self, tokens: frozenset[str], name: Part) -> tuple[Part, ...]:
        """How a call of such a name begins."""
        head: list[Part] = []
        for node in self.call.head:
            head += [name] if isinstance(node, Name) else node.parts(tokens)
        return (*head, *self.call.arguments.claim(name))

    def text_marks(self, names: Sequence[str]) -> tuple[str, ...]:
        """The texts that ordinary text must not contain, because a parser would take them for a call."""
        marks = _first((*self.open, *self.call.head), frozenset())
        is_told_by_mark = marks and all(len(mark) > 1 for mark in marks)
        return marks if is_told_by_mark else self.call.arguments.giveaways(names)


def _known(names: Sequence[str]) -> Part:
    return Either(tuple((name,) for name in sorted(names, key=len, reverse=True))) if names else _ANY_NAME


class SectionReader:
    """Reads a section, for one set of tools.

    Args:
        tokens: The special tokens that are marked in the source.
        marks: Literals that stand outside this section and end what cannot be read.
    """

    def __init__(self, section: Section, names: Sequence[str], tokens: frozenset[str], marks: Sequence[str]) -> None:
        call, self._section = section.call, section
        known = _known(names)
        first_of_call = _first(call.head, tokens)
        closing = _marks(section.close, tokens)
        self._holds_many = bool(section.open)
        self.before = section.before
        self.literals = _first((*section.open, *call.head), tokens) or ("{",)
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
        self._ends = tuple(literal for literal in _marks(last, tokens) if len(literal) > 1)
        openers = [literal for literal in (*first_of_call, *closing, *self.literals, *marks) if len(literal) > 1]
        self._recovery = Scanner((*self._ends, *openers))
        braces = ("{",) if inside == ("{",) else ()
        found = (*first_of_call, *closing, *braces)
        self._noise = Scanner((*found, *marks)) if found else None

    def _beginning_in_section(self, tokens: frozenset[str], known: Part) -> tuple[Part, ...]:
        beginning = self._section.beginning(tokens, Either(((known,), (_ANY_NAME,))))
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
            claimed = name if section.claimed_by == "name" else Either(((name,), (_ANY_NAME,)))
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


def _first(nodes: Sequence[Flat], tokens: frozenset[str]) -> tuple[str, ...]:
    try:
        return first_literals(nodes, tokens)
    except ValueError:
        return ()


def _marks(nodes: Sequence[Flat], tokens: frozenset[str]) -> tuple[str, ...]:
    """The required literals among the nodes, in order."""
    return tuple(
        literal
        for node in nodes
        if isinstance(node, Literal) and node.required
        for literal in first_literals((node,), tokens)
    )
