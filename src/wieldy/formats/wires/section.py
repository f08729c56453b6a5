"""Where calls stand: one call, and the section that holds several. How they are read: `section_reader`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOfThese

from wieldy.core.calls import ToolDefinition
from wieldy.formats.nodes.call_ending import around_arguments
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
from wieldy.formats.reading.pattern import SPACE, Either, End, Part, Run
from wieldy.grammar.shape import InOrder, OneOf, Repeated, Shape

ANY_NAME = Run(r"\w.\-")
"""A name, of whatever tool."""


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
        behind = (*first_of(self.call.head, tokens), *marks_of(self.close, tokens), *marks)
        next_call = (*parts_of(self.between, tokens), SPACE, *self.beginning(tokens, names_part(names)))
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
        marks = first_of((*self.open, *self.call.head), frozenset())
        is_told_by_mark = marks and all(len(mark) > 1 for mark in marks)
        return marks if is_told_by_mark else self.call.arguments.giveaways(names)


def names_part(names: Sequence[str]) -> Part:
    """The names of the tools; any name where there are none."""
    return Either(tuple((name,) for name in sorted(names, key=len, reverse=True))) if names else ANY_NAME


def first_of(nodes: Sequence[Flat], tokens: frozenset[str]) -> tuple[str, ...]:
    """The literals that the nodes may begin with; none where that is not known."""
    try:
        return first_literals(nodes, tokens)
    except ValueError:
        return ()


def marks_of(nodes: Sequence[Flat], tokens: frozenset[str]) -> tuple[str, ...]:
    """The required literals among the nodes, in order."""
    return tuple(
        literal
        for node in nodes
        if isinstance(node, Literal) and node.required
        for literal in first_literals((node,), tokens)
    )
