"""The nodes of which a wire is made: each can be written, recognised and turned into a shape.

Flat nodes (this module) are recognised by a `Pattern`; nodes that hold arguments read for themselves (`Arguments`).
A node has one canonical spelling, which is written and which grammars allow, and may have tolerated ones, which are
only read. Nothing here knows a model family: a family is a tree of these nodes, in `formats.catalogue`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Protocol, TypeAlias, cast

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonObject
from wieldy.formats.reading.pattern import SPACE, Either, Group, Part, Run
from wieldy.formats.reading.sink import OpenCall
from wieldy.formats.reading.source import TOKEN, Reading, Source
from wieldy.formats.values.expected import Expected
from wieldy.grammar.shape import Characters, Exact, InOrder, Shape, maybe

NAME = r"^\s<>(){}\[\]\"'|=:,"
"""What the name of a tool may be written with, where the wire does not say: the inside of a character class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A call as a renderer writes it.

    Attributes:
        index: Which call of the reply it is, counted from 0.
        number: Which call of the conversation it is, counted from 0.
        wire_id: What the call is called on the wire, if that has ids.
        came_with_id: Whether it has an id that others know: the model's or a provider's, or one in a conversation, by
            which its result will name it.
        expected: The schema of the arguments.
    """

    name: str
    arguments: JsonObject
    index: int
    number: int
    wire_id: str
    came_with_id: bool
    expected: Expected


@dataclass(frozen=True, slots=True)
class Literal:
    """A text.

    Attributes:
        also: Other spellings that are read.
        token: Whether vocabularies have it as one special token, so that it stands in no ordinary text.
        required: Whether it must stand there to be read; it is always written.
    """

    text: str
    also: tuple[str, ...] = field(default=(), kw_only=True)
    token: bool = field(default=False, kw_only=True)
    required: bool = field(default=True, kw_only=True)

    @property
    def spellings(self) -> tuple[str, ...]:
        """All that are read; the canonical one may be empty, and is none then."""
        return (self.text, *self.also) if self.text else self.also

    def write(self, call: WrittenCall) -> str:
        """The canonical spelling."""
        return self.text

    def parts(self, tokens: frozenset[str]) -> tuple[Part, ...]:
        """What is read."""
        spellings = [(marked(spelling, tokens),) for spelling in self.spellings]
        if self.required and len(spellings) == 1:
            return spellings[0]
        return (Either((*spellings, *(() if self.required else ((),)))),)

    def shapes(self, name: str) -> tuple[Shape, ...]:
        """The canonical spelling."""
        return (Exact(self.text, token=self.token),) if self.text else ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Whitespace that is only layout: written as given, read as any or none."""

    text: str = ""

    def write(self, call: WrittenCall) -> str:
        """The canonical whitespace."""
        return self.text

    def parts(self, tokens: frozenset[str]) -> tuple[Part, ...]:
        """Any whitespace."""
        return (SPACE,)

    def shapes(self, name: str) -> tuple[Shape, ...]:
        """The canonical whitespace."""
        return (Exact(self.text),) if self.text else ()


@dataclass(frozen=True, slots=True)
class Name:
    """The name of the tool.

    Attributes:
        allowed: With which characters it may be read: the inside of a character class.
    """

    allowed: str = NAME

    def write(self, call: WrittenCall) -> str:
        """The name."""
        return call.name

    def parts(self, tokens: frozenset[str]) -> tuple[Part, ...]:
        """A run of characters, kept as `name`."""
        return (Group("name", (Run(self.allowed),)),)

    def shapes(self, name: str) -> tuple[Shape, ...]:
        """The name of the tool."""
        return (Exact(name),)


@dataclass(frozen=True, slots=True)
class Index:
    """The number of the call.

    Attributes:
        first: What the first call is numbered.
        of_conversation: Whether calls of earlier replies count.
    """

    first: int = field(default=0, kw_only=True)
    of_conversation: bool = field(default=False, kw_only=True)

    def write(self, call: WrittenCall) -> str:
        """The number."""
        return str(self.first + (call.number if self.of_conversation else call.index))

    def parts(self, tokens: frozenset[str]) -> tuple[Part, ...]:
        """Digits."""
        return (Run("0-9", at_most=9),)

    def shapes(self, name: str) -> tuple[Shape, ...]:
        """Digits."""
        return (Characters("0-9", at_most=9),)


@dataclass(frozen=True, slots=True)
class CallId:
    """The id on the wire.

    Attributes:
        nodes: What it is spelled with; empty for an opaque id.
        allowed: With which characters an opaque id is read.
        length: How many letters and digits grammars give an opaque id.
    """

    nodes: tuple[Flat, ...] = ()
    allowed: str = field(default="a-zA-Z0-9_-", kw_only=True)
    length: int = field(default=9, kw_only=True)

    def write(self, call: WrittenCall) -> str:
        """The id."""
        return call.wire_id

    def parts(self, tokens: frozenset[str]) -> tuple[Part, ...]:
        """The id, kept as `id`."""
        return (Group("id", parts_of(self.nodes, tokens) or (Run(self.allowed),)),)

    def shapes(self, name: str) -> tuple[Shape, ...]:
        """Its nodes, or letters and digits of its usual length."""
        if self.nodes:
            return shapes_of(self.nodes, name)
        return (Characters("a-zA-Z0-9", at_least=self.length, at_most=self.length),)


@dataclass(frozen=True, slots=True)
class WithId:
    """What stands there only if the call came with an id."""

    nodes: tuple[Flat, ...]

    def write(self, call: WrittenCall) -> str:
        """The nodes, or nothing."""
        return write_flat(self.nodes, call) if call.came_with_id else ""

    def parts(self, tokens: frozenset[str]) -> tuple[Part, ...]:
        """The nodes, or nothing."""
        return (Either((parts_of(self.nodes, tokens), ())),)

    def shapes(self, name: str) -> tuple[Shape, ...]:
        """The nodes, or nothing."""
        return (maybe(InOrder(shapes_of(self.nodes, name))),)


Flat: TypeAlias = Literal | Gap | Name | Index | CallId | WithId


def marked(text: str, tokens: frozenset[str]) -> str:
    """The text as it stands in a source, where special tokens are marked."""
    if not tokens:
        return text
    return _token_expression(tokens).sub(lambda found: TOKEN + found.group(), text)


def _token_expression(tokens: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(tokens, key=lambda token: (-len(token), token))
    return re.compile("|".join(map(re.escape, longest_first)))


def parts_of(nodes: Sequence[Flat], tokens: frozenset[str]) -> tuple[Part, ...]:
    """What flat nodes are read as, one after the other."""
    return tuple(part for node in nodes for part in node.parts(tokens))


def write_flat(nodes: Sequence[Flat], call: WrittenCall) -> str:
    """The canonical text of flat nodes."""
    return "".join(node.write(call) for node in nodes)


def shapes_of(nodes: Sequence[Flat], name: str) -> tuple[Shape, ...]:
    """What grammars allow for flat nodes in a call of the tool `name`."""
    return tuple(shape for node in nodes for shape in node.shapes(name))


def token_marks(node: object) -> Iterator[str]:
    """The marks within a tree of nodes that vocabularies have as one token, in order, tolerated spellings too."""
    if isinstance(node, Literal):
        if node.token:
            yield from (node.text, *node.also)
    elif isinstance(node, tuple):
        for part in cast("tuple[object, ...]", node):
            yield from token_marks(part)
    elif is_dataclass(node):
        for part in fields(node):
            yield from token_marks(getattr(node, part.name))


def first_literals(nodes: Sequence[Flat], tokens: frozenset[str]) -> tuple[str, ...]:
    """The literals with which a sequence may begin: as many as may be missing, and the first that may not.

    Raises:
        ValueError: It may begin with something that is no literal, so that it cannot be searched for.
    """
    literals: list[str] = []
    for node in nodes:
        if isinstance(node, Gap):
            continue
        if isinstance(node, CallId) and node.nodes:
            return (*literals, *first_literals(node.nodes, tokens))
        if not isinstance(node, Literal):
            break
        literals += [marked(spelling, tokens) for spelling in node.spellings]
        if node.required:
            return tuple(literals)
    raise ValueError(f"expected a sequence that begins with a required literal, found {nodes!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """Where arguments stand in a call: what they may be followed by.

    Attributes:
        tokens: The special tokens that are marked in the source.
        close: The flat nodes that follow the arguments and end the call.
        behind: The literals with which the next call, or what stands behind the calls, begins.
        early: What is read instead of `close` where its last mark is missing; empty if it must be there.
    """

    tokens: frozenset[str]
    close: tuple[Flat, ...]
    behind: tuple[str, ...]
    early: tuple[Part, ...] = ()

    @property
    def end(self) -> tuple[Part, ...]:
        """What is read where the arguments end; empty if nothing has to stand there."""
        if any(isinstance(node, Literal) and node.required for node in self.close):
            whole = parts_of(self.close, self.tokens)
            return (Either((whole, self.early)),) if self.early else whole
        return (Either(tuple((literal,) for literal in self.behind)),) if self.behind else ()


Reader: TypeAlias = Callable[["Source", "OpenCall"], "Reading[None]"]
"""Reads arguments from a source into an open call; raises `WireError` where the text is not what the format says."""


class Arguments(Protocol):
    """A node that holds the arguments of a call, and perhaps its name."""

    def write(self, call: WrittenCall) -> str:
        """The arguments as the wire has them."""
        ...

    def reader(self, around: Around) -> Reader:
        """What reads them, made once for a parser."""
        ...

    def claim(self, names: Part) -> tuple[Part, ...]:
        """How they begin, where that must tell a call from ordinary text; `names` matches the name of a tool."""
        ...

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """Texts of which one stands in every call that is told by a known name; ordinary text must do without them."""
        ...

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """What grammars allow for the arguments of a tool; shapes with names are added to `rules`.

        Args:
            tool: The tool.
            rules: The shapes that have names.
            around: Where they stand; raw text must do without what would end it there.
        """
        ...
