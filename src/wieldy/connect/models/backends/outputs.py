"""Outputs as the shapes that masks are made of; the one place where they become that."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wieldy.core.errors import GrammarError
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, PatternOutput
from wieldy.grammar.reading.regex import whole
from wieldy.grammar.shape import Exact, Json, OneOf, Shape


def shape_of(output: Output) -> Shape:
    """What the text of an answer may be.

    Raises:
        GrammarError: A pattern uses what no constraint can be made of.
    """
    match output:
        case JsonOutput(schema=schema):
            return Json(schema)
        case ChoiceOutput(options=options):
            return OneOf(tuple(map(Exact, dict.fromkeys(options))))
        case PatternOutput(pattern=pattern):
            return whole(pattern)


def unreadable(output: Output) -> str:
    """Why no constraint can be made of the output; empty if one can."""
    try:
        shape_of(output)
    except GrammarError as error:
        return str(error)
    return ""


def any_of(options: Iterable[str]) -> str:
    """The regular expression of these texts and no others."""
    return "|".join(map(re.escape, dict.fromkeys(options)))
