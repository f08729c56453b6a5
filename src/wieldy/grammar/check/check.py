"""A schema put to the test: random texts under its mask, and values that fit it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, cast

import jsonschema_rs

from wieldy.core.errors import GrammarError, UsageError
from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.grammar.arguments import check_count, check_schema, wrong
from wieldy.grammar.budget.network import network_of
from wieldy.grammar.check.masked import masked_part
from wieldy.grammar.check.report import ConstraintReport
from wieldy.grammar.check.walks import Walker
from wieldy.grammar.compiled import Grammar, compiled
from wieldy.grammar.lowering import lowered
from wieldy.grammar.lowering.vocabulary import subschemas
from wieldy.grammar.matcher import Matcher
from wieldy.grammar.shape import Json, Rules
from wieldy.grammar.tokenizer import Tokenizer
from wieldy.schema.compiled import CompiledSchema
from wieldy.schema.example import example
from wieldy.schema.wellformed import MAX_DEPTH


def check_constraint(schema: JsonObject, tokenizer: Tokenizer, *, walks: int = 100, seed: int = 0) -> ConstraintReport:
    """What the mask of a schema really lets through, and what of the values that fit it refuses.

    Random texts are written under the mask and given to the validator. The mask is answerable for every keyword that
    the report says is enforced by it; values that fit (`default`, `examples`, and one that is made up) should pass.

    Args:
        schema: JSON Schema (2020-12).
        tokenizer: The vocabulary of the model that is to write.
        walks: How many random texts.
        seed: The same seed gives the same texts.

    Raises:
        GrammarError: The engine is not installed.
        UsageError: The schema is none.
    """
    check_schema(schema)
    if not isinstance(tokenizer, Tokenizer):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong("a Tokenizer", tokenizer)
    check_count("walks", walks)
    check_count("seed", seed)
    enforcement = lowered(schema).enforcement
    try:
        grammar = compiled(Rules(start=Json(schema)))
    except GrammarError as error:
        return ConstraintReport(enforcement=enforcement, problem=str(error))
    try:
        network_of(grammar)
    except GrammarError as error:  # of many or endless parts: no walk would come to an end
        return ConstraintReport(enforcement=grammar.enforcement, problem=str(error))
    try:
        judge = _Judge(schema, grammar)
    except UsageError as error:
        return ConstraintReport(enforcement=grammar.enforcement, problem=f"The validator refuses the schema: {error}")
    walker = Walker(tokenizer, seed=seed)
    written = [walker.walk(grammar) for _ in range(walks)]
    texts = [text for text in written if text is not None]
    no_json = [text for text in texts if _read(text) is _UNREADABLE]
    values = {text: value for text in texts if (value := _read(text)) is not _UNREADABLE}
    silent = [text for text, value in values.items() if not judge.accepts_by_mask(value)]
    left = Counter(keyword for text, value in values.items() for keyword in judge.failed(value) if text not in silent)
    deep = [text for text, value in values.items() if text not in silent and not _is_within(value, MAX_DEPTH)]
    examples = list(judge.examples())
    tried = [(value, _accepts(grammar, tokenizer, value, schema)) for value in examples]
    return ConstraintReport(
        enforcement=grammar.enforcement,
        walks=walks,
        unended=walks - len(texts),
        no_json=tuple(text.decode("utf-8", "replace") for text in no_json),
        silent=tuple(text.decode("utf-8", "replace") for text in silent),
        left=dict(left),
        deep=tuple(text.decode("utf-8", "replace") for text in deep),
        examples=len(examples),
        refused=tuple(value for value, how in tried if how is None),
        reordered=sum(how == "reordered" for _, how in tried),
    )


class _Judge:
    """The validator, on the whole schema and on the part of it that the mask is answerable for."""

    def __init__(self, schema: JsonObject, grammar: Grammar) -> None:
        self._schema = CompiledSchema(schema)
        self._whole = _validator(schema)
        self._masked = _validator(masked_part(schema, grammar.enforcement))
        self._left = {entry.keyword for entry in grammar.enforcement if entry.by == "validator"}

    def accepts_by_mask(self, value: Any) -> bool:
        """Whether the value fits what the mask enforces."""
        return self._masked.is_valid(value)

    def failed(self, value: Any) -> set[str]:
        """The keywords left to the validator that the value does not fit."""
        if self._whole.is_valid(value):
            return set()
        found = {str(part) for error in self._whole.iter_errors(value) for part in error.schema_path}
        return found & self._left or {"another keyword"}

    def examples(self) -> Iterator[JsonValue]:
        """Values that fit: those that the schema gives itself, and one that is made from it."""
        root = self._schema.document
        given = root.get("examples")
        proposed = [*(given if isinstance(given, list) else []), *([root["default"]] if "default" in root else [])]
        made = example(self._schema)
        proposed += [made] if made is not None else []
        found = {canonical_json(value): value for value in proposed if self._schema.accepts(value)}
        yield from found.values()


def _validator(schema: JsonObject) -> jsonschema_rs.Draft202012Validator:
    try:
        return jsonschema_rs.Draft202012Validator(schema, validate_formats=True, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise UsageError(str(error).partition("\n")[0]) from error


_UNREADABLE = object()


def _read(text: bytes) -> object:
    """The value of a JSON text, its numbers as exact as they are written; none where one is too large to be read."""
    try:
        return json.loads(text.decode(), parse_float=_exact, parse_constant=_no_number)
    except ValueError:
        return _UNREADABLE


def _is_within(value: object, levels: int) -> bool:
    """Whether the value is nested no deeper than so many levels."""
    if not isinstance(value, dict | list):
        return levels >= 0
    parts = cast("Iterable[object]", value.values() if isinstance(value, dict) else value)
    return all(_is_within(part, levels - 1) for part in parts)


def _exact(number: str) -> Decimal:
    if math.isinf(float(number)):
        raise ValueError(number)
    return Decimal(number)


def _no_number(name: str) -> object:
    raise ValueError(name)


def _accepts(grammar: Grammar, tokenizer: Tokenizer, value: JsonValue, schema: JsonObject) -> str | None:
    """How the mask takes the value; None if it does not."""
    ranks: dict[str, int] = {}
    for _, one in subschemas(lowered(schema).schema):
        named = one.get("properties")
        for name in named if isinstance(named, dict) else ():
            ranks.setdefault(name, len(ranks))
    for how, tried in (("as it is", value), ("reordered", _reordered(value, ranks))):
        matcher = Matcher(grammar, tokenizer)
        if matcher.accept_text(json.dumps(tried, ensure_ascii=False)) and matcher.is_accepting:
            return how
    return None


def _reordered(value: JsonValue, ranks: dict[str, int]) -> JsonValue:
    """The value with its members in the schema's order, and whole numbers without a fraction."""
    match value:
        case dict():
            names = sorted(value, key=lambda name: ranks.get(name, len(ranks)))
            return {name: _reordered(value[name], ranks) for name in names}
        case list():
            return [_reordered(item, ranks) for item in value]
        case float():
            return int(value) if value.is_integer() and abs(value) < 2**53 else value
        case _:
            return value
