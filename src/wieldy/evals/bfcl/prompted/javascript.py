"""A call that a model wrote as JavaScript, read as the official checker reads it.

Values are texts: exactly what a value was written with, but for quotes around the whole. Source: `js_parser` of
`bfcl_eval` 2026.3.23. Deliberately not here: what values are (`bfcl.literals`).
"""

from __future__ import annotations

from wieldy.evals.bfcl.decoding import Decoded, DecodingError
from wieldy.evals.bfcl.prompted.expressions import statements
from wieldy.evals.bfcl.prompted.tokens import JAVASCRIPT


def read_javascript(text: str) -> list[Decoded] | None:
    """The first statement that is a call; None where none is, which the official checker calls a wrong format.

    Raises:
        DecodingError: There is something that the checker could not read, or that is no expression.
    """
    call = next((each for each in statements(text, JAVASCRIPT) if each.kind == "call"), None)
    if call is None:
        return None
    place, arguments = call.parts
    named = dict[str | None, str]()
    for argument in arguments.parts:
        written = text[argument.start : argument.end]
        if argument.kind == "assignment" and text[argument.parts[1].start : argument.parts[1].end] == "=":
            name: str | None = text[argument.parts[0].start : argument.parts[0].end]
            value = _without_quotes(text[argument.parts[2].start : argument.parts[2].end])
        elif argument.kind == "name" or written == "true":
            name, value = None, written
        else:
            continue
        if name in named:
            raise DecodingError(f"Expected each argument once, found {name!r} twice.")
        named[name] = value
    return [{text[place.start : place.end]: named}]


def _without_quotes(text: str) -> str:
    is_quoted = any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")
    return text[1:-1] if is_quoted else text
