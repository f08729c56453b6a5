"""A call that a model wrote as Java, read as the official checker reads it, whose oddities are kept.

Values are texts: what a value was written with, but for white space outside of calls and texts, the bodies of classes,
and the dimensions of arrays. Where a text has characters beyond ASCII, the checker takes bytes for characters.
Source: `java_parser` of `bfcl_eval` 2026.3.23. Deliberately not here: what values are (`bfcl.literals`).
"""

from __future__ import annotations

from typing import Final

from wieldy.evals.bfcl.decoding import Decoded, DecodingError
from wieldy.evals.bfcl.prompted.expressions import statements
from wieldy.evals.bfcl.prompted.tokens import JAVA, Node

SHORTEST: Final = 10
"""Bytes that the checker's parser would rather skip than take a semicolon for granted."""


def read_java(text: str) -> list[Decoded] | None:
    """The first call in the text; None where there is none, which the official checker calls a wrong format.

    Raises:
        DecodingError: There is something that the checker could not read, or a block.
    """
    found = statements(text, JAVA)
    if (
        found
        and not text.rstrip().endswith(";")
        and (len(text.strip().encode("utf-8", "surrogatepass")) <= SHORTEST or _assigns_twice(found[-1]))
    ):
        raise DecodingError("The official checker reads no such statement without its semicolon.")
    call = next((call for each in found if (call := _first_call(each)) is not None), None)
    if call is None:
        return None
    source = _Source(text)
    place, arguments = call.parts
    named = dict[str | None, str]()
    for argument in arguments.parts:
        if argument.kind == "assignment":
            name: str | None = source.raw(argument.parts[0])
            value = source.value(argument.parts[2])
        elif argument.kind == "name" or _is_class(argument, text):
            name, value = None, source.raw(argument)
        else:
            continue
        if name in named:
            raise DecodingError(f"Expected each argument once, found {name!r} twice.")
        named[name] = value
    return [{_name_of(place, source): named}]


def _assigns_twice(node: Node) -> bool:
    return node.kind == "assignment" and node.parts[2].kind == "assignment"


def _first_call(node: Node) -> Node | None:
    if node.kind == "call":
        return node
    return next((found for part in node.parts if (found := _first_call(part)) is not None), None)


def _name_of(place: Node, source: _Source) -> str:
    if place.kind != "member":
        return source.raw(place)
    return f"{source.raw(place.parts[0])}.{source.raw(place.parts[2])}"


def _is_class(node: Node, text: str) -> bool:
    return node.kind == "member" and text[node.parts[2].start : node.parts[2].end] == "class"


class _Source:
    """Parts of a text by the places that the checker takes for them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_plain = text.isascii()

    def raw(self, node: Node) -> str:
        """The text at the node's place."""
        start, end = node.start, node.end
        if not self._is_plain:
            start, end = (len(self._text[:place].encode("utf-8", "surrogatepass")) for place in (start, end))
        return self._text[start:end]

    def value(self, node: Node) -> str:
        """The value of an argument."""
        return self.raw(node)[1:-1] if node.kind == "string" else self.inner(node)

    def inner(self, node: Node) -> str:
        """What stands within a value."""
        if not node.parts or node.kind == "call" or _is_class(node, self._text):
            return self.raw(node)
        if node.kind == "new":
            kind, arguments = node.parts[1:3]
            inside = ", ".join(self.inner(each) for each in arguments.parts if each.kind != "token")
            return f"new {self.inner(kind)}({inside})"
        if node.kind == "new array":
            return f"new {self.inner(node.parts[1])}[]{self.inner(node.parts[-1])}"
        return "".join(map(self.inner, node.parts))
