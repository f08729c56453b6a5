"""One JSON Schema lowered: what the mask enforces of it, and who enforces the rest."""

from __future__ import annotations

from dataclasses import dataclass

from wieldy.core.json import JsonObject
from wieldy.grammar.enforcement import Enforcement


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A schema that engines enforce, and what became of every keyword of its source.

    Attributes:
        schema: The lowered schema; `{}` where something is refused.
        enforcement: One entry for every keyword of every subschema but annotations.
    """

    schema: JsonObject
    enforcement: tuple[Enforcement, ...]

    @property
    def refused(self) -> tuple[Enforcement, ...]:
        """Why no constraint can be made from the schema; empty where one can."""
        return tuple(entry for entry in self.enforcement if entry.by == "refused")


def lowered(schema: JsonObject) -> Lowered:
    """The schema as engines enforce it."""
    return Lowered(schema=schema, enforcement=())
