"""A constraint that its engine has compiled: what may be written, and the text by which the engine knows it.

The text is llguidance's Lark dialect, which llama.cpp takes too (`engine_text`). A grammar that an engine does not
understand is silently not enforced by llama.cpp, so every `Grammar` has been compiled once before it exists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.grammar.arguments import check_text
from wieldy.grammar.enforcement import Enforcement
from wieldy.grammar.engine import llguidance
from wieldy.grammar.lowering import Lowered, lowered, taken_by
from wieldy.grammar.naming import parts
from wieldy.grammar.notation.lark import to_lark, unrefused
from wieldy.grammar.shape import Exact, InOrder, Json, Rules
from wieldy.grammar.tokenizer import Tokenizer

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_MESSAGE = 500
"""Characters of an engine's message that are passed on: it quotes the line at fault, and that may be a megabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """A constraint that its engine has compiled.

    Attributes:
        lark: llguidance's Lark dialect.
        rules: What `lark` was written from; None for a text that came in the engine's own dialect.
        special_tokens: The vocabulary's special tokens that `lark` names by their ids.
        enforcement: Every keyword of the JSON Schemas in it, and who enforces it.
        lowered: What the engine has of each of them, by the canonical JSON of its source.
    """

    lark: str
    rules: Rules | None = None
    special_tokens: Mapping[str, int] = field(default_factory=dict[str, int])
    enforcement: tuple[Enforcement, ...] = ()
    lowered: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])

    @property
    def unenforced(self) -> tuple[Enforcement, ...]:
        """What the mask leaves to a validator; empty if it enforces everything."""
        return tuple(entry for entry in self.enforcement if entry.by == "validator")

    def followed_by(self, text: str) -> Grammar:
        r"""This grammar and then exactly this text.

        A model's tokens may reach over the end of a value: one that wants to write `}\n` and is only offered `}` goes
        on with something else. What follows anyway should therefore be part of the grammar.

        Raises:
            GrammarError: The grammar came in the engine's own dialect, or the engine refuses the whole.
        """
        check_text("what follows", text)
        if not text:
            return self
        if self.rules is None:
            raise GrammarError("A grammar in the engine's own dialect cannot be put together with others.")
        start = InOrder((self.rules.start, Exact(text)))
        longer = compiled(replace(self.rules, start=start), special_tokens=self.special_tokens)
        return replace(longer, enforcement=self.enforcement)

    @property
    def engine_text(self) -> str:
        """The grammar as llama.cpp takes it in its `grammar` field."""
        return f"%llguidance {{}}\n{self.lark}"


def compiled(
    rules: Rules, *, special_tokens: Mapping[str, int] | None = None, tokenizer: Tokenizer | None = None
) -> Grammar:
    """A constraint that allows every text of the rules.

    Args:
        rules: What may be written.
        special_tokens: The vocabulary's special tokens by their text: where a shape has one of them and says that it
            may be a token, only the token is allowed.
        tokenizer: The vocabulary, where it is known: then the grammar is compiled for it at once, and not twice.

    Raises:
        GrammarError: A name has no shape, or the engine refuses the grammar.
    """
    tokens = dict(special_tokens or {})
    sources = {canonical_json(schema): schema for schema in schemas_in(rules)}
    schemas = {source: lowered(schema) for source, schema in sources.items()}
    text = to_lark(rules, special_tokens=tokens)
    try:
        grammar = compiled_text(text, tokenizer)
    except GrammarError:
        schemas = {source: _taken(schema) for source, schema in sources.items()}
        text = to_lark(rules, special_tokens=tokens, lower=lambda schema: unrefused(schemas[canonical_json(schema)]))
        grammar = compiled_text(text, tokenizer)
    return replace(
        grammar,
        rules=rules,
        special_tokens=tokens,
        enforcement=tuple(dict.fromkeys(entry for schema in schemas.values() for entry in schema.enforcement)),
        lowered={source: schema.schema for source, schema in schemas.items()},
    )


def schemas_in(rules: Rules) -> list[JsonObject]:
    """The JSON Schemas in the rules, each once."""
    found: dict[int, JsonObject] = {}
    waiting, seen = [rules.start, *rules.named.values()], set[int]()
    while waiting:
        shape = waiting.pop()
        if id(shape) not in seen:
            seen.add(id(shape))  # shapes share their parts
            if isinstance(shape, Json):
                found[id(shape.schema)] = shape.schema
            waiting += parts(shape)
    return list(found.values())


def _taken(schema: JsonObject) -> Lowered:
    """The schema lowered as far as the engine takes it: what it still refuses is left to the validator.

    Raises:
        GrammarError: It is refused whatever is left out.
    """

    def is_taken(part: JsonObject) -> bool:
        try:
            compiled_text(to_lark(Rules(start=Json(part))))
        except GrammarError:
            return False
        return True

    return taken_by(is_taken, schema)


def compiled_text(text: str, tokenizer: Tokenizer | None = None) -> Grammar:
    """A constraint from its text in the engine's dialect.

    Raises:
        GrammarError: The engine refuses it.
    """
    if _SURROGATE.search(text):
        raise GrammarError("The constraint holds half of a surrogate pair, which is no text: leave it out.")
    refusal = _refusal(text) if tokenizer is None else tokenizer.started(text).get_error()
    if refusal:
        said = refusal.partition("\n<state>")[0]
        raise GrammarError(f"The constraint cannot be compiled: {said[:_MAX_MESSAGE]}")
    return Grammar(lark=text)


@lru_cache(maxsize=200)
def _refusal(text: str) -> str:
    """Why the engine refuses the grammar; empty if it does not."""
    is_error, messages = llguidance().LLMatcher.validate_grammar_with_warnings(text)
    return messages[0] if is_error else ""
