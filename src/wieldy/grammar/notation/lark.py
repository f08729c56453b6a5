r"""Shapes in llguidance's dialect of Lark.

Everything between two stops (`pieces`) is one terminal, because the engine's lexer is greedy and gives nothing back.
Rules are left-recursive: `until3` is all that can have been written up to and with the third stop, so that a reply of
a thousand calls costs the engine as much a call as one of two.

Calls of several tools would be too many such patterns, and all of them what may come first; where it can be told where
a call begins and ends, they are rules of their own, from state to state (`steps`, `places`).

Not exact in one place: where a pattern may go on with the first character of a JSON value or of a shape that contains
itself (`[0-9]+` before a number), the pattern takes it; no wire does that.
JSON is lowered first (`lowering`) and read as the engine reads it: properties in the schema's order, and no escapes
where none are needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject
from wieldy.grammar.lowering import Lowered, lowered
from wieldy.grammar.naming import recursive_names
from wieldy.grammar.notation.endings import Endings
from wieldy.grammar.notation.lark_text import characters, literal, text_without
from wieldy.grammar.notation.neighbours import with_single_texts
from wieldy.grammar.notation.pieces import (
    EMPTY,
    NotTheSameError,
    Pieces,
    Stop,
    at,
    either,
    in_order,
    joined,
    looped,
    one_of,
    repeated,
)
from wieldy.grammar.notation.places import calls_in, ends_before
from wieldy.grammar.notation.steps import NoStepsError, Step, Steps
from wieldy.grammar.shape import (
    Characters,
    Exact,
    InOrder,
    Json,
    Named,
    OneOf,
    Repeated,
    Rules,
    Shape,
    TextWithout,
)

_MAX_COPIES = 32
"""Up to so many stops are written out where a part is repeated a limited number of times; above, the engine counts."""
_MAX_PAIRS = 64
"""Up to so many patterns may lead from one repetition of a part into the next."""

_MAX_LINES = 400
"""Up to so many ways may lead from one repetition of a part into the next, by whatever patterns."""
_MAX_PATTERN = 2000
"""A pattern up to this length is repeated within one terminal."""
_LONG = 120
"""A longer pattern is written once and named: shapes share their parts, and written out they could be endless."""
_ONE_LINE: JsonObject = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_ON_LINES: JsonObject = {"whitespace_pattern": r" |\n[ \t]{0,20}"}
"""White space as programs and models lay JSON out, in runs that end: some write spaces until their budget is gone."""
_TERMINAL = re.compile(r"\bT[0-9]+\b")


def strictly_lowered(schema: JsonObject) -> JsonObject:
    """The schema lowered.

    Raises:
        GrammarError: Something in it is refused.
    """
    return unrefused(lowered(schema))


def unrefused(found: Lowered) -> JsonObject:
    """What a schema was lowered to.

    Raises:
        GrammarError: Something in it is refused.
    """
    for refused in found.refused:
        raise GrammarError(f"The constraint cannot be compiled: in its schema, {refused}.")
    return found.schema


def to_lark(
    rules: Rules,
    *,
    special_tokens: Mapping[str, int] | None = None,
    lower: Callable[[JsonObject], JsonObject] = strictly_lowered,
) -> str:
    """The text of a grammar that accepts every text of the rules; its first rule is `start`.

    Args:
        rules: What may be written.
        special_tokens: The vocabulary's special tokens by their text: where a shape has one of them and says that it
            may be a token, only the token is accepted.
        lower: Brings a JSON Schema into what the engine takes.

    Raises:
        GrammarError: A name has no shape, shapes are nested too deeply, or a JSON Schema is refused.
    """
    try:
        return _Writer(with_single_texts(rules), dict(special_tokens or {}), lower).text()
    except RecursionError:
        raise GrammarError("The shape cannot be written as a grammar: it is nested too deeply.") from None


class _Writer:
    """The grammar of one set of rules, as it grows."""

    def __init__(
        self, rules: Rules, special_tokens: Mapping[str, int], lower: Callable[[JsonObject], JsonObject]
    ) -> None:
        self._lower = lower
        recursive = recursive_names(rules)
        self._rules = rules
        self._open_names = {name: shape for name, shape in rules.named.items() if name not in recursive}
        self._tokens = special_tokens
        spellings = sorted(filter(None, special_tokens), key=len, reverse=True)
        self._token = re.compile("|".join(map(re.escape, spellings))) if spellings else None
        self._lines: list[str] = []
        self._terminals: dict[str, str] = {}
        self._endings = Endings(self._open_names)
        self._sizes: dict[str, int] = {}
        self._known: dict[int, tuple[Shape, Pieces]] = {}
        self._named_patterns: dict[str, Pieces] = {}
        self._followed: dict[tuple[str, tuple[Shape, ...]], str] = {}
        self._values: dict[str, str] = {}
        self._count = 0
        self._steps = Steps(self._open_names, self._split)
        self._calls: dict[int, tuple[OneOf, Shape, str]] = {}
        self._ways_on: dict[tuple[str, ...], str] = {}

    def text(self) -> str:
        for calls, choice, places in calls_in(self._rules.start, self._open_names):
            self._write_calls(calls, choice, places)
        self._write_steps()
        self._write_rule("start", self._pieces(self._rules.start))
        return "\n".join(self._lines) + "\n"

    # Shapes as pieces

    def _pieces(self, shape: Shape) -> Pieces:
        """The shape's pieces; a part that shapes share is taken once, and its long patterns have names."""
        if not isinstance(shape, OneOf | Repeated | InOrder | Json):
            return self._new_pieces(shape)
        if id(shape) in self._known:
            return self._known[id(shape)][1]
        pieces = self._new_pieces(shape).with_patterns(self._short)
        self._known[id(shape)] = (shape, pieces)  # the first keeps the identity taken
        return pieces

    def _fresh_pieces(self, shape: Shape) -> Pieces:
        """The shape's pieces with stops that no other shape has."""
        known, self._known = self._known, {}
        try:
            return self._pieces(shape)
        finally:
            self._known = known

    def _new_pieces(self, shape: Shape) -> Pieces:
        match shape:
            case Exact():
                return self._literal(shape)
            case Characters():
                return Pieces(through=characters(shape))
            case TextWithout(markers=markers):
                return Pieces(through=self._terminal(text_without(markers)))
            case Json():
                return at(Stop(self._value(shape)))
            case InOrder(parts=inner):
                return self._in_order(inner)
            case OneOf() if id(shape) in self._calls:
                lead, rule = self._calls[id(shape)][1:]
                return in_order(self._pieces(lead), at(Stop(rule)))
            case OneOf(options=options):
                return self._one_of(options)
            case Repeated():
                return self._repeated(shape)
            case Named(name=name):
                return self._named(name)

    def _one_of(self, options: Sequence[Shape]) -> Pieces:
        found: list[Pieces] = []
        shared = set[Stop]()
        for option in options:
            pieces = self._pieces(option)
            if not shared.isdisjoint(pieces.stops):
                try:
                    one_of([*found, pieces])
                except NotTheSameError:
                    pieces = self._fresh_pieces(option)
            found.append(pieces)
            shared |= pieces.stops
        return one_of(found)

    def _literal(self, shape: Exact) -> Pieces:
        if shape.token and self._token is not None:
            return self._with_tokens(shape.text, self._token)
        return Pieces(through=literal(shape.text) if shape.text else "")

    def _with_tokens(self, text: str, token: re.Pattern[str]) -> Pieces:
        pieces, position = EMPTY, 0
        for found in token.finditer(text):
            before = Exact(text[position : found.start()])
            stop = at(Stop(f"<[{self._tokens[found[0]]}]>"))
            pieces = in_order(in_order(pieces, self._pieces(before)), stop)
            position = found.end()
        return in_order(pieces, self._pieces(Exact(text[position:])))

    def _in_order(self, inner: Sequence[Shape]) -> Pieces:
        """A shape that contains itself takes in the patterns that follow it, so that its last one need not guess."""
        pieces, position = EMPTY, 0
        while position < len(inner):
            part = inner[position]
            position += 1
            if isinstance(part, Named) and part.name not in self._open_names:
                end = position
                while end < len(inner) and self._is_pattern(inner[end]):
                    end += 1
                found = at(Stop(self._rule_of(part.name, tuple(inner[position:end]))))
                position = end
            else:
                found = self._pieces(part)
                if not found.stops.isdisjoint(pieces.stops):
                    found = self._fresh_pieces(part)
            pieces = in_order(pieces, found)
        return pieces

    def _is_pattern(self, shape: Shape) -> bool:
        match shape:
            case Exact(text=text, token=token):
                return not (token and self._token is not None and self._token.search(text))
            case Characters() | TextWithout():
                return True
            case _:
                return False

    # Calls as steps

    def _write_calls(self, calls: Repeated, choice: OneOf, places: Sequence[Sequence[Shape]]) -> None:
        """Writes a rule for a choice between calls, if it can be told where each begins and ends."""
        lead = self._steps.lead(choice)
        joint = (calls.between,) if calls.between else ()
        if not lead or not all(ends_before(before, lead, self._open_names) for before in (*places, joint)):
            return
        try:
            first = self._steps.state(choice)
        except NoStepsError:
            return
        if first is None:
            return
        self._calls[id(choice)] = (choice, InOrder(lead), f"step_{first}")

    def _write_steps(self) -> None:
        for number, steps in self._steps.states.items():
            ways = [self._way(step) for step in steps]
            self._lines.append(f"step_{number}: {self._shared(ways)}")

    def _way(self, step: Step) -> str:
        following = "" if step.following is None else f"step_{step.following}"
        patterns = [self._pieces(part).through or "" for part in step.terminal]
        return joined(self._lexeme(joined(*patterns)), self._stop_symbol(step.stop), following) or EMPTY_LEXEME

    def _stop_symbol(self, stop: Json | Exact | None) -> str:
        match stop:
            case Json():
                return self._value(stop)
            case Exact(text=text):
                return f"<[{self._tokens[text]}]>"
            case None:
                return ""

    def _shared(self, ways: Sequence[str]) -> str:
        """Any of the ways; the last of them in a rule that others share."""
        rest = ways[-1]
        for index in range(len(ways) - 2, -1, -1):
            key = tuple(ways[index + 1 :])
            if len(key) > 1 and key not in self._ways_on:
                self._ways_on[key] = self._fresh("ways")
                self._lines.append(f"{self._ways_on[key]}: {rest}")
            rest = f"{ways[index]} | {self._ways_on.get(key, rest)}"
        return rest

    def _split(self, literal: Exact) -> list[Exact]:
        """The literal with every special token in it as one of its own."""
        if not literal.token or self._token is None:
            return [Exact(literal.text)] if literal.text else []
        pieces, position = list[Exact](), 0
        for found in self._token.finditer(literal.text):
            pieces += [Exact(literal.text[position : found.start()]), Exact(found[0], token=True)]
            position = found.end()
        return [piece for piece in (*pieces, Exact(literal.text[position:])) if piece.text]

    def _repeated(self, shape: Repeated) -> Pieces:
        least, most = shape.at_least, shape.at_most
        part = self._pieces(shape.part) if most == 1 else self._loop_part(shape.part)
        between = self._between(shape)
        if most is not None and most < max(least, 1):
            if most < least:
                raise GrammarError(f"A part cannot be repeated at least {least} and at most {most} times.")
            return EMPTY
        if not part.into and not between.into:
            return Pieces(through=_counted(part.through or "", between.through or "", least, most))
        if most is None and least <= 1 and not between.into:
            pieces = looped(part, between.through or "")
            return pieces if least else one_of([EMPTY, pieces])
        if max(least, most or 0) > 1 and max(least, most or 0) * len(_stops(part)) > _MAX_COPIES:
            return self._counted_by_engine(shape, part, between)
        return self._copies(shape)

    def _loop_part(self, part: Shape) -> Pieces:
        """Of a large part the end is cut from its next beginning: otherwise every end would meet every beginning."""
        pieces = self._pieces(part)
        pairs = len({*pieces.out.values()}) * len({*pieces.into.values()})
        lines = len(pieces.out) * len(pieces.into)
        is_large = pairs > _MAX_PAIRS or lines > _MAX_LINES or self._size(pieces.through or "") > _MAX_PATTERN
        if is_large and self._endings.has_plain_end(part):
            return in_order(pieces, at(Stop("")))
        return pieces

    def _between(self, shape: Repeated) -> Pieces:
        return EMPTY if shape.between is None else self._pieces(shape.between)

    def _copies(self, shape: Repeated) -> Pieces:
        def again() -> Pieces:
            known, self._known = self._known, {}
            pieces = in_order(self._between(shape), self._loop_part(shape.part))
            self._known = known
            return pieces

        least, most = max(shape.at_least, 1), shape.at_most
        if most == 1:
            return one_of([EMPTY, self._pieces(shape.part)]) if not shape.at_least else self._pieces(shape.part)
        tail = EMPTY
        if most is None:
            tail = one_of([EMPTY, looped(again(), "")])
        else:
            for _ in range(most - least):
                tail = one_of([EMPTY, in_order(again(), tail)])
        for _ in range(least - 1):
            tail = in_order(again(), tail)
        pieces = in_order(self._loop_part(shape.part), tail)
        return pieces if shape.at_least else one_of([EMPTY, pieces])

    def _counted_by_engine(self, shape: Repeated, part: Pieces, between: Pieces) -> Pieces:
        first, following = self._fresh("part"), self._fresh("part")
        self._write_rule(first, part)
        self._write_rule(following, in_order(between, self._loop_part(shape.part)))
        most = "" if shape.at_most is None else shape.at_most - 1
        pieces = at(Stop(f"{first} {following}{{{max(shape.at_least - 1, 0)},{most}}}"))
        return pieces if shape.at_least else one_of([EMPTY, pieces])

    def _named(self, name: str) -> Pieces:
        if name not in self._open_names:
            return at(Stop(self._rule_of(name, ())))
        if name in self._named_patterns:
            return self._named_patterns[name]
        pieces = self._pieces(self._open_names[name])
        if not pieces.into and pieces.through:
            pieces = self._named_patterns[name] = Pieces(through=self._terminal(pieces.through))
        return pieces

    # Lines of the grammar

    def _rule_of(self, name: str, followers: tuple[Shape, ...]) -> str:
        key = (name, followers)
        if key not in self._followed:
            rule = self._followed[key] = self._fresh(f"n_{name}")
            self._write_rule(rule, self._in_order((self._rules.named[name], *followers)))
        return self._followed[key]

    def _write_rule(self, name: str, pieces: Pieces) -> None:
        groups = _alike(pieces)
        reached = {stop: self._fresh("until") for stop in groups}
        gathered: dict[Stop, str] = {}
        for _, members in groupby(sorted(groups, key=lambda stop: groups[stop]), key=lambda stop: groups[stop]):
            stops = list(members)
            gathering = reached[stops[0]]
            if len(stops) > 1:
                gathering = self._fresh("after")
                self._lines.append(f"{gathering}: {' | '.join(reached[stop] for stop in stops)}")
            gathered |= dict.fromkeys(stops, gathering)
        ways: dict[Stop, list[str]] = {stop: [self._lexeme(pattern)] for stop, pattern in pieces.into.items()}
        for (start, end), pattern in pieces.across.items():
            ways.setdefault(end, []).append(joined(gathered[start], self._lexeme(pattern)))
        for stop, rule in reached.items():
            self._lines.append(f"{rule}: {joined(_alternatives(ways.get(stop, [])), stop.symbol) or EMPTY_LEXEME}")
        ends = [] if pieces.through is None else [self._lexeme(pieces.through)]
        ends += [joined(gathered[stop], self._lexeme(pattern)) for stop, pattern in pieces.out.items()]
        self._lines.insert(0, f"{name}: {' | '.join(end or EMPTY_LEXEME for end in dict.fromkeys(ends))}")

    def _lexeme(self, pattern: str) -> str:
        if not pattern:
            return ""
        return pattern if pattern in self._sizes else self._terminal(pattern)

    def _terminal(self, pattern: str) -> str:
        if pattern not in self._terminals:
            self._terminals[pattern] = name = f"T{len(self._terminals)}"
            self._sizes[name] = self._size(pattern)
            self._lines.append(f"{name}: {pattern}")
        return self._terminals[pattern]

    def _short(self, pattern: str) -> str:
        return self._terminal(pattern) if len(pattern) > _LONG else pattern

    def _size(self, pattern: str) -> int:
        """Characters of the pattern with the terminals in it written out."""
        return len(pattern) + sum(self._sizes.get(name, 0) for name in _TERMINAL.findall(pattern))

    def _value(self, shape: Json) -> str:
        layout = _ONE_LINE if shape.one_line else _ON_LINES
        text = json.dumps({**self._lower(shape.schema), "x-guidance": layout}, ensure_ascii=False)
        if text not in self._values:
            self._values[text] = name = self._fresh("value")
            self._lines.append(f"{name}: %json {text}")
        return self._values[text]

    def _fresh(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"


EMPTY_LEXEME = '""'


def _alike(pieces: Pieces) -> dict[Stop, int]:
    """Every stop with a number; the same number for stops after which the same may follow."""
    following: dict[Stop, list[tuple[int, str]]] = {}
    identities = {stop: index for index, stop in enumerate(_stops(pieces))}
    for stop in identities:
        following[stop] = [(-1, pieces.out[stop])] if stop in pieces.out else []
    for (start, end), pattern in pieces.across.items():
        following[start].append((identities[end], pattern))
    numbers: dict[tuple[tuple[int, str], ...], int] = {}
    return {stop: numbers.setdefault(tuple(ways), len(numbers)) for stop, ways in following.items()}


def _stops(pieces: Pieces) -> list[Stop]:
    ends = [stop for pair in pieces.across for stop in pair]
    return list(dict.fromkeys([*pieces.into, *ends, *pieces.out]))


def _alternatives(ways: list[str]) -> str:
    if len(ways) == 1:
        return ways[0]
    return either(list(dict.fromkeys(ways)))


def _counted(part: str, between: str, least: int, most: int | None) -> str:
    if not between:
        return repeated(part, least, most)
    more = repeated(joined(between, part), max(least - 1, 0), None if most is None else most - 1)
    pattern = joined(part, more)
    return pattern if least else repeated(pattern, 0, 1)
