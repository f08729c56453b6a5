"""Arguments that stand on the wire as a tree of named elements: `<order><id>7</id></order>`.

Two ways of writing arrays are read: every item as `<item>` inside the array's element, or the array's element once per
item; the schema and the names decide which it is. Leaves are raw text (`values`). Whoever builds the tree reads an
element raw where `Expected.takes_any_text`, so that markup inside a string is text and not children.
Deliberately not here: tags, attributes and escapes (each format's own), and names that no tag can have.
Law: what `is_tree_carried` says comes back with the same types. Nothing is lost that was read: text beside children is
kept as the member `#text`, which no schema expects, so that the validator names it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from wieldy.core.json import JsonObject, JsonValue
from wieldy.formats.values.expected import Expected, is_same
from wieldy.formats.values.values import Spelling, decode, encode
from wieldy.schema.wellformed import MAX_DEPTH

Arrays: TypeAlias = Literal["item", "repeated"]
"""How an array is written: as children called `item`, or as its own element once per item where it is a member."""

ITEM = "item"
TEXT = "#text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One element of the tree.

    Attributes:
        text: All text directly within it, the children left out.
    """

    name: str
    children: tuple[Element, ...] = ()
    text: str = ""


def decode_tree(element: Element, expected: Expected) -> JsonValue:
    """The value that the element stands for; what fits nothing is read as an object or as text."""
    return _value(element, expected, 0)


def encode_tree(
    name: str, value: JsonValue, expected: Expected, *, arrays: Arrays = "item", spelling: Spelling = "json"
) -> Element:
    """The element of this name that stands for the value; beyond `MAX_DEPTH` levels the rest is one leaf of JSON."""
    return _Writer(arrays=arrays, spelling=spelling).element(name, value, expected, 0)


def is_tree_carried(value: JsonValue, expected: Expected, *, arrays: Arrays = "item") -> bool:
    """Whether the value comes back as it is, in value and type, when its tree is read."""
    try:
        return is_same(decode_tree(encode_tree("", value, expected, arrays=arrays), expected), value)
    except (ValueError, TypeError, RecursionError):  # it cannot even be written
        return False


def _value(element: Element, expected: Expected, nesting: int) -> JsonValue:
    types = expected.types
    if not element.children:
        return _leaf(element.text, expected)
    if nesting >= MAX_DEPTH or not types & {"array", "object"}:
        return decode(_markup(element), expected)
    if "array" in types:
        if _holds_items(element, expected):
            return _items(element.children, expected, nesting)
        if "object" not in types and "object" in expected.item(0).types:
            return [_value(element, expected.item(0), nesting + 1)]
    return _object(element, expected, nesting)


def _leaf(text: str, expected: Expected) -> JsonValue:
    types = expected.types
    if "string" not in types and not text.strip():
        if types & {"array", "object"}:
            return {} if "object" in types else []
        return text
    value = decode(text, expected)
    if isinstance(value, str) and "array" in types and "string" not in types:
        # One item of an array that is written once per item.
        item = decode(text, expected.item(0))
        return [item] if expected.item(0).admitted.admits(item) else value
    return value


def _holds_items(element: Element, expected: Expected) -> bool:
    names = {child.name for child in element.children}
    if len(names) > 1 or element.text.strip():
        return False
    if ITEM in names:
        return "object" not in expected.types or not expected.is_declared(ITEM)
    item = expected.item(0)
    is_member_of_item = not item.types - {"object", "null"} or any(map(item.is_declared, names))
    return "object" not in expected.types and not is_member_of_item


def _items(elements: tuple[Element, ...], expected: Expected, nesting: int) -> JsonValue:
    return [_value(element, expected.item(index), nesting + 1) for index, element in enumerate(elements)]


def _object(element: Element, expected: Expected, nesting: int) -> JsonObject:
    together: dict[str, list[Element]] = {}
    for child in element.children:
        together.setdefault(child.name, []).append(child)
    members: JsonObject = {}
    for name, children in together.items():
        member = expected.member(name)
        if len(children) > 1:
            members[name] = _items(tuple(children), member, nesting + 1)
        else:
            members[name] = _value(children[0], member, nesting + 1)
    if element.text.strip():
        members.setdefault(TEXT, element.text)
    return members


def _markup(element: Element) -> str:
    """What stands within the element, as plain tags; a loop, because a model can nest without end."""
    pieces = [element.text]
    waiting: list[Element | str] = list(reversed(element.children))
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            pieces.append(part)
        else:
            pieces.append(f"<{part.name}>{part.text}")
            waiting += [f"</{part.name}>", *reversed(part.children)]
    return "".join(pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    arrays: Arrays
    spelling: Spelling

    def element(self, name: str, value: JsonValue, expected: Expected, nesting: int) -> Element:
        if nesting < MAX_DEPTH and isinstance(value, dict) and value:
            children = [
                child
                for member, inner in value.items()
                for child in self._member(member, inner, expected.member(member), nesting + 1)
            ]
            return Element(name=name, children=tuple(children))
        if nesting < MAX_DEPTH and isinstance(value, list) and value:
            return Element(name=name, children=self._items(value, expected, nesting))
        if value in ({}, []) and len(expected.types & {"array", "object", "string"}) == 1:
            return Element(name=name)
        return Element(name=name, text=encode(value, expected, spelling=self.spelling))

    def _member(self, name: str, value: JsonValue, expected: Expected, nesting: int) -> tuple[Element, ...]:
        element = self.element(name, value, expected, nesting)
        if not (self.arrays == "repeated" and isinstance(value, list) and element.children):
            return (element,)
        repeated = tuple(replace(item, name=name) for item in element.children)
        # A single one looks like no array; where it would be taken for something else, it stays an item.
        is_array = len(value) > 1 or is_same(_value(repeated[0], expected, nesting), value)
        return repeated if is_array else (element,)

    def _items(self, values: list[JsonValue], expected: Expected, nesting: int) -> tuple[Element, ...]:
        return tuple(self.element(ITEM, value, expected.item(index), nesting + 1) for index, value in enumerate(values))
