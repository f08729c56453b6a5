"""The kinds of exception that tracked code knows."""

from __future__ import annotations

from typing import Final

PARENTS: Final = {
    "Exception": None,
    "ArithmeticError": "Exception",
    "AssertionError": "Exception",
    "AttributeError": "Exception",
    "LookupError": "Exception",
    "NameError": "Exception",
    "RuntimeError": "Exception",
    "StopIteration": "Exception",
    "ToolError": "Exception",
    "TypeError": "Exception",
    "ValueError": "Exception",
    "IndexError": "LookupError",
    "KeyError": "LookupError",
    "OverflowError": "ArithmeticError",
    "ZeroDivisionError": "ArithmeticError",
    "UnboundLocalError": "NameError",
}
"""The kinds of exception there are, and what each is a kind of."""


def is_kind(kind: str | None, wanted: str) -> bool:
    """Whether an exception of the kind is caught as the wanted one."""
    while kind is not None:
        if kind == wanted:
            return True
        kind = PARENTS[kind]
    return False
