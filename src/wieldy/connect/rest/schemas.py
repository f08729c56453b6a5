"""Schema objects of OpenAPI as JSON Schema that a model can read: small, and never stricter than they are.

`SchemaWriter` writes what schema objects mean (`meanings`), breadth first, until what it may spend is used up. What
lies deeper stays open: its type is said, and no more. Law: what the document allows, the written schema allows; the
service itself checks the rest. So `oneOf` is written as `anyOf`, and `not` and conditions not at all. Deliberately not
here: which schemas there are (`plans`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from wieldy.connect.rest.documents import Node, UnreadableError
from wieldy.connect.rest.meanings import Flat, SchemaReader
from wieldy.connect.rest.reading import list_of, object_of, one_line, texts_of
from wieldy.core.json import JsonObject, JsonValue, canonical_json

Direction: TypeAlias = Literal["request", "response"]

DEFAULT_CHARACTERS: Final = 4000
"""Of one input schema, as compact JSON; 1,000 tokens."""
_NEAR_DESCRIPTION: Final = 240
"""Of an argument, in characters."""
_FAR_DESCRIPTION: Final = 100
"""Of what lies within an argument."""
_HIDDEN: Final[Mapping[Direction, str]] = {"request": "readOnly", "response": "writeOnly"}


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
        reader: Says what they mean.
        direction: Whether they are of what is sent or of what comes back.
        characters: How much may be spent on what is not an argument's own name and type.

    Attributes:
        is_cut: Whether something was left open.
    """

    def __init__(self, reader: SchemaReader, *, direction: Direction, characters: int) -> None:
        self._reader = reader
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
        self.is_cut = self.is_cut or self._reader.is_cut
        for finish in reversed(finishing):
            finish()

    def _write(self, task: _Task, finishing: list[Callable[[], None]]) -> None:
        found = self._reader.flat(task.node)
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
                node.object.get(self._hidden) is True
                or self._reader.documents.follow(node).object.get(self._hidden) is True
            )
        except UnreadableError:
            return False

    def _write_items(self, found: Flat, slot: JsonObject, above: frozenset[str], depth: int) -> None:
        if found.items is not None:
            slot.setdefault("type", "array")
            slot["items"] = self._later(found.items, above, depth)

    def _write_alternatives(self, found: Flat, slot: JsonObject, above: frozenset[str], depth: int) -> None:
        if len(found.alternatives) > self._left:
            self.is_cut = True
        elif found.alternatives:
            self._left -= len(found.alternatives)
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
