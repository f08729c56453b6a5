"""Whether an answer is what it must be, and an answer that was cut off made whole. Pure."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from wieldy.connect.models.backends.outputs import shape_of
from wieldy.connect.models.backends.strict import Strict
from wieldy.core.errors import GrammarError, UsageError
from wieldy.core.json import parse_json
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, PatternOutput
from wieldy.grammar import Grammar
from wieldy.grammar.budget import closed
from wieldy.grammar.compiled import compiled
from wieldy.grammar.shape import Json, Rules
from wieldy.schema import CompiledSchema

_KEPT = 50


def fits(text: str, output: Output) -> bool:
    """Whether the text is the output; what cannot be checked does not fit."""
    match output:
        case JsonOutput(schema=schema):
            try:
                return _schema(json.dumps(schema)).accepts(parse_json(text))
            except (UsageError, ValueError, RecursionError):
                return False
        case ChoiceOutput(options=options):
            return text in options
        case PatternOutput(pattern=pattern):
            try:
                return re.fullmatch(pattern, text) is not None
            except re.error:
                return False


def grammar_of(output: Output, dialect: Strict | None) -> Grammar | None:
    """What the model writes for the output, in the dialect if there is one; None where no constraint can be made."""
    try:
        shape = shape_of(output) if dialect is None else Json(dialect.schema)
        return compiled(Rules(start=shape))
    except GrammarError:
        return None


def made_whole(text: str, output: Output, dialect: Strict | None) -> str | None:
    """The text that was cut off with the shortest end that makes it whole; None if there is none, or no engine."""
    grammar = grammar_of(output, dialect) if text.strip() else None
    if grammar is None:
        return None
    try:
        return closed(text, grammar)
    except GrammarError:
        return None


@lru_cache(maxsize=_KEPT)
def _schema(text: str) -> CompiledSchema:
    return CompiledSchema(json.loads(text))
