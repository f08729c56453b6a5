"""Arguments that stand as elements named after them, nested as deep as the values are: `<order><id>7</id></order>`.

What is an element and what is text says the tool's schema, for the wire says nothing: strings are raw text, in which
tags are only letters; objects whose members the schema declares are elements within elements, arrays elements called
`item`; everything else stands as JSON. Reading takes more than is written: elements for objects that no schema knows,
and an array's element once per item. What a tree then means is told in `trees`; what grammars allow, in `xml_shapes`.

Strings among the arguments are passed on as they come; everything else when its element closes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonValue
from wieldy.formats.events import escaped
from wieldy.formats.nodes.flat import Around, Gap, Literal, Reader, WrittenCall, first_literals, marked
from wieldy.formats.nodes.xml_shapes import XmlShapes, end_of_call, nested_kind
from wieldy.formats.reading.pattern import SPACE, Either, End, Group, Part, Pattern, Run, Scanner
from wieldy.formats.reading.sink import OpenCall
from wieldy.formats.reading.source import Reading, Source
from wieldy.formats.values.expected import Expected
from wieldy.formats.values.trees import ITEM, Element, decode_tree
from wieldy.formats.values.values import encode, in_schema_order
from wieldy.grammar.shape import Shape
from wieldy.schema.wellformed import MAX_DEPTH

TAG_NAME = r"^\s<>/\"'=&"
"""What the name of an element may be read with: the inside of a character class."""
_MAX_OPEN = 1000
"""More open elements are refused."""
NO_LAYOUT = Gap()


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlArguments:
    """One element per argument.

    Attributes:
        mark: What stands before every tag and nowhere else, where the wire has such a thing.
        between: What stands between two arguments, if that is only layout.
        after: What stands behind the last one.
    """

    mark: str = ""
    between: Gap = NO_LAYOUT
    after: Gap = NO_LAYOUT

    def write(self, call: WrittenCall) -> str:
        """All arguments in the order of the schema."""
        arguments = in_schema_order(call.arguments, call.expected)
        written = [self._element(name, value, call.expected.member(name), 0) for name, value in arguments.items()]
        return self.between.text.join(written) + self.after.text if written else ""

    def _element(self, name: str, value: JsonValue, expected: Expected, nesting: int) -> str:
        inside = self._inside(value, expected, nesting)
        return f"{self.mark}<{name}>{inside}{self.mark}</{name}>"

    def _inside(self, value: JsonValue, expected: Expected, nesting: int) -> str:
        kind = nested_kind(expected) if nesting < MAX_DEPTH else None
        if kind == "object" and isinstance(value, dict):
            members = (self._element(name, part, expected.member(name), nesting + 1) for name, part in value.items())
            return "".join(members)
        if kind == "array" and isinstance(value, list):
            items = (self._element(ITEM, part, expected.item(index), nesting + 1) for index, part in enumerate(value))
            return "".join(items)
        return encode(value, expected)

    def giveaways(self, names: Sequence[str]) -> tuple[str, ...]:
        """None: the name stands elsewhere."""
        return ()

    def claim(self, names: Part) -> tuple[Part, ...]:
        """Nothing: there may be no argument."""
        return ()

    def reader(self, around: Around) -> Reader:
        """Takes elements until the call ends."""
        return _XmlReader(self, around).read

    def shape(self, tool: ToolDefinition, rules: dict[str, Shape], *, around: Around) -> Shape:
        """Every argument at most once, in the order of the schema; those that it requires, once."""
        expected = Expected.of(tool.input_schema)
        shapes = XmlShapes(self.mark, rules, around)
        return shapes.arguments(expected, between=self.between.text, after=self.after.text)


@dataclass(slots=True)
class _OpenElement:
    """An element that is being read."""

    name: str
    expected: Expected
    text: list[str] = field(default_factory=list[str])
    children: list[Element] = field(default_factory=list[Element])

    def inner(self, name: str) -> Expected:
        """What is expected of a child of this name."""
        types = self.expected.types
        if "array" in types and (name == ITEM or "object" not in types) and not self.expected.is_declared(name):
            return self.expected.item(len(self.children))
        return self.expected.member(name)

    @property
    def closed(self) -> Element:
        return Element(name=self.name, children=tuple(self.children), text="".join(self.text))


class _XmlReader:
    """Reads arguments as elements; made once per parser."""

    def __init__(self, node: XmlArguments, around: Around) -> None:
        self._mark = mark = marked(node.mark, around.tokens)
        self._close_of_call = around.close
        name = Group("name", (Run(TAG_NAME),))
        self._open = Pattern((SPACE, f"{mark}<", name, ">"))
        self._tag = Pattern((f"{mark}<", Group("slash", (Either((("/",), ())),)), name, ">"))
        self._tags = Scanner((f"{mark}<",))
        self._gap = Pattern((SPACE,))
        self._end = Pattern((SPACE, *around.end)) if around.end else None
        self._over = Pattern(over) if (over := end_of_call(around)) else None
        self._follows = Either(((f"{mark}<",), *((around.end,) if around.end else ()), (End(),)))
        self._over_literals = _begin(around)

    def read(self, source: Source, call: OpenCall) -> Reading[None]:
        """Takes arguments up to where the call ends; see `Reader`."""
        seen = set[str]()
        call.write("{")
        while opening := (yield from self._open.look(source)):
            name = opening["name"]
            if name in seen:
                raise source.error(f"each argument once, but {name!r} stands there again")
            call.write((", " if seen else "") + json.dumps(name, ensure_ascii=False) + ": ")
            seen.add(name)
            source.take(opening.end())
            expected = call.expected.member(name)
            if expected.takes_any_text:
                call.write('"')
                yield from self._raw(source, lambda text: call.write(escaped(text)), name)
                call.write('"')
            else:
                value = yield from self._value(source, name, expected)
                call.write(json.dumps(value, ensure_ascii=False))
        if self._end and not (yield from self._end.look(source)):
            raise source.error(f"another argument or {_described(self._close_of_call)}")
        gap = yield from self._gap.look(source)
        source.take(gap.end() if gap else source.at)
        call.write("}")

    def _value(self, source: Source, name: str, expected: Expected) -> Reading[JsonValue]:
        """One value: its element, or several of the same name, which are an array's items."""
        elements = [(yield from self._element(source, name, expected))]
        while (opening := (yield from self._open.look(source))) and opening["name"] == name:
            source.take(opening.end())
            elements.append((yield from self._element(source, name, expected.item(len(elements)))))
        if len(elements) == 1:
            return decode_tree(elements[0], expected)
        return [decode_tree(element, expected.item(index)) for index, element in enumerate(elements)]

    def _element(self, source: Source, name: str, expected: Expected) -> Reading[Element]:
        """Takes what follows an opening tag, its closing tag included."""
        opened = [_OpenElement(name, expected)]
        while True:
            element = opened[-1]
            if element.expected.types & {"array", "object"}:
                inner = yield from self._until_tag(source, element)
                if inner is not None:
                    if len(opened) == _MAX_OPEN:
                        raise source.error(f"at most {_MAX_OPEN} elements within each other")
                    opened.append(_OpenElement(inner, element.inner(inner)))
                    continue
            else:
                yield from self._raw(source, element.text.append, element.name)
            opened.pop()
            if not opened:
                return element.closed
            opened[-1].children.append(element.closed)

    def _until_tag(self, source: Source, element: _OpenElement) -> Reading[str | None]:
        """Takes text and one tag: the name that it opens, or None if it closes the element."""
        while True:
            end, begins = self._tags.find(source, source.at)
            element.text.append(source.take(end))
            if begins:
                tag = yield from self._tag.look(source)
                if tag and (not tag["slash"] or tag["name"] == element.name):
                    source.take(tag.end())
                    return None if tag["slash"] else tag["name"]
                yield from self._refuse_end(source, element.name)
                element.text.append(source.take(source.at + 1))
            elif source.ended:
                raise source.error(repr(self._closing(element.name)))
            else:
                yield

    def _raw(self, source: Source, out: Callable[[str], object], name: str) -> Reading[None]:
        """Takes text up to its closing tag: the one behind which another tag follows."""
        closing = self._closing(name)
        closed = Pattern((Group("close", (closing,)), SPACE, self._follows))
        scanner = Scanner((closing, *self._over_literals))
        while True:
            end, begins = scanner.find(source, source.at)
            if end > source.at:
                out(source.take(end))
            if begins:
                if found := (yield from closed.look(source)):
                    source.take(found.end("close"))
                    return
                yield from self._refuse_end(source, name)
                out(source.take(source.at + 1))
            elif source.ended:
                raise source.error(repr(closing))
            else:
                yield

    def _refuse_end(self, source: Source, name: str) -> Reading[None]:
        """The whole call must not end while an element is open."""
        if self._over and (yield from self._over.look(source)):
            raise source.error(repr(self._closing(name)))

    def _closing(self, name: str) -> str:
        return f"{self._mark}</{name}>"


def _begin(around: Around) -> tuple[str, ...]:
    try:
        return first_literals(around.close, around.tokens)
    except ValueError:
        return ()


def _described(nodes: tuple[object, ...]) -> str:
    texts = [repr(node.text) for node in nodes if isinstance(node, Literal) and node.required]
    return " and ".join(texts) or "the end of the call"
