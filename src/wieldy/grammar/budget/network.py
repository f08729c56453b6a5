"""A grammar's rules as a network: what `shape` says in characters, said in bytes and special tokens.

A network may allow a little more than the engine does, and never allows less: what it proposes is a candidate that the
engine has to confirm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject
from wieldy.grammar.budget.json_parts import JsonParts
from wieldy.grammar.budget.parts import IMPOSSIBLE, MAX_BYTES, Call, Chain, FreeText, Part, Rule, SpecialToken, solve
from wieldy.grammar.budget.states import States, check_readings
from wieldy.grammar.budget.texts import Texts
from wieldy.grammar.budget.tracker import Standing
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.naming import is_nullable
from wieldy.grammar.notation.neighbours import with_single_texts
from wieldy.grammar.shape import Exact, InOrder, Json, Named, Repeated, Rules, Shape, TextWithout

_MAX_STATES = 50_000
"""So many states of one network are kept; numbers and counts have ever new ones. Some hundred bytes each."""


class Network:
    """What may be written, to be walked.

    Attributes:
        start: The rule that is the whole.

    Raises:
        GrammarError: Nothing may be written, or only texts that are too long to be completed within a budget.
    """

    def __init__(self, rules: Rules, special_tokens: Mapping[str, int], lowered: Mapping[str, JsonObject]) -> None:
        self._states = States()
        builder = _Builder(with_single_texts(rules), special_tokens, JsonParts(self._states, lowered), self._states)
        self.start = Rule(partial(builder.part, builder.rules.start))
        whole = Call(self.start)
        solve(whole)
        if whole.cost >= IMPOSSIBLE:
            raise GrammarError("The constraint allows no text at all: some part of it can never be written.")
        if whole.cost > MAX_BYTES:
            raise GrammarError(
                f"The shortest text that the constraint allows has at least {whole.cost:,} bytes; a budget is kept for "
                f"those of up to {MAX_BYTES:,}. Ask for fewer or shorter parts, or write without a guard."
            )
        check_readings(self._states, whole)

    def standing(self) -> Standing:
        """Where the empty text stands."""
        if len(self._states) > _MAX_STATES:
            self._states = States()  # texts that are being written go on with the old ones
        return Standing.at_start(self._states, self.start)


def network_of(grammar: Grammar) -> Network:
    """The network of a grammar; the same for grammars of the same content, as long as it is remembered.

    Raises:
        GrammarError: The grammar came in the engine's own dialect, and what it allows is known to the engine only.
    """
    if grammar.rules is None:
        raise GrammarError(
            "A grammar in the engine's own dialect cannot be kept within a budget: only the engine knows what it "
            "allows. Write it in a notation that is read here."
        )
    return _network(_ByContent(grammar, grammar.rules))


class _ByContent:
    """A grammar that is equal to others of the same content."""

    def __init__(self, grammar: Grammar, rules: Rules) -> None:
        self.rules, self.grammar = rules, grammar
        self._content = (grammar.lark, tuple(sorted(grammar.special_tokens.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)


@lru_cache(maxsize=32)
def _network(content: _ByContent) -> Network:
    return Network(content.rules, content.grammar.special_tokens, content.grammar.lowered)


class _Builder(Texts):
    """Parts for shapes of every kind; those that shapes share are shared."""

    def __init__(self, rules: Rules, special_tokens: Mapping[str, int], json: JsonParts, states: States) -> None:
        super().__init__(states, in_json=False)
        self.rules = rules
        self._named = {name: Rule(partial(self.part, shape)) for name, shape in rules.named.items()}
        self._tokens = special_tokens
        spellings = sorted(filter(None, special_tokens), key=len, reverse=True)
        self._token = re.compile(f"({'|'.join(map(re.escape, spellings))})") if spellings else None
        self._known: dict[int, tuple[Shape, Part]] = {}
        self._json = json

    def part(self, shape: Shape) -> Part:
        if id(shape) not in self._known:
            self._known[id(shape)] = (shape, self._part(shape))  # the first keeps the identity taken
        return self._known[id(shape)][1]

    def _part(self, shape: Shape) -> Part:
        match shape:
            case Exact(text=text, token=True) if self._token is not None:
                pieces = filter(None, self._token.split(text))
                return Chain(
                    [
                        SpecialToken(self._tokens[piece]) if piece in self._tokens else self._literal(piece)
                        for piece in pieces
                    ]
                )
            case Json():
                return self._json.document(shape)
            case Named(name=name) if name in self._named:
                return Call(self._named[name])
            case Named(name=name):
                raise GrammarError(f"The shape refers to {name!r}, but only {sorted(self._named)} have a shape.")
            case InOrder(parts=parts):
                return self._in_order(parts)
            case Repeated():
                return self.repeated(shape, self.rules.named)
            case _:
                return super().part(shape)

    def _in_order(self, shapes: Sequence[Shape]) -> Part:
        parts: list[Part] = []
        for index, shape in enumerate(shapes):
            part = self.part(shape)
            is_last = all(is_nullable(following, self.rules.named) for following in shapes[index + 1 :])
            parts.append(FreeText(part) if isinstance(shape, TextWithout) and not is_last else part)
        return Chain(parts)
