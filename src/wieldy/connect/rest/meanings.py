"""What a schema object means once its references are followed and its `allOf` is put together.

Documents are strangers' work: in a few lines they can name the same parts again and again, a level deeper each time. So
whatever is said twice within one meaning is read once, and for one tool so many parts are read and no more. Law: the
meaning never says more than the document; what was not read is left open. Deliberately not here: writing meanings for a
model (`schemas`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from wieldy.connect.rest.documents import Documents, Node, UnreadableError
from wieldy.connect.rest.keywords import scalar_keywords, with_null
from wieldy.connect.rest.reading import list_of, object_of, texts_of
from wieldy.core.json import JsonObject, JsonValue

MAX_PARTS: Final = 100_000
"""How much is read for one tool: schema objects, their properties, branches and listed values, together."""
_MAX_NESTING: Final = 40
_CHARACTERS_OF_A_PART: Final = 64
_MARKS: Final = {"readOnly": "readOnly", "writeOnly": "writeOnly", "nullable": "nullable", "x-nullable": "nullable"}
_COUNTED: Final = ("properties", "required", "allOf", "oneOf", "anyOf")
_LISTED: Final = ("enum", "const", "default")


@dataclass(slots=True, kw_only=True)
class Flat:
    """What a schema object means.

    Attributes:
        keywords: Those without subschemas, in JSON Schema 2020-12.
        properties: By name.
        required: Names of properties, each once.
        items: Of an array.
        additional: Other properties of an object; None where nothing is said.
        alternatives: Of which one must fit.
        seen: The places that references led through.
        marks: Of `readOnly`, `writeOnly` and `nullable` those that are said of it.
    """

    keywords: JsonObject = field(default_factory=dict[str, JsonValue])
    properties: dict[str, Node] = field(default_factory=dict[str, Node])
    required: dict[str, None] = field(default_factory=dict[str, None])
    items: Node | None = None
    additional: Node | bool | None = None
    alternatives: list[Node] = field(default_factory=list[Node])
    seen: set[str] = field(default_factory=set[str])
    marks: set[str] = field(default_factory=set[str])

    @property
    def is_object(self) -> bool:
        """Whether objects fit it, and it says something about them."""
        kind = self.keywords.get("type")
        return "object" in texts_of(kind) or (kind is None and bool(self.properties))


class SchemaReader:
    """Reads the schema objects of one tool.

    Args:
        documents: Where references lead.

    Attributes:
        is_cut: Whether something was not read, since it is too much or nested too deeply.
    """

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.is_cut = False
        self._left = MAX_PARTS

    def flat(self, node: Node) -> Flat:
        """What the schema object means.

        Raises:
            UnreadableError: A reference in it leads nowhere.
        """
        found = Flat()
        self._add(found, node, read=set(), nesting=0)
        if "nullable" in found.marks:
            with_null(found.keywords)
            if found.alternatives:
                found.alternatives.append(node.of({"type": "null"}))
        return found

    def _add(self, found: Flat, node: Node, *, read: set[tuple[str, int]], nesting: int) -> None:
        """Adds what the object and those that it refers to say; what was said before counts more.

        Args:
            found: What was said before.
            node: The object.
            read: The objects that were read for this meaning: the bases and identities of their values, which the
                documents hold.
            nesting: How many branches stand around it.
        """
        on_the_way = set[tuple[str, int]]()
        while True:
            if not isinstance(node.value, dict | bool | None):
                raise UnreadableError(f"expected a schema, found {str(node.value)!r:.60}")
            place = (node.base, id(node.value))
            if place in read:
                return
            if nesting > _MAX_NESTING or not self._affords(node.object):
                self.is_cut = True
                return
            read.add(place)
            on_the_way.add(place)
            _add_own(found, node)
            for branch in _branches(found, node):
                self._add(found, branch, read=read, nesting=nesting + 1)
            reference = node.object.get("$ref")
            if not isinstance(reference, str):
                return
            node = self.documents.resolve(reference, base=node.base)
            if (node.base, id(node.value)) in on_the_way:
                raise UnreadableError(f"the reference {reference!r} leads to itself")
            found.seen.add(f"{node.base}#{reference.rpartition('#')[2]}")

    def _affords(self, schema: JsonObject) -> bool:
        self._left -= min(_extent(schema, self._left), self._left + 1)
        return self._left >= 0


def _extent(schema: JsonObject, limit: int) -> int:
    """How many parts reading the object takes; some number above the limit where they are more."""
    parts = 1
    for name in _COUNTED:
        value = schema.get(name)
        parts += len(value) if isinstance(value, dict | list) else 0
    waiting = [schema[name] for name in _LISTED if name in schema]
    while waiting and parts <= limit:
        value = waiting.pop()
        parts += 1
        if isinstance(value, str):
            parts += len(value) // _CHARACTERS_OF_A_PART
        elif isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    return parts


def _branches(found: Flat, node: Node) -> Iterator[Node]:
    """The objects that say more of the same; alternatives, if there are none yet, become those of the meaning."""
    for branch in list_of(node.object.get("allOf")):
        yield node.of(branch)
    for name in ("oneOf", "anyOf"):
        options = [node.of(option) for option in list_of(node.object.get(name))]
        if len(options) == 1:
            yield options[0]
        elif options and not found.alternatives:
            found.alternatives = options


def _add_own(found: Flat, node: Node) -> None:
    value = node.object
    for name, keyword in scalar_keywords(value).items():
        found.keywords.setdefault(name, keyword)
    for name, part in object_of(value.get("properties")).items():
        found.properties.setdefault(name, node.of(part))
    if isinstance(value.get("required"), list):
        found.required.update(dict.fromkeys(texts_of(value["required"])))
    items, additional = value.get("items"), value.get("additionalProperties")
    if found.items is None and isinstance(items, dict):
        found.items = node.of(items)
    if found.additional is None and (additional is True or isinstance(additional, dict)):
        found.additional = node.of(additional) if isinstance(additional, dict) else True
    found.marks.update(_MARKS[name] for name in _MARKS if value.get(name) is True)
