"""Shapes as llama.cpp's GBNF, which xgrammar reads too.

GBNF knows no complement and no JSON Schema: text without markers becomes the automaton of the markers, and JSON what
`json_gbnf` makes of its schema. Its engine tries all readings at once, so that neighbours need no fusing. Special
tokens are written as text: llama.cpp compares a token's text with the grammar.
"""

from __future__ import annotations

from wieldy.core.errors import GrammarError
from wieldy.grammar.naming import is_nullable, recursive_names
from wieldy.grammar.notation.gbnf_text import Lines, character, counts, quoted
from wieldy.grammar.notation.json_gbnf import JsonRules
from wieldy.grammar.notation.markers import State, states_without
from wieldy.grammar.notation.neighbours import with_single_texts
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.shape import (
    Characters,
    Exact,
    InOrder,
    Json,
    Marker,
    Named,
    OneOf,
    Repeated,
    Rules,
    Shape,
    TextWithout,
)

_LONG = 120


def to_gbnf(rules: Rules) -> str:
    """A grammar with the root `root` that accepts every text of the rules.

    JSON Schema: types, properties in their order, `required`, `additionalProperties`, items, lengths, `enum`, `const`,
    `anyOf`, `oneOf`, `allOf` and local `$ref` are enforced; other keywords are left to a validator.

    Raises:
        GrammarError: A name has no shape, or a part that may be empty is repeated without end.
    """
    recursive_names(rules)
    try:
        writer = _Writer(with_single_texts(rules))
        writer.write()
    except RecursionError:
        raise GrammarError("The shape cannot be written as a grammar: it is nested too deeply.") from None
    return writer.lines.text()


class _Writer:
    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.lines = Lines()
        self._json = JsonRules(self.lines)
        self._texts: dict[tuple[Marker, ...], str] = {}
        self._known: dict[int, tuple[Shape, str]] = {}

    def write(self) -> None:
        self.lines.add("root", "")  # the first rule, whatever it will need
        self.lines.add("root", self._expression(self._rules.start))
        for name, shape in self._rules.named.items():
            self.lines.add(_name(name), self._expression(shape))

    def _expression(self, shape: Shape) -> str:
        """The shape as an expression; a long one is written once and named, because shapes share their parts."""
        if not isinstance(shape, InOrder | OneOf | Repeated):
            return self._new_expression(shape)
        if id(shape) not in self._known:
            expression = self._new_expression(shape)
            if len(expression) > _LONG:
                name = self.lines.fresh("part")
                self.lines.add(name, expression)
                expression = name
            self._known[id(shape)] = (shape, expression)  # the first keeps the identity taken
        return self._known[id(shape)][1]

    def _new_expression(self, shape: Shape) -> str:
        match shape:
            case Exact(text=text):
                return quoted(text)
            case Characters():
                return _characters(shape)
            case TextWithout(markers=markers):
                return self._text_without(markers)
            case Json(schema=schema):
                return self._json.rule(schema)
            case InOrder(parts=inner):
                return " ".join(map(self._expression, inner)) or quoted("")
            case OneOf(options=options):
                return f"({' | '.join(map(self._expression, options))})"
            case Repeated():
                return self._repeated(shape)
            case Named(name=name):
                return _name(name)

    def _repeated(self, shape: Repeated) -> str:
        least, most = shape.at_least, shape.at_most
        if most is not None and most < least:
            raise GrammarError(f"A part cannot be repeated at least {least} and at most {most} times.")
        if most == 0:
            return quoted("")
        repeating = shape.part if shape.between is None else InOrder((shape.between, shape.part))
        if (most is None or most > 1) and is_nullable(repeating, self._rules.named):
            raise GrammarError(
                "llama.cpp cannot read the repetition of a part that may be empty; require a character of it."
            )
        part = self._expression(shape.part)
        if shape.between is None:
            return f"({part}){counts(least, most)}"
        more = f"({self._expression(repeating)}){counts(max(least - 1, 0), None if most is None else most - 1)}"
        return f"({part} {more})" if least else f"({part} {more})?"

    def _text_without(self, markers: tuple[Marker, ...]) -> str:
        if markers not in self._texts:
            states = states_without(markers)
            names = [self.lines.fresh("text") for _ in states]
            for name, state in zip(names, states, strict=True):
                self.lines.add(name, _ways_on(state, names))
            self._texts[markers] = names[0]
        return self._texts[markers]


def _ways_on(state: State, names: list[str]) -> str:
    by_target: dict[int, list[str]] = {}
    for next_character, target in state.following.items():
        by_target.setdefault(target, []).append(next_character)
    others = "".join(map(character, [*state.following, *state.forbidden]))
    ways = [f"[^{others}] {names[0]}" if others else f"[\\x00-\\U0010FFFF] {names[0]}"]
    ways += [f"[{''.join(map(character, found))}] {names[target]}" for target, found in by_target.items()]
    return " | ".join(['""', *ways])


def _characters(shape: Characters) -> str:
    if shape.at_most is not None and shape.at_most < shape.at_least:
        raise GrammarError(f"A run cannot have at least {shape.at_least} and at most {shape.at_most} characters.")
    if shape.at_most == 0:
        return quoted("")
    return character_class(shape.allowed).text(character) + counts(shape.at_least, shape.at_most)


def _name(name: str) -> str:
    return "n-" + name.replace("_", "-")
