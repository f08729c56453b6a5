"""Constraints from what programs have at hand: a few options, a JSON Schema, a grammar written out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.grammar.arguments import check_count, check_schema, check_text, shown, special_ids, wrong
from wieldy.grammar.compiled import Grammar, compiled, compiled_text
from wieldy.grammar.lowering import bounded
from wieldy.grammar.naming import tokens_in
from wieldy.grammar.reading.regex import whole
from wieldy.grammar.shape import Exact, Json, OneOf, Rules

MAX_STRING_CHARACTERS = 200
MAX_ARRAY_ITEMS = 20
"""Bounds for what a schema leaves unbounded: a small model that meets no end writes on until its budget is gone."""


def choice(options: Iterable[str]) -> Grammar:
    """Exactly one of the options, letter for letter.

    Raises:
        GrammarError: There is no option, or one is empty.
        UsageError: The options are no texts.
    """
    if isinstance(options, str | bytes) or not isinstance(options, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong("the options of a choice, each a text", options)
    found = list(options)
    for option in found:
        check_text("each option of a choice", option)
    if not found or not all(found):
        raise GrammarError(
            f"A choice needs at least one option and no empty one, found {len(found)} with {found.count('')} empty."
        )
    return compiled(Rules(start=OneOf(tuple(map(Exact, dict.fromkeys(found))))))


def json_schema(
    schema: JsonObject | type[Any], *, max_characters: int = MAX_STRING_CHARACTERS, max_items: int = MAX_ARRAY_ITEMS
) -> Grammar:
    """JSON that fits the schema, written as `json.dumps` writes it: on one line, with a space after `:` and `,`.

    Strings and arrays that the schema leaves unbounded are bounded. Keywords that the engine cannot enforce are named
    in `unenforced`: validate what was written against the schema itself.

    Args:
        schema: JSON Schema (2020-12), or a type that pydantic reads: a model, a dataclass, a typed dictionary.
        max_characters: The longest string where the schema sets no `maxLength`, in characters.
        max_items: The longest array where the schema sets no `maxItems`.

    Raises:
        GrammarError: The engine refuses the schema.
        UsageError: The type is none that JSON can carry.
    """
    check_count("max_characters", max_characters)
    check_count("max_items", max_items)
    if isinstance(schema, str | bytes | int | float):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong("a JSON Schema or a type", schema)
    document = schema if isinstance(schema, dict) else _schema_of(schema)
    check_schema(document)
    try:
        source = compiled(Rules(start=Json(document, one_line=True)))
        # After lowering, so that no bound stands where it would be turned round, as in `not` or `oneOf`.
        schema = bounded(source.lowered[canonical_json(document)], max_characters, max_items)
    except RecursionError:
        raise GrammarError("The constraint cannot be compiled: its schema is nested too deeply.") from None
    # Whoever validates does so against the schema as it was; of the bounds it knows nothing.
    return replace(compiled(Rules(start=Json(schema, one_line=True))), enforcement=source.enforcement)


def regex(pattern: str | re.Pattern[str]) -> Grammar:
    r"""A text that the regular expression matches from its beginning to its end.

    Args:
        pattern: Characters, classes, groups, alternatives, quantifiers; no look-around and no back references. `\d`,
            `\w` and `\s` are ASCII; a compiled expression brings its flags along.

    Raises:
        GrammarError: It has what is not read (the text names it), or no text matches.
    """
    if isinstance(pattern, str):
        return compiled(Rules(start=whole(pattern)))
    if not isinstance(pattern, re.Pattern):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong("a regular expression as text or compiled", pattern)
    if not isinstance(pattern.pattern, str) or pattern.flags & re.VERBOSE:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise GrammarError("Expected a regular expression over text, without re.VERBOSE.")
    shape = whole(
        "(?s)" * bool(pattern.flags & re.DOTALL) + pattern.pattern,
        ignores_case=bool(pattern.flags & re.IGNORECASE),
        is_unicode=not pattern.flags & re.ASCII,
    )
    return compiled(Rules(start=shape))


def grammar(
    text: str,
    notation: Literal["ebnf", "gbnf", "lark"] | None = None,
    *,
    special_tokens: Mapping[str, int] | None = None,
) -> Grammar:
    """A grammar written out: EBNF, GBNF (both in `reading.ebnf`) or llguidance's dialect of Lark (`reading.lark`).

    Args:
        text: The grammar. EBNF and GBNF start at the rule `root` or at the first rule, Lark at `start`.
        notation: Which it is; None for: EBNF and GBNF write `::=`, Lark does not.
        special_tokens: The vocabulary's special tokens by their text, for a grammar that names some as `<name>`.

    Raises:
        GrammarError: It is no such grammar, or the engine refuses it.
    """
    check_text("the grammar", text)
    found = notation or ("ebnf" if "::=" in text else "lark")
    if found == "lark":
        return lark(text, special_tokens=special_tokens)
    if found not in ("ebnf", "gbnf"):
        raise GrammarError(f'Expected the notation "ebnf", "gbnf" or "lark", found {shown(notation)}.')
    from wieldy.grammar.reading import ebnf  # noqa: PLC0415  few programs write grammars out

    rules, tokens = ebnf.read(text), special_ids(special_tokens)
    for name in sorted(tokens_in(rules) - tokens.keys()):
        raise GrammarError(f"The grammar names {name}: say in `special_tokens` which token of the vocabulary that is.")
    return compiled(rules, special_tokens=tokens)


def lark(text: str, *, special_tokens: Mapping[str, int] | None = None) -> Grammar:
    """A grammar written out in llguidance's dialect of Lark, starting at its rule `start`.

    All that the engine knows is enforced. What `reading.lark` does not read cannot be put together with others, and
    nothing can be said of its shortest text.

    Args:
        text: The grammar.
        special_tokens: The vocabulary's special tokens by their text, for a grammar that names some as `<name>`.

    Raises:
        GrammarError: The engine refuses it.
    """
    from wieldy.grammar.reading.lark import read, with_ids  # noqa: PLC0415  few programs write grammars out

    check_text("the grammar", text)
    tokens = special_ids(special_tokens)
    found = replace(compiled_text(with_ids(text, tokens)), special_tokens=tokens)
    try:
        return replace(found, rules=read(text))
    except GrammarError:
        return found


def _schema_of(annotation: Any) -> JsonObject:
    # Pydantic takes a tenth of a second to import, and a program with a schema at hand does not need it.
    from wieldy.schema.from_types import value_type  # noqa: PLC0415

    return value_type(annotation).schema
