"""Schema objects of OpenAPI as JSON Schema that a model can read: small, and never stricter than they are.

`flat` says what a schema object means once its references are followed and its `allOf` is put together; `SchemaWriter`
writes such meanings, breadth first, until what it may spend is used up. What lies deeper stays open: its type is said,
and no more. Law: what the document allows, the written schema allows; the service itself checks the rest. So `oneOf` is
written as `anyOf`, and `not` and conditions not at all. Deliberately not here: which schemas there are (`plans`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from wieldy.connect.rest.documents import Documents, Node, UnreadableError
from wieldy.connect.rest.keywords import scalar_keywords, with_null
from wieldy.connect.rest.reading import list_of, object_of, one_line, texts_of
from wieldy.core.json import JsonObject, JsonValue, canonical_json

Direction: TypeAlias = Literal["request", "response"]

DEFAULT_CHARACTERS: Final = 4000
"""Of one input schema, as compact JSON; 1,000 tokens."""
_NEAR_DESCRIPTION: Final = 240
"""Of an argument, in characters."""
_FAR_DESCRIPTION: Final = 100
"""Of what lies within an argument."""
_MAX_NESTING: Final = 40
_MARKS: Final = {"readOnly": "readOnly", "writeOnly": "writeOnly", "nullable": "nullable", "x-nullable": "nullable"}
_HIDDEN: Final[Mapping[Direction, str]] = {"request": "readOnly", "response": "writeOnly"}


@dataclass(slots=True, kw_only=True)
class Flat:
    """What a schema object means.

    Attributes:
        keywords: Those without subschemas, in JSON Schema 2020-12.
        properties: By name.
        required: Names of properties.
        items: Of an array.
        additional: Other properties of an object; None where nothing is said.
        alternatives: Of which one must fit.
        seen: The places that references led through.
        marks: Of `readOnly`, `writeOnly` and `nullable` those that are said of it.
    """

    keywords: JsonObject = field(default_factory=dict[str, JsonValue])
    properties: dict[str, Node] = field(default_factory=dict[str, Node])
    required: list[str] = field(default_factory=list[str])
    items: Node | None = None
    additional: Node | bool | None = None
    alternatives: list[Node] = field(default_factory=list[Node])
    seen: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()

    @property
    def is_object(self) -> bool:
        """Whether objects fit it, and it says something about them."""
        kind = self.keywords.get("type")
        return "object" in texts_of(kind) or (kind is None and bool(self.properties))


def flat(node: Node, documents: Documents, *, nesting: int = 0) -> Flat:
    """What the schema object means.

    Raises:
        UnreadableError: A reference in it leads nowhere.
    """
    if nesting > _MAX_NESTING:
        return Flat()
    found = Flat()
    seen = set[str]()
    while True:
        value = node.object
        if not isinstance(node.value, dict | bool | None):
            raise UnreadableError(f"expected a schema, found {str(node.value)!r:.60}")
        _add(found, node, documents, nesting)
        reference = value.get("$ref")
        if not isinstance(reference, str):
            break
        target = documents.resolve(reference, base=node.base)
        place = f"{target.base}#{reference.rpartition('#')[2]}"
        if place in seen:
            raise UnreadableError(f"the reference {reference!r} leads to itself")
        seen.add(place)
        node = target
    found.seen |= seen
    if "nullable" in found.marks:
        with_null(found.keywords)
        if found.alternatives:
            found.alternatives = [*found.alternatives, node.of({"type": "null"})]
    return found


def _add(found: Flat, node: Node, documents: Documents, nesting: int) -> None:
    """Adds what one object says, without what it refers to; what was said before counts more."""
    value = node.object
    _merge(found, _own(node))
    for branch in list_of(value.get("allOf")):
        _merge(found, flat(node.of(branch), documents, nesting=nesting + 1))
    for name in ("oneOf", "anyOf"):
        branches = [node.of(branch) for branch in list_of(value.get(name))]
        if len(branches) == 1:
            _merge(found, flat(branches[0], documents, nesting=nesting + 1))
        elif branches and not found.alternatives:
            found.alternatives = branches


def _own(node: Node) -> Flat:
    value = node.object
    items = value.get("items")
    additional = value.get("additionalProperties")
    return Flat(
        keywords=scalar_keywords(value),
        properties={name: node.of(part) for name, part in object_of(value.get("properties")).items()},
        required=texts_of(value.get("required")) if isinstance(value.get("required"), list) else [],
        items=node.of(items) if isinstance(items, dict) else None,
        additional=node.of(additional) if isinstance(additional, dict) else additional is True or None,
        marks=frozenset(_MARKS[name] for name in _MARKS if value.get(name) is True),
    )


def _merge(found: Flat, other: Flat) -> None:
    for name, value in other.keywords.items():
        found.keywords.setdefault(name, value)
    for name, node in other.properties.items():
        found.properties.setdefault(name, node)
    found.required += [name for name in other.required if name not in found.required]
    found.items = found.items or other.items
    found.additional = other.additional if found.additional is None else found.additional
    found.alternatives = found.alternatives or other.alternatives
    found.seen |= other.seen
    found.marks |= other.marks


@dataclass(frozen=True, slots=True)
class _Task:
    """A schema to be written.

    Attributes:
        slot: Where it goes.
        above: The places that lead to it, by which a schema within itself is found.
        depth: 0 for an argument.
    """

    node: Node
    slot: JsonObject
    above: frozenset[str]
    depth: int


class SchemaWriter:
    """Writes the schemas of one tool.

    Args:
        documents: Where references lead.
        direction: Whether they are of what is sent or of what comes back.
        characters: How much may be spent on what is not an argument's own name and type.

    Attributes:
        is_cut: Whether something was left open.
    """

    def __init__(self, documents: Documents, *, direction: Direction, characters: int) -> None:
        self._documents = documents
        self._hidden = _HIDDEN[direction]
        self._left = characters
        self._waiting: deque[_Task] = deque()
        self.is_cut = False

    def add(self, node: Node, slot: JsonObject) -> None:
        """The schema is to be written into the slot."""
        self._waiting.append(_Task(node, slot, frozenset(), 0))

    def write(self) -> None:
        """All schemas that were added are written.

        Raises:
            UnreadableError: One of the arguments cannot be read.
        """
        finishing: list[Callable[[], None]] = []
        while self._waiting:
            task = self._waiting.popleft()
            try:
                self._write(task, finishing)
            except UnreadableError:
                if task.depth == 0:
                    raise
                self.is_cut = True  # it stays open
        for finish in reversed(finishing):
            finish()

    def _write(self, task: _Task, finishing: list[Callable[[], None]]) -> None:
        found = flat(task.node, self._documents)
        slot, above = task.slot, task.above | found.seen
        is_within_itself = bool(task.above & found.seen)
        kept = self._affordable(found.keywords, depth=task.depth)
        slot.update(kept)
        if is_within_itself or self._left <= 0:
            self.is_cut = self.is_cut or bool(found.properties or found.items or found.alternatives)
            if found.is_object:
                slot.setdefault("type", "object")
            return
        for write in (self._write_object, self._write_items, self._write_alternatives):
            write(found, slot, above, task.depth + 1)
        if "anyOf" in slot:
            finishing.append(lambda: _tidy(slot))

    def _affordable(self, keywords: JsonObject, *, depth: int) -> JsonObject:
        """The keywords, cut where they are long; the type alone where nothing is left."""
        limit = _FAR_DESCRIPTION if depth else _NEAR_DESCRIPTION
        if self._left <= 0:
            limit = 0
            keywords = {name: keywords[name] for name in ("type", "enum", "const", "description") if name in keywords}
        kept: JsonObject = dict(keywords)
        description = one_line(keywords.get("description"), limit=limit) if limit else ""
        kept.pop("description", None)
        if description:
            kept["description"] = description
        if "enum" in kept and len(canonical_json(kept["enum"])) > max(self._left // 4, 200):
            choices = list_of(kept.pop("enum"))
            shown = ", ".join(str(choice) for choice in choices[:3])
            kept["description"] = f"{description} One of {len(choices)} values such as {shown}".strip()
            self.is_cut = True
        self._left -= len(canonical_json(kept))
        return kept

    def _write_object(self, found: Flat, slot: JsonObject, above: frozenset[str], depth: int) -> None:
        shown = dict(self._shown(found))
        if shown:
            names_cost = sum(len(name) + 20 for name in shown)
            if names_cost > self._left:
                slot.setdefault("type", "object")
                self.is_cut = True
                return
            self._left -= names_cost
            slot.setdefault("type", "object")
            properties: JsonObject = {}
            slot["properties"] = properties
            for name, node in shown.items():
                properties[name] = self._later(node, above, depth)
            required: list[JsonValue] = [name for name in found.required if name in shown]
            if required:
                slot["required"] = required
        if isinstance(found.additional, Node) and found.additional.object:
            slot.setdefault("type", "object")
            slot["additionalProperties"] = self._later(found.additional, above, depth)

    def _shown(self, found: Flat) -> Iterator[tuple[str, Node]]:
        for name, node in found.properties.items():
            if not self.hides(node):
                yield name, node

    def hides(self, node: Node) -> bool:
        """Whether the property is no part of this direction."""
        try:
            return (
                node.object.get(self._hidden) is True or self._documents.follow(node).object.get(self._hidden) is True
            )
        except UnreadableError:
            return False

    def _write_items(self, found: Flat, slot: JsonObject, above: frozenset[str], depth: int) -> None:
        if found.items is not None:
            slot.setdefault("type", "array")
            slot["items"] = self._later(found.items, above, depth)

    def _write_alternatives(self, found: Flat, slot: JsonObject, above: frozenset[str], depth: int) -> None:
        if found.alternatives:
            slot["anyOf"] = [self._later(node, above, depth) for node in found.alternatives]

    def _later(self, node: Node, above: frozenset[str], depth: int) -> JsonObject:
        slot: JsonObject = {}
        self._waiting.append(_Task(node, slot, above, depth))
        return slot


def _tidy(slot: JsonObject) -> None:
    """Alternatives that are equal stand once; where one of them is anything, none is left."""
    branches = list({canonical_json(branch): branch for branch in list_of(slot["anyOf"])}.values())
    if "null" in texts_of(slot.get("type")) and {"type": "null"} not in branches and "type" in slot:
        branches.append({"type": "null"})
    if any(not branch for branch in branches):
        del slot["anyOf"]
    elif len(branches) == 1 and not (object_of(branches[0]).keys() & slot.keys()):
        del slot["anyOf"]
        slot.update(object_of(branches[0]))
    else:
        slot["anyOf"] = branches
