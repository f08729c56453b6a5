"""What is doubtful about rules, in sentences for whoever wrote them: mistakes that no rule by itself shows.

A rule that denies protects nobody if it never matches: a tool's name is misspelled, an argument has another name or
another type, an earlier rule takes all its calls. Pure. Deliberately not here: what is wrong whatever the tools are,
which is an error when a rule is made (`rule`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, cast

from wieldy.run.policy.conditions import Condition, Where
from wieldy.run.policy.paths import Path, render_path
from wieldy.schema import nearest
from wieldy.schema.resolve import (
    ALL_TYPES,
    Location,
    accepted_types,
    alternatives,
    conjunction,
    item_locations,
    member_locations,
    type_of,
)

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.run.policy.rule import Rule
    from wieldy.run.policy.rules import Rules
    from wieldy.tools import Tool

_PATTERNS: Final = ("tools", "principals")
_CHOICES: Final = ("effects", "risks")
_SINGLES: Final = ("destructive", "open_world", "holds", "lacks", "quoted")
_ABOUT_SOURCES: Final = ("tainted", "influenced", "decided", "sources")

_NUMBERS: Final = frozenset({"integer", "number", "string"})
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "matches": frozenset({"string"}),
    "contains": frozenset({"string"}),
    "above": _NUMBERS,
    "below": _NUMBERS,
    "at_least": _NUMBERS,
    "at_most": _NUMBERS,
    "some": frozenset({"array"}),
    "every": frozenset({"array"}),
    "fields": frozenset({"object"}),
}
"""The JSON types of which a condition of each kind may hold."""


def unreachable(rules: Rules) -> tuple[int, ...]:
    """The indexes of rules that never decide, because an earlier rule plainly matches all that they match."""
    return tuple(
        index
        for index, rule in enumerate(rules.rules)
        if any(_covers(earlier, rule) for earlier in rules.rules[:index])
    )


def doubts(rules: Rules, tools: Iterable[Tool]) -> tuple[str, ...]:
    """A sentence for each rule, each name of a tool and each condition that has no effect with these tools."""
    offered = tuple(tools)
    found = [f"rules[{index}] never decides: an earlier rule matches all its calls." for index in unreachable(rules)]
    for index, rule in enumerate(rules.rules):
        found += (f"rules[{index}]: {sentence}" for sentence in _doubts(rule, offered))
    return tuple(found)


def _covers(earlier: Rule, later: Rule) -> bool:
    return (
        all(_covers_patterns(getattr(earlier, name), getattr(later, name)) for name in _PATTERNS)
        and all(_covers_choice(getattr(earlier, name), getattr(later, name)) for name in _CHOICES)
        and all(getattr(earlier, name) in (None, getattr(later, name)) for name in _SINGLES)
        and _covers_sources(earlier, later)
        and set(map(repr, _conditions(earlier))) <= set(map(repr, _conditions(later)))
    )


def _covers_sources(earlier: Rule, later: Rule) -> bool:
    # `sources` narrows what the others say, and widens it where they say "not".
    if earlier.sources != later.sources:
        return all(getattr(earlier, name) is None for name in _ABOUT_SOURCES)
    return all(getattr(earlier, name) in (None, getattr(later, name)) for name in _ABOUT_SOURCES)


def _covers_patterns(earlier: tuple[str, ...] | None, later: tuple[str, ...] | None) -> bool:
    if earlier is None or later is None:
        return earlier is None
    return all(any(_covers_pattern(wide, narrow) for wide in earlier) for narrow in later)


def _covers_pattern(wide: str, narrow: str) -> bool:
    # A `*` takes whatever a narrower pattern stands for; of `?` and `[...]` that is not so plain.
    is_plain = not any(character in wide for character in "?[") or not any(character in narrow for character in "*?[")
    return wide == narrow or (is_plain and fnmatchcase(narrow, wide))


def _covers_choice(earlier: tuple[str, ...] | None, later: tuple[str, ...] | None) -> bool:
    return earlier is None or (later is not None and set(later) <= set(earlier))


def _conditions(rule: Rule) -> Sequence[tuple[Path, Condition]]:
    return () if rule.where is None else cast("Where", rule.where).conditions


def _doubts(rule: Rule, tools: Sequence[Tool]) -> Iterator[str]:
    names = [tool.name for tool in tools]
    unknown = [name for name in rule.tools or () if not any(fnmatchcase(each, name) for each in names)]
    for name in unknown:
        yield f"no tool is called {name!r}{_hint(name, names)}"
    suited = [tool for tool in tools if rule.suits(tool)]
    if not suited and not unknown:
        yield "it suits none of the tools."
    for path, condition in _conditions(rule) if suited else ():
        sentences = [_doubt(tool.definition.input_schema, path, condition) for tool in suited]
        if all(sentences):
            yield f"{', '.join(f'`{tool.name}`' for tool in suited)}: {sentences[0]}"


def _doubt(document: JsonObject, path: Path, condition: Condition) -> str | None:
    """Why the condition says nothing about arguments of this schema; None if it does, or if nobody knows."""
    locations: list[Location] = [()]
    for depth, part in enumerate(path):
        schemas = _schemas(document, locations)
        locations = [found for place in schemas for found in member_locations(*place, part)]
        if part.isdecimal():
            locations += [found for place in schemas for found in item_locations(*place, int(part))]
        if not locations:
            known = _properties(schemas)
            return f"no argument is called {render_path(path[: depth + 1])!r}{_hint(part, known)}" if known else None
    types = frozenset[str]().union(*(accepted_types(document, location) for location in locations))
    wanted = _wanted_types(condition)
    if types & wanted:
        return None
    found = " or ".join(sorted(types))
    return f"{render_path(path)!r} is never as {condition.to_dict()} says, because its type is {found}."


def _schemas(document: JsonObject, locations: Iterable[Location]) -> list[tuple[Location, JsonObject]]:
    """All schemas of which one may hold at the locations, through references and every branch of unions."""
    found: dict[Location, JsonObject] = {}
    waiting = list(locations)
    while waiting:
        location = waiting.pop()
        new = {place: schema for place, schema in conjunction(document, location) if place not in found}
        found |= new
        waiting += [branch for place in new for branch in alternatives(document, place)]
    return list(found.items())


def _properties(schemas: Iterable[tuple[Location, JsonObject]]) -> list[str]:
    """The names that objects may have here; none if they may have any."""
    known: list[str] = []
    for _, schema in schemas:
        properties = schema.get("properties")
        if schema.get("additionalProperties") is True:
            return []
        known += properties if isinstance(properties, dict) else ()
    return known


def _wanted_types(condition: Condition) -> frozenset[str]:
    if condition.kind == "equals":
        return _type(condition.operand)
    if condition.kind == "one_of":
        return frozenset[str]().union(*map(_type, cast("tuple[object, ...]", condition.operand)))
    return _TYPES.get(condition.kind, ALL_TYPES)


def _type(value: object) -> frozenset[str]:
    # Null is what every argument is that was left out; the number 3 may be written 3.0.
    return ALL_TYPES if value is None else frozenset({type_of(value)})


def _hint(name: str, names: Iterable[str]) -> str:
    meant = nearest(name, names)
    return f"; did you mean {meant!r}?" if meant else "."
