"""What the subschemas of a document mean, as ways: found when asked for, and kept.

Law: the ways of a goal allow every value for which all claims of the goal hold; where they allow others, the keyword
at fault has been left (`left`). A claim that a subschema does not hold is worked out by `against`, never as the
complement of ways, which may allow too much.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.lowering.against import against
from wieldy.grammar.lowering.in_place import IN_PLACE_KEYWORDS, LATE_KEYWORDS, META_SCHEMAS
from wieldy.grammar.lowering.own import KEYWORDS, own_way
from wieldy.grammar.lowering.records import ALWAYS, ANY_WAY, NEVER, Claim, Goal, Origin, Way
from wieldy.grammar.lowering.references import References, UnresolvedError
from wieldy.grammar.lowering.values import Values, distinct
from wieldy.grammar.lowering.vocabulary import ENFORCED, mistake, parts_of, subschemas
from wieldy.schema.resolve import Location, at

MAX_WAYS = 64
_MAX_PAIRS = 1_000
"""Alternatives that are worked out for one value; beyond them, the validator chooses."""
_MAX_ALL_PAIRS = 20_000
_FEW_PAIRS = 4
"""In one document; what is met beyond that is only put together where it is nearly no choice."""
_MAX_OPPOSITES = 10_000
"""Times that what a subschema forbids is worked out, in one document."""
_MAX_REFERENCES = 50
_MAX_COUNTED = 3
"""Branches of an `anyOf` that may have looked at members together, where `unevaluated...` asks who has."""
_CIRCLE = "it leads back to itself with nothing in between"
_TOO_MANY = f"more than {MAX_WAYS} alternatives come together here"
_NOT_TOLD = "what it forbids cannot be told while the value is written"


class RefusedError(Exception):
    """No constraint can be made: a keyword is wrong, leads nowhere, or nothing fits it."""

    def __init__(self, origin: Origin, reason: str) -> None:
        super().__init__(reason)
        self.origin, self.reason = origin, reason


class _OpenError(Exception):
    """A peek came upon a claim that is being worked out."""


class Meaning:
    """The ways of one document's subschemas.

    Args:
        document: The schema.
        without: Keywords that are left to the validator from the outset.

    Attributes:
        parts: All its subschemas, with their places.
        left: What is left to the validator, and why.
        used: The places of the subschemas that were asked about.
        counts_seen: Whether anything in the document asks which members and items have been looked at.
    """

    def __init__(self, document: JsonObject, without: Iterable[Origin] = ()) -> None:
        self.document = document
        self.parts = tuple(subschemas(document))
        self.references = References(document, self.parts)
        self.left: dict[Origin, str] = {}
        self._left_whole: set[Origin] = set()
        self.used: set[Location] = set()
        self.values = Values(self)
        self.counts_seen = False
        self._peeks = 0
        self._pairs = 0
        self._opposites = 0
        self._without = dict.fromkeys(without, "the engine does not take it")
        for place, keyword in tuple(self._without):
            if keyword == "patternProperties":
                self._without[place, "additionalProperties"] = f"which members are additional, `{keyword}` says"
        self._known: dict[Claim, tuple[Way, ...]] = {}
        self._together: dict[Goal, tuple[Way, ...]] = {}
        self._open: set[Claim] = set()
        self._because: dict[Claim, list[Origin]] = {}
        self._look_for_unevaluated()

    def _look_for_unevaluated(self) -> None:
        keywords = {"unevaluatedProperties", "unevaluatedItems"}
        found = [(place, keyword) for place, one in self.parts for keyword in keywords & one.keys()]
        if not found:
            return
        lists = [one.get("anyOf") for _, one in self.parts]
        branches = [len(parts) for parts in lists if isinstance(parts, list)]
        has_contains = any("contains" in one for _, one in self.parts)
        dynamic = [one["$dynamicRef"] for _, one in self.parts if "$dynamicRef" in one]
        is_followed = all(self.references.is_only_anchor(str(reference)) for reference in dynamic)
        self.counts_seen = is_followed and not self._without and max(branches, default=0) <= _MAX_COUNTED
        for place, keyword in found:
            if not self.counts_seen or (keyword == "unevaluatedItems" and has_contains):
                self._without[place, keyword] = "which of many alternatives have looked at a value is not followed"

    # Goals

    def goal(self, place: Location, schema: JsonValue) -> Goal:
        """That the subschema holds: nothing is asked where it says nothing; a reference is what it leads to."""
        for _ in range(_MAX_REFERENCES):
            if not isinstance(schema, dict):
                return NEVER if schema is False else ALWAYS
            asked = ENFORCED & schema.keys()
            if not asked:
                return ALWAYS
            if len(asked) > 1 or "$ref" not in asked or str(schema["$ref"]).startswith(META_SCHEMAS):
                return ((place, True),)
            self.used.add(place)
            place = self.target(place, "$ref", schema["$ref"])
            schema = at(self.document, place)
        raise RefusedError((place, "$ref"), _CIRCLE)

    def target_goal(self, place: Location, keyword: str, reference: JsonValue) -> Goal:
        """That the subschema holds to which a reference leads."""
        target = self.target(place, keyword, reference)
        return self.goal(target, at(self.document, target))

    def target(self, place: Location, keyword: str, reference: JsonValue) -> Location:
        """The place to which a reference leads.

        Raises:
            RefusedError: It leads out of the document, or nowhere.
        """
        self._check(place, keyword, reference)
        try:
            return self.references.target(str(reference), place)
        except UnresolvedError as error:
            raise RefusedError((place, keyword), str(error)) from None

    def opposite(self, goal: Goal, because: Origin) -> Goal:
        """That the goal, which is of one claim, does not hold; `because` is left if that cannot be told."""
        if not goal:
            return ALWAYS if goal is NEVER else NEVER
        place, holds = goal[0]
        claim = (place, not holds)
        if holds:
            self._because.setdefault(claim, []).append(because)
        return (claim,)

    # Ways

    def ways(self, goal: Goal) -> tuple[Way, ...]:
        """The alternatives of a goal."""
        if goal is None:
            return ()
        if goal not in self._together:
            found: tuple[Way, ...] = (ANY_WAY,)
            for claim in goal:
                combined = self.combined(found, self._claim_ways(claim))
                if combined is None:
                    self.leave_all(claim[0], _TOO_MANY)
                else:
                    found = combined
            self._together[goal] = found
        return self._together[goal]

    def ways_against(self, goal: Goal, because: Origin) -> Sequence[Way] | None:
        """The alternatives where the goal, which is of one claim, does not hold; None where they cannot be told."""
        if not goal:
            return (ANY_WAY,) if goal is NEVER else ()
        place, holds = goal[0]
        return self._against(place, because) if holds else self.ways(((place, True),))

    def _claim_ways(self, claim: Claim) -> tuple[Way, ...]:
        if claim not in self._known:
            place, holds = claim
            if holds:
                with self._opened(claim):
                    self._known[claim] = tuple(self._read(place))
            else:
                self._known[claim] = tuple(self._read_against(claim))
        return self._known[claim]

    @contextmanager
    def _opened(self, claim: Claim) -> Generator[None]:
        """While a claim is worked out, nothing may ask for it: a peek then finds nothing, anything else is an error."""
        place, _ = claim
        if claim in self._open:
            if self._peeks:
                raise _OpenError
            raise RefusedError(
                (place, next(name for name in self._schema(place) if name in IN_PLACE_KEYWORDS)), _CIRCLE
            )
        self._open.add(claim)
        self.used.add(place)
        try:
            yield
        finally:
            self._open.discard(claim)

    def peeked(self, goal: Goal) -> tuple[Way, ...] | None:
        """The alternatives of a goal; None where one of its claims is being worked out just now."""
        self._peeks += 1
        try:
            return self.ways(goal)
        except _OpenError:
            return None
        finally:
            self._peeks -= 1

    def _schema(self, place: Location) -> JsonObject:
        """The subschema at the place, without what is left from the outset; a boolean one as an object."""
        schema = at(self.document, place)
        if not isinstance(schema, dict):
            return {"enum": []} if schema is False else {}
        for keyword in schema.keys() & ENFORCED:
            self._check(place, keyword, schema[keyword])
        without = {keyword for keyword in schema if (place, keyword) in self._without} if self._without else ()
        for keyword in without:
            self.leave((place, keyword), self._without[place, keyword])
        return {keyword: value for keyword, value in schema.items() if keyword not in without} if without else schema

    def _check(self, place: Location, keyword: str, value: JsonValue) -> None:
        if wrong := mistake(keyword, value):
            raise RefusedError((place, keyword), wrong)

    def _read(self, place: Location) -> Sequence[Way]:
        schema = self._schema(place)
        found: Sequence[Way] = (ANY_WAY,)
        if not KEYWORDS.isdisjoint(schema):
            # First, so that a schema's own members come before those that others add.
            found = self.combined(found, (own_way(self, place, schema),)) or ()
        for keyword in schema:
            if keyword not in IN_PLACE_KEYWORDS:
                continue
            following = IN_PLACE_KEYWORDS[keyword](self, place, schema, keyword)
            combined = found if following is None else self.combined(found, following)
            if combined is None:
                self.leave((place, keyword), _TOO_MANY)
            else:
                found = combined
        for keyword, late in LATE_KEYWORDS.items():
            if keyword in schema:
                ways = [late(self, place, schema, way) for way in found]
                found = [way for following in ways for way in following if not self.values.is_never(way)]
        return found

    def _read_against(self, claim: Claim) -> Sequence[Way]:
        origins = self._because.get(claim, [])
        found = self._against(claim[0], origins[0]) if origins else None
        if found is not None:
            return found
        for origin in origins:
            self.leave(origin, _NOT_TOLD)
        return (ANY_WAY,)

    def _against(self, place: Location, because: Origin) -> Sequence[Way] | None:
        self._opposites += 1
        if self._opposites > _MAX_OPPOSITES:
            return None
        with self._opened((place, False)):
            found = against(self, place, self._schema(place), because)
        return found if found is None or len(found) <= MAX_WAYS else None

    def combined(self, ways: Sequence[Way], more: Sequence[Way]) -> tuple[Way, ...] | None:
        """Every way of both that can be gone; None where they are too many."""
        if len(ways) == 1 and ways[0] is ANY_WAY:
            return tuple(way for way in more if not way.is_empty)
        pairs = len(ways) * len(more)
        self._pairs += pairs
        if pairs > (_MAX_PAIRS if self._pairs <= _MAX_ALL_PAIRS else _FEW_PAIRS):
            return None
        found = [way for one in ways for two in more if not self.values.is_never(way := self.values.met(one, two))]
        return tuple(found) if len(found) <= max(MAX_WAYS, len(ways), len(more)) else None

    def are_apart(self, one: Goal, two: Goal) -> bool:
        """Whether it is certain that no value fits both."""
        return self.combined(self.ways(one), self.ways(two)) == ()

    def finite(self, goals: Iterable[Goal]) -> list[JsonValue] | None:
        """All values that fit one of the goals, if they are certain ones."""
        found: list[JsonValue] = []
        for goal in goals:
            for way in self.peeked(goal) or (ANY_WAY,):
                values = self.values.listed(way)
                if values is None:
                    return None
                found += values
        return distinct(found)

    # What is left

    def leave(self, origin: Origin, reason: str) -> None:
        """Leaves a keyword to the validator, with all that it holds about the same value."""
        place, keyword = origin
        schema = at(self.document, place)
        if isinstance(schema, dict) and keyword in schema and origin not in self._left_whole:
            self._left_whole.add(origin)
            self.leave_only(origin, reason)
            for inner, part in parts_of(keyword, schema[keyword], place):
                self._leave_below(inner, part, f"`{keyword}` above it is left to the validator")

    def leave_only(self, origin: Origin, reason: str) -> None:
        """Leaves a keyword to the validator, and nothing that it holds."""
        place, keyword = origin
        schema = at(self.document, place)
        if isinstance(schema, dict) and keyword in schema:
            self.left.setdefault(origin, reason)

    def leave_all(self, place: Location, reason: str) -> None:
        """Leaves a whole subschema to the validator."""
        self._leave_below(place, at(self.document, place), reason)

    def _leave_below(self, place: Location, schema: JsonValue, reason: str) -> None:
        for deeper, subschema in subschemas(schema, place):
            for keyword in subschema.keys() & ENFORCED:
                self.left.setdefault((deeper, keyword), reason)
