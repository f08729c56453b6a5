"""One call that is written as Python, read as a name and literals, and never run.

The benchmark writes its own calls so, and calls of models too before it evaluates them. What is not a literal, and
would have to be worked out, is refused. Deliberately not here: lists of calls that a model wrote (`bfcl.decoding`).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wieldy.evals.bfcl.decoding import DecodingError

_ERRORS: Final = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


class Written(NamedTuple):
    """A call.

    Attributes:
        positional: Values of arguments without a name.
        named: Values of arguments by name.
    """

    name: str
    positional: tuple[Any, ...]
    named: Mapping[str, Any]


def read_call(text: str) -> Written:
    """The call in the text.

    Raises:
        DecodingError: It is something else, or has an argument that is no literal.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in a model's text are no matter of ours
            body = ast.parse(text.strip(), mode="eval").body
        if not isinstance(body, ast.Call) or not isinstance(body.func, ast.Name):
            raise DecodingError(f"Expected a call of a function by its name, found {text[:80]!r}.")
        positional = tuple(ast.literal_eval(value) for value in body.args)
        named = {each.arg: ast.literal_eval(each.value) for each in body.keywords}
    except _ERRORS as error:
        raise DecodingError(f"Expected a call with literals, found {text[:80]!r}: {error}") from error
    if None in named or len(named) < len(body.keywords):
        raise DecodingError(f"Expected each argument once and by its own name, found {text[:80]!r}.")
    return Written(body.func.id, positional, {str(name): value for name, value in named.items()})


def write_call(name: str, arguments: Mapping[str, Any]) -> str:
    """The call as the benchmark writes that of a model; `read_call` reads it back."""
    return f"{name}({','.join(f'{parameter}={value!r}' for parameter, value in arguments.items())})"
