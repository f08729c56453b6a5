"""The schemas that have names in a translation because they are referred to, and which of them contain themselves."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from itertools import count

from wieldy.connect.models.backends.dialects import SchemaDialect
from wieldy.connect.models.backends.parts import Refusal
from wieldy.core.json import JsonObject
from wieldy.schema.resolve import Location


class Definitions:
    """The names, and who uses whom. What is written outside of `within` belongs to the root."""

    def __init__(self) -> None:
        self._names: dict[Location, str] = {}
        self._uses: dict[str, set[str]] = {}
        self._unavoidable: dict[str, set[str]] = {}
        self._user = ""
        self._is_optional = False

    def reference(self, place: Location) -> JsonObject:
        """What stands for the schema at the place."""
        if place not in self._names:
            last = str(place[-1]) if place else "root"
            stem = "".join(mark if mark.isalnum() or mark in "_-." else "_" for mark in last)
            taken = set(self._names.values())
            names = (stem if not number else f"{stem}_{number}" for number in count())
            self._names[place] = next(name for name in names if name not in taken)
        name = self._names[place]
        self._uses.setdefault(self._user, set()).add(name)
        if not self._is_optional:
            self._unavoidable.setdefault(self._user, set()).add(name)
        return {"$ref": f"#/$defs/{name}"}

    def missing(self, written: JsonObject) -> tuple[Location, str] | None:
        """One that is referred to and not yet written."""
        return next(((place, name) for place, name in self._names.items() if name not in written), None)

    @contextmanager
    def within(self, name: str) -> Generator[None]:
        """What is written now is the definition of this name."""
        self._user = name
        yield
        self._user = ""

    @contextmanager
    def within_property(self, *, is_optional: bool) -> Generator[None]:
        """What is written now is a property; what is in one that may be left out need not be there."""
        before, self._is_optional = self._is_optional, self._is_optional or is_optional
        yield
        self._is_optional = before

    def is_used_by_others(self, name: str) -> bool:
        """Whether another definition than the root refers to it."""
        return any(name in used for user, used in self._uses.items() if user)

    def refuse_recursion(self, dialect: SchemaDialect) -> None:
        """Nothing, if the dialect takes the definitions as they refer to one another.

        Raises:
            Refusal: One contains itself, and must not, or not so.
        """
        uses = self._unavoidable if dialect.recursion == "where optional" else self._uses
        how = " other than through a property that may be left out" if dialect.recursion == "where optional" else ""
        for place, name in self._names.items():
            if dialect.recursion != "taken" and name in _reached(name, uses):
                raise Refusal(place, "$ref", f"it contains itself{how}, and {dialect.name} takes no such schema")


def _reached(name: str, uses: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [*uses.get(name, ())]
    while waiting:
        used = waiting.pop()
        if used not in reached:
            reached.add(used)
            waiting += uses.get(used, ())
    return reached
